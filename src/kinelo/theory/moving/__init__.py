"""Strengths that move, rounds, and ratings with a deviation: where they settle and how well ratings follow."""
