"""Two commands under one name."""

import typer

app = typer.Typer(help="Twice the commands.")


@app.command()
def one() -> None:
    """Print 1."""
    print(1)


@app.command()
def two() -> None:
    """Print 2."""
    print(2)
