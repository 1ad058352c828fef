"""The models that the paper names beside its own: one folder per figure, made as in :mod:`kinelo.paper.figures`."""
