"""Lets ``python -m kinelo`` stand in for ``kinelo``."""

import os
import sys

# Python puts the working folder first here, and not for ``kinelo``: no file that lies there stands in for a library.
if sys.path[:1] == [os.getcwd()] and not sys.flags.safe_path:
    del sys.path[0]

from kinelo.cli import main

if __name__ == "__main__":
    main()
