"""The models that the paper names beside its own: figures made as in :mod:`kinelo.paper.figures`."""
