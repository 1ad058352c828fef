"""Lets ``python -m kinelo.cli`` stand in for ``kinelo``."""

from kinelo.cli import main

main()
