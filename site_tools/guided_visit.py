"""The guided visit of the lab as a page of the site."""

from kinelo.lab.guide.scenes import PLOTLY, guide_page, plotly_script

DOORS = [
    {"door": "explore", "title": "Explore freely", "label": "Install the lab", "address": "../lab.html",
     "words": "All sliders, and a league that plays while you watch: the lab runs on your own machine."},
    {"door": "rate", "title": "Rate my league", "label": "From a file to ratings",
     "address": "../tutorials/my-league.html",
     "words": "A file of results becomes ratings that know how sure they are, and an audit of your K."},
    {"door": "paper", "title": "The paper", "label": "See its figures", "address": "../gallery-paper.html",
     "words": "Every figure computed anew, and every claim that can be measured: what holds, and what does not."},
]  # fmt: skip


def pages(*, drawn: bool) -> dict[str, str | bytes]:
    """Files by their address on the site."""
    page = guide_page(DOORS, "../index.html", drawn=drawn)
    return {"guide/index.html": page, f"guide/{PLOTLY}": plotly_script() if drawn else b""}
