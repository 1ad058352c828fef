"""Statements of other papers on Elo's rule, judged as those of the seed: figures as in :mod:`kinelo.paper.figures`."""
