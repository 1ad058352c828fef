# %% [markdown]
# # Choose K for a federation
#
# A chess club rates its players with K = 40 and gives titles at 1550 and 1640 points. Is 40 the right K, who moves
# if it changes, and what becomes of the titles?
#
# ## The file
#
# One row a game: the day, both players, and 1, ½ or 0 points for the first.

# %%
import tempfile
from pathlib import Path

import numpy as np

import kinelo as kn

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(3)
names = np.array(
    [
        "Abel", "Beck", "Cole", "Dorn", "Ebner", "Fink", "Gruber", "Haas", "Iske", "Jung",
        "Kern", "Lang", "Mohr", "Noll", "Otto", "Pohl", "Quast", "Roth", "Sand", "Thal",
    ]
)  # fmt: skip
strength = np.linspace(-220, 220, 20)[rng.permutation(20)]
white = rng.integers(0, 20, 900)
black = (white + rng.integers(1, 20, 900)) % 20
expected = 1 / (1 + 10 ** (-(strength[white] - strength[black]) / 400))
draw = 0.4 * 4 * expected * (1 - expected)
u = rng.random(900)
points = np.where(u < expected - draw / 2, "1", np.where(u < expected + draw / 2, "0.5", "0"))
days = np.datetime64("2022-01-01") + np.arange(900)
lines = ["date,home,away,result", *(f"{d},{h},{a},{p}" for d, h, a, p in zip(days, names[white], names[black], points))]
(folder / "club.csv").write_text("\n".join(lines))
games = kn.read_matches(folder / "club.csv")
print(games)

# %% [markdown]
# ## The list in use
#
# `TeamElo.classic` is the club's own arithmetic: E = 1/(1 + 10^(−d/400)), a draw counts ½, and a rating moves by
# K (S − E), in [the points of every rater](../points.md). Other rules of K are `k=kn.model.FideSteps()`,
# `k=kn.model.FallingSteps(…)` and `k_of=` for players with a K of their own; `start=` takes the last published list.

# %%
in_use = kn.TeamElo.classic(k=40)
print(in_use.fit(games).ratings_.head(5))

# %% [markdown]
# Its forecasts know draws. Two players 100 points apart:

# %%
forecast = kn.TeamElo.classic(k=40, start={"Abel": 1600, "Beck": 1500}, ties=1.3).predict(
    kn.read_matches({"home": ["Abel"], "away": ["Beck"]}, played=False)
)
print(forecast, "expected score", forecast.points.round(2))

# %% [markdown]
# ## Which K?
#
# The audit estimates how far apart the players are and how fast they move, and holds what theory says of K against a
# backtest on the club's own games. It advises what both support, and says so where the games cannot tell.

# %%
found = kn.audit(games, in_use)
print(found.verdict)

# %% [markdown]
# Take a round number within the interval. Here the players hardly move, so a small K is better: the club takes 20.
#
# ## Who moves, and the titles
#
# The same games rated both ways, on one scale. Where both systems are plain Elo every move is taken apart exactly;
# with a published list or another rater beside it, each player's results are held against the old list instead.

# %%
change = kn.changeover(in_use, kn.TeamElo.classic(k=20), games, thresholds={"Expert": 1550, "Master": 1640})
print(change.verdict)
print(change.movers(6))

# %%
for title in change.titles:
    print(f"{title.name}: lose it {', '.join(title.lost) or 'nobody'}; gain it {', '.join(title.gained) or 'nobody'}")
    if title.same_number is not None:
        print(f"  as many hold it from {title.same_number:.0f} points on the new list")

# %%
kn.plot.changeover(change)

# %% [markdown]
# ## Publish, and carry on
#
# The table goes to the members; a rating book keeps the new system and counts every further game once.

# %%
change.table.select("name", "old", "new", "move", "reason").write_csv(folder / "changeover.csv")
book = kn.RatingBook(folder / "book", kn.TeamElo.classic(k=20))
print(book.add(games))
print(book.ratings_.select("name", "rating").head(3))

# %% [markdown]
# The same at the command line:
#
# ```sh
# kinelo audit club.csv --k 40
# kinelo audit club.csv --changeover k=40 --to k=20 --threshold Expert=1550 --threshold Master=1640 \
#     --out changeover.csv --picture changeover.png
# kinelo rate club.csv --k 20 --book book --out list.csv
# ```
#
# What theory says of K for strengths that vary or move: [Which K?](../which-k.md); what of it is theorem, closure or
# simulation: [Proved, computed, simulated](../evidence.md).
