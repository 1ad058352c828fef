"""Diagnosis: facts and words, once, for command line, lab and notebooks."""
