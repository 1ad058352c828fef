"""``kinelo next`` and ``test``: what to play next, and when to stop."""

# ruff: noqa: PT028 (the command ``test`` is no test)

from __future__ import annotations

from typing import Any, cast

import typer

from kinelo.cli.loading import named_value, plain_warnings
from kinelo.cli.options import COLUMN_HELP, Json, MatchesFile, ReadingOptions, grouped, option
from kinelo.cli.output import console, echo_json
from kinelo.cli.questions import sides_of
from kinelo.cli.rating import SourceOptions
from kinelo.errors import InputError


@grouped
def next(
    source: SourceOptions,
    reading: ReadingOptions,
    count: int = option("How many matches.", default=10, min=1),
    target: str = option("leader, order, tiers, or a name: what they are to tell.", default="leader"),
    there: list[str] | None = option("Who may play, as NAME, or NAME=COUNT for how often; may be repeated."),
    cost: list[str] | None = option("A price, as 'ANN - BOB=2.5'; may be repeated."),
    at_most: int | None = option("How often a pair may meet in this batch.", min=1),
    size: int = option("How many meet at once, in contests.", default=2, min=2),
    as_json: Json = False,
) -> None:
    """Say which matches to play next, and in which order, so that they tell most.

    Example:  kinelo next --results votes.csv --rater bradley-terry --count 20
    Example:  kinelo next --book arena.db --target order --at-most 2 --json
    Example:  kinelo next --book club.db --there Ann=3 --there Bob=1 --there Cid=2
    """
    import kinelo as kn

    limits = {}
    for words in there or ():
        name, sign, often = words.rpartition("=")
        counted = bool(sign) and often.strip().isdecimal()
        limits[name.strip() if counted else words] = int(often) if counted else None
    candidates: Any = source.names(list(limits)) if limits else None
    if any(often is not None for often in limits.values()):
        candidates = {
            name: count if often is None else often for name, often in zip(candidates, limits.values(), strict=True)
        }

    prices: dict[tuple[str, str], float] = {}
    for words in cost or ():
        pair, price = named_value("--cost", words, "ANN - BOB=PRICE", last=True)
        names, _ = sides_of(pair)
        try:
            first, second = source.names(names)
            prices[first, second] = float(price)
        except ValueError:
            raise InputError(f"--cost {words!r:.60} is no price of a match, 'ANN - BOB=2.5'.") from None
    known, _ = source.rated(reading)
    with plain_warnings():
        batch = kn.next_matches(
            known, count=count, target=target, candidates=candidates, cost=prices or None, at_most=at_most, size=size,
        )  # fmt: skip
    if as_json:
        echo_json({"rater": type(known).__name__, **batch.to_dict()})
        return
    console().print(batch.table())


@grouped
def test(
    results: MatchesFile,
    low: float = option("Points by which the side is better if it is to be refused.", default=0.0),
    high: float = option("Points by which it is better if it is to be accepted.", default=5.0),
    side: str | None = option("Who is tested; by default who is named first."),
    alpha: float = option("How often it may be accepted though it is at --low.", default=0.05),
    beta: float = option("How often it may be refused though it is at --high.", default=0.05),
    points: str = option("logistic, or normalised by the deviation of a game.", default="logistic"),
    pairs: bool = option("Two rows after one another are a pair, sides reversed.", "--pairs", default=False),
    column: list[str] | None = option(COLUMN_HELP),
    as_json: Json = False,
) -> None:
    """Say whether a side is better by so many points, as soon as its matches with another allow: go on, accept, refuse.

    Example:  kinelo test results.csv --low 0 --high 5
    Example:  kinelo test games.csv --side 'Engine 2' --pairs --points normalised --low 0 --high 3 --json
    """
    import kinelo as kn

    sequential = kn.sequential_test(low, high, alpha=alpha, beta=beta, points=cast("Any", points), pairs=pairs)
    sequential.update_matches(ReadingOptions(column).load(results), side)
    if as_json:
        echo_json(sequential.to_dict())
        return
    for line in sequential.lines():
        typer.echo(line)
