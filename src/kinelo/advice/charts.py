"""Charts that several doors show: described here once, drawn by ``pictures``, ``pages`` and the lab."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kinelo.advice.audit.words import advised
from kinelo.charts import Chart, Trace
from kinelo.matches.columns import first_side
from kinelo.presentation import counted
from kinelo.raters.history import broken_line

if TYPE_CHECKING:
    import polars as pl

    from kinelo.advice.audit.audit import Audit
    from kinelo.advice.audit.contests import ContestAudit
    from kinelo.matches.matches import Matches
    from kinelo.model.validation import Array
    from kinelo.theory.state import StationaryState

MOST_NAMED_TEAMS = 12
CURVE_POINTS = 121
MOST_TEAM_DOTS = 2000
MOST_OTHER_LINES = 40
"""More sides than this in the background of a history are drawn as one band."""
LEAST_FORECASTS = 5
EVENT_WORDS = {"win": "comes first", "top 3": "is among the first three"}


def loss_chart(audit: Audit | ContestAudit) -> Chart:
    """Log-loss over K, measured and (of matches) expected, each above its own least; with the best K, that in use, and
    what the past wanted where that is another one.

    Of the theory's curve differences are to be trusted, the level less so.
    """
    past, best, measured, k = audit.advice, advised(audit), audit.measured, audit.k
    past = None if best is past else past
    seen = measured.log_loss - measured.log_loss.min()
    highest = float(seen.max())
    notes = tuple(f"K = {one:.3g}: {loss:.5f} measured" for one, loss in zip(measured.k, seen))
    traces = [
        # An interval without a lower end is drawn from the least K that was tried.
        Trace(
            f"95 % interval: {best.low:.3g} to {best.high:.3g}",
            "good",
            "span",
            [best.low or float(measured.k[0]), best.high],
        ),
        Trace("backtest, later half", "team", "markers", measured.k, seen, notes=notes),
        Trace(f"best{' from today on' * (past is not None)}: {best.k:.3g}", "good", "upright", [best.k]),
    ]
    title = f"Log-loss over K by backtest; the best K is {best.k:.3g}"
    curve = getattr(audit, "curve", None)
    if curve is not None:
        theory = curve.column("log_loss") - curve.column("log_loss").min()
        highest = max(highest, float(theory.max()))
        traces.insert(1, Trace("theory", "prediction", "lines", curve.column("k"), theory))
        title = title.replace(" by backtest", ", theory and backtest")
    if k is not None:
        traces.append(Trace(f"in use: {k:.3g}", "truth", "upright", [k]))
        title += f", in use is {k:.3g}"
    if past is not None:
        traces.append(Trace(f"wanted by the past: {past.k:.3g}", "team", "upright", [past.k]))
    ends = (-0.06 * highest, 1.06 * highest)
    return Chart(title, "K", "log-loss above the least", traces, y_range=ends, logarithmic=True)


def periods_chart(audit: Audit) -> Chart:
    """The best K of each quarter of the history, by backtest with its interval and by theory, and the K advised."""
    ends = [np.datetime64(day) for one in audit.periods for day in (one.first, one.last)]
    measured, low, high, theory = (
        np.repeat([getattr(one, name) for one in audit.periods], 2) for name in ("measured", "low", "high", "theory")
    )
    k, when = audit.lead.k, np.array(ends)
    traces = [
        Trace("95 % interval by backtest", "team", "band", when, high, low=low),
        Trace("by backtest", "team", "lines", when, measured),
        Trace("by theory", "prediction", "dashed", when, theory),
        Trace(f"{'in use' if k == audit.k else 'to use'}: {k:.3g}", "truth", "thin", when[[0, -1]], [k, k]),
    ]
    said = ", ".join(f"{one.first} to {one.last}: {one.measured:.3g}" for one in audit.periods)
    return Chart(f"The best K by period: {said}", "date", "best K", traces)


def map_chart(state: StationaryState) -> Chart:
    """The curve R(θ) of a team of typical spread, a band of one standard deviation of rating noise, and the teams."""
    theta, rating, deviation = _curve(state)
    ends = [theta[0], theta[-1]]
    traces = [
        Trace("stationary rating R(θ)", "prediction", "lines", theta, rating),
        Trace("rating = mean strength", "truth", "dashed", ends, ends),
        *_teams(state, state.rating),
    ]
    if state.variance.any():
        name = "± one standard deviation of a rating"
        traces.insert(0, Trace(name, "prediction", "band", theta, rating + deviation, low=rating - deviation))
    label = f"Rating over mean strength, slope {state.slope:.3f}"
    return Chart(label, "mean strength θ (rating points)", "rating R (rating points)", traces)


def bias_chart(state: StationaryState) -> Chart:
    """Points (θ, R − θ): above zero a team is rated too high."""
    theta, rating, _ = _curve(state)
    traces = [
        Trace("", "truth", "dashed", [theta[0], theta[-1]], [0.0, 0.0]),
        Trace("", "prediction", "lines", theta, rating - theta),
        *_teams(state, state.bias),
    ]
    return Chart("Bias over mean strength", "mean strength θ (rating points)", "bias R − θ (rating points)", traces)


def _teams(state: StationaryState, y: Array) -> list[Trace]:
    """The teams of a league of so many, and the few that have a name of their own."""
    if not state.teams.finite:
        return []
    shown = slice(None, None, max(1, state.theta.size // MOST_TEAM_DOTS))
    x, deviation = state.theta, np.sqrt(state.variance)
    notes = tuple(
        f"θ = {a:.4g}, R = {b:.4g} ± {d:.3g}" for a, b, d in zip(x[shown], state.rating[shown], deviation[shown])
    )
    traces = [Trace("teams", "team", "markers", x[shown], y[shown], notes=notes)]
    names = state.teams.strengths.names or ()
    named = [k for k, name in enumerate(names) if not name.startswith("Team ")]
    if 0 < len(named) <= MOST_NAMED_TEAMS:
        traces.append(Trace("", "bad", "named", x[named], y[named], notes=tuple(names[k] for k in named)))
    return traces


def _curve(state: StationaryState) -> tuple[Array, Array, Array]:
    order = np.argsort(state.theta, kind="stable")
    deviation = np.sqrt(state.variance[order])
    if not state.system.pairing.constant or state.theta.min() == state.theta.max():
        return state.theta[order], state.rating[order], deviation
    theta = np.linspace(state.theta.min(), state.theta.max(), CURVE_POINTS)
    groups = np.array_split(np.arange(order.size), min(20, order.size))
    # Teams differ in spread, and so slightly in noise; the band shows what is typical at a strength.
    centres = [state.theta[order][group].mean() for group in groups]
    typical = [deviation[group].mean() for group in groups]
    return theta, state.rating_of(theta), np.interp(theta, centres, typical)


def history_chart(history: pl.DataFrame, names: Sequence[str], *, others: bool = True) -> Chart:
    """Ratings over time of the named sides, the first with its band, and of the others behind them."""
    import polars as pl

    stops = history["date"].unique().sort().to_numpy()
    shown = pl.col("name").is_in(list(names))
    traces: list[Trace] = []
    if others:  # a line each where they are few, else the band that holds the middle four fifths of them
        rest, rating = history.filter(~shown), pl.col("rating")
        number = rest["name"].n_unique()
        if number > MOST_OTHER_LINES:
            band = rest.group_by("date").agg(low=rating.quantile(0.1), high=rating.quantile(0.9), sides=pl.len())
            band = band.filter(pl.col("sides") >= 5).sort("date")
            date, low, high = (band[column].to_numpy() for column in ("date", "low", "high"))
            traces.append(Trace(f"middle 80 % of {number} others", "other", "band", date, high, low=low))
        else:
            for place, (_, part) in enumerate(rest.group_by("name", maintain_order=True)):
                date, rating, _ = broken_line(part.sort("date"), stops)
                traces.append(Trace(counted(number, "other", "others") * (place == 0), "other", "faint", date, rating))
    for place, name in enumerate(names):
        date, rating, doubt = broken_line(history.filter(pl.col("name") == name).sort("date"), stops)
        if place == 0:
            band = Trace("± one standard deviation", 0, "band", date, rating + doubt, low=rating - doubt)
            traces.append(band)
        traces.append(Trace(name, place, "lines", date, rating, value=f"{rating[-1]:.0f}"))
    # Limits that hold the chosen lines with their bands and most of the rest.
    chosen = history.filter(shown)
    drawn = history if others else chosen
    cut = 0.05 if drawn["name"].n_unique() > MOST_OTHER_LINES else 0.0
    low, high = drawn["rating"].quantile(cut), drawn["rating"].quantile(1.0 - cut)
    low = min(float(low or 0.0), float((chosen["rating"] - chosen["uncertainty"]).quantile(0.005) or 0.0))
    high = max(float(high or 0.0), float((chosen["rating"] + chosen["uncertainty"]).quantile(0.995) or 0.0))
    room = 0.04 * (high - low + 1.0)
    ends = (low - room, high + room)
    return Chart(f"Ratings through time of {', '.join(names)}", "date", "rating (points)", traces, y_range=ends)


def calibration_chart(table: pl.DataFrame, names: Mapping[str, str] | None = None) -> Chart:
    """How often what was forecast happened, over the chance that it was given, in percent.

    ``table`` comes from ``calibration`` of a backtest, ``names`` call its outcomes otherwise. The line at a dot is
    where a calibrated forecast lies in 95 of 100 cases. Bins of a few forecasts are left out: they show chance alone.
    """
    import polars as pl

    what, number = table.columns[0], table.columns[-1]
    called = {**EVENT_WORDS, **(names or {})}
    table = table.filter((pl.col("forecast") > 0) & (pl.col(number) >= LEAST_FORECASTS))
    traces = [Trace("", "truth", "dashed", [0.0, 100.0], [0.0, 100.0])]
    for place, outcome in enumerate(table[what].unique(maintain_order=True)):
        part, name = table.filter(pl.col(what) == outcome), str(called.get(outcome, outcome))
        given, came, low, high = (100 * part[one].to_numpy() for one in ("forecast", "frequency", "low", "high"))
        apart = np.full(given.size, np.nan)
        x, y = (np.column_stack(ends).ravel() for ends in ((given, given, given), (low, high, apart)))
        counts = part[number].to_list()
        notes = tuple(
            f"{name}: {a:.0f} % given, {b:.0f} % came true ({n:,} {number})" for a, b, n in zip(given, came, counts)
        )
        traces += [Trace("", place, "thin", x, y), Trace(name, place, "markers", given, came, notes=notes)]
    ends = (0.0, 100.0)
    return Chart("How often forecasts came true", "chance given (%)", "came true (%)", traces, ends, ends)


def outcome_words(matches: Matches) -> dict[str, str]:
    """What charts call wins of either side: as the file calls its sides, such as White and Black.

    >>> import kinelo as kn
    >>> outcome_words(kn.read_matches({"White": ["Ann"], "Black": ["Bob"], "result": [1]}))
    {'home win': 'White wins', 'away win': 'Black wins'}
    """
    first, second = side_names(matches)
    return {} if first == "Home" else {"home win": f"{first} wins", "away win": f"{second} wins"}


def side_names(matches: Matches) -> tuple[str, str]:
    """What the two sides are called: White and Black, the file's own words, or Home and Away.

    >>> import kinelo as kn
    >>> side_names(kn.read_matches({"White": ["Ann"], "Black": ["Bob"], "result": [1]}))
    ('White', 'Black')
    """
    first, second = (one.strip() for one in matches.side_headers)
    at_home = first_side(first) == first_side("home")
    return ("Home", "Away") if at_home else (f"{first[:1].upper()}{first[1:]}", f"{second[:1].upper()}{second[1:]}")
