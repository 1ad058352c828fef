"""Lets ``python -m kinelo`` stand in for ``kinelo``."""

from kinelo.cli import main

if __name__ == "__main__":
    main()
