"""The page of somebody who is rated: why the rating moved over the last matches, and what the next would change."""

from __future__ import annotations

from html import escape
from typing import Any

from kinelo.advice.charts import history_chart
from kinelo.errors import InputError
from kinelo.matches.kind import CONTESTS
from kinelo.pages.chart import chart_html
from kinelo.pages.rated import in_frame
from kinelo.presentation import Table, html_list, number, words
from kinelo.raters.explanation import ELSEWHERE, MEANWHILE, WORDS, Account, explain_last, who_met
from kinelo.raters.history import rating_history
from kinelo.raters.preview import OUTCOMES, preview, ratings_by_name
from kinelo.raters.questions import answers

STOPS, NEAREST = 200, 5


def player_body(rater: Any, played: Any, name: str, heading: str, last: int) -> str:
    """Return the body of the page."""
    if not answers(rater, "explain_last"):
        raise InputError(f"{type(rater).__name__} cannot say why ratings moved; the raters of Kinelo can.")
    told: Account = explain_last(rater, name, played, last=last)
    terms = {term: WORDS.get(term, MEANWHILE) for term in told.totals()}
    meaning = html_list(f"{term.capitalize()}: {said}." for term, said in terms.items() if term != ELSEWHERE)
    sentences = html_list(told.lines()[1:][::-1])
    return f"""<h1>{escape(heading)}</h1>
<p class="source">Rated {told.after:.0f} by {escape(getattr(rater, "label", type(rater).__name__))} after
{len(played):,} {played.kind.noun} with Kinelo.</p>
<h2>Why did this rating move?</h2><p class="lead">{escape(told.summary())}</p>
<p>Every row adds up: its terms are the whole change, and the last row is the sum of all.</p>
{in_frame(told.table())}{meaning}
<h2>One by one, the last first</h2>{sentences}
{_history(rater, played, name)}
{_next(rater, played, name)}"""


def _history(rater: Any, played: Any, name: str) -> str:
    if not played.dated or played.date[0] == played.date[-1]:
        return ""
    history = rating_history(rater, played, points=STOPS)
    return f"<h2>Through time</h2>{chart_html(history_chart(history, [name], others=False))}"


def _next(rater: Any, played: Any, name: str) -> str:
    """What the next match would change, against those rated nearest, or in the field of the last contest."""
    try:
        table, said = (_next_contest if played.kind is CONTESTS else _next_match)(rater, played, name)
    except InputError:  # a match to come needs line-ups or numbers that nobody has said
        return ""
    return f"<h2>What would the next one change?</h2><p>{said}</p>{in_frame(table)}"


def _next_match(rater: Any, played: Any, name: str) -> tuple[Table, str]:
    ratings = {other: rating for other, rating in ratings_by_name(rater).items() if other in played.teams}
    nearest = sorted(
        (other for other in ratings if other != name), key=lambda other: abs(ratings[other] - ratings[name])
    )
    rows = [
        {"name": other, "rating": ratings[other], **preview(rater, name, other, neutral=True).changes(name)}
        for other in nearest[:NEAREST]
    ]
    columns = [words("Against", "name"), number("Rating", "rating", ".0f")]
    changes = [number(outcome.capitalize(), outcome, "+.1f") for outcome in OUTCOMES]
    said = "Against those who are rated nearest, on neutral ground, on the day of the last match."
    return Table([*columns, *changes], rows), said


def _next_contest(rater: Any, played: Any, name: str) -> tuple[Table, str]:
    at = next(k for k in range(len(played) - 1, -1, -1) if name in who_met(played[k]))
    slots = [own for own in played[at].slots.values() if not own.advantage]
    members = [[[own.names[c] for c in row if c >= 0] for row in own.codes.tolist()] for own in slots]
    field: list[Any] = [one[0][0] if len(one) == len(one[0]) == 1 else one for one in map(tuple, zip(*members))]
    mine = [entrant for entrant in field if name == entrant or any(name in part for part in entrant)]
    changes = preview(rater, field, of=mine).changes(name)
    rows = [{"place": place, "change": change} for place, change in changes.items()]
    said = f"By each place, in the field of {escape(played.labels[at])}, the others finishing as expected."
    return Table([words("Place", "place"), number("Change", "change", "+.1f")], rows), said
