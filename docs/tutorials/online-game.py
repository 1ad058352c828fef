# %% [markdown]
# # Run an online game
#
# Five against five and free-for-alls of eight share one rating. Friends queue together, some leave early, some begin
# again under a new name. Three seasons are played, every day of them through the queue.

# %%
import tempfile

import numpy as np

import kinelo as kn
from kinelo.book.milestones import season_table, try_season
from kinelo.book.tiers import Tiers, moved_by_luck, set_tiers, tier_board
from kinelo.decisions.queueing import Lobbies, Ticket, form_lobbies

PLAYERS, DAYS, SEASONS = 120, 20, 3
rng = np.random.default_rng(7)
skill = {f"player {k}": x for k, x in enumerate(rng.normal(0.0, 1.0, PLAYERS))}
friends = [(f"player {k}", f"player {k + 1}") for k in range(0, 24, 2)]
leavers = {f"player {k}" for k in range(30, 36)}
smurfs = {}  # new name → day on which it came

book = kn.RatingBook(tempfile.mkdtemp() + "/game.db", kn.RankElo(walk=0.3, prior_spread=1.0, start={"player 0": 1500}))
rule = {"Bronze": 0.5, "Silver": 0.4, "Gold": 0.1}
set_tiers(book, Tiers(rule, by="share", divisions=3, margin=20, placement=8))

# %% [markdown]
# Who is there on a day waits for a lobby: friends as a party, the others alone. Whoever leaves early plays a part of
# the time, and the match is sent with `minutes`.


# %%
def parties(there):
    pairs = [pair for pair in friends if set(pair) <= there]
    alone = there - {name for pair in pairs for name in pair}
    waiting = [Ticket(pair, float(rng.integers(0, 60))) for pair in pairs]
    return waiting + [Ticket((name,), float(rng.integers(0, 60))) for name in sorted(alone)]


def play(sides, name, date):
    minutes = {member: 20.0 for side in sides for member in side}
    minutes |= {member: 6.0 for member in minutes if member in leavers and rng.random() < 0.5}
    played = [np.average([skill[m] for m in side], weights=[minutes[m] for m in side]) for side in sides]
    order = np.argsort(-(np.array(played) + 0.6 * rng.logistic(size=len(sides))))
    row = {"match_id": name, "date": date, "order": [list(sides[k]) for k in order]}
    return row | ({"minutes": minutes} if len(sides) == 2 else {})


def day(number):
    date = str(np.datetime64("2026-01-01") + number)
    there = {name for name in skill if rng.random() < (0.3 if int(name.split()[-1]) % 3 else 0.8)}
    rows = []
    for mode, what in (("teams", Lobbies(sides=2, size=5)), ("field", Lobbies(sides=8, size=1, good=0.8))):
        waiting = parties(there) if mode == "teams" else [Ticket((name,)) for name in sorted(there)]
        for k, lobby in enumerate(form_lobbies(book, waiting, what)):
            rows.append(play(lobby.sides, f"{mode} {number}-{k}", date))
    book.add(rows)


# %% [markdown]
# Three seasons: each is closed with its last day, with a crown and gold, and the next begins a fifth nearer to the
# mean. In the second, five good players begin again under a new name.

# %%
number = 0
for season in range(1, SEASONS + 1):
    if season == 2:
        for k in range(5):
            skill[f"smurf {k}"] = 1.5 + 0.2 * k
            smurfs[f"smurf {k}"] = number
    for _ in range(DAYS):
        day(number)
        number += 1
    if season == 2:
        print("\n".join(try_season(book, 0.2).lines()))
    closed = book.season(f"Season {season}", reset=0.2, rewards={"crown": 1, "gold": 0.05})
    best = season_table(book, closed.name).row(0, named=True)
    print(
        f"{closed.name}: {closed.players} played, {best['name']} wears the {best['reward']} with {best['rating']:.0f}"
    )

# %% [markdown]
# What players see, what the ratings know of skills, and where those who began again stand.

# %%
board = {row["name"]: row for row in tier_board(book).rows}
ratings = dict(book.ratings_.select("name", "rating").rows())
there = [name for name in ratings if board[name]["to_place"] == 0]
correlation = np.corrcoef([ratings[name] for name in there], [skill[name] for name in there])[0, 1]
print(f"Correlation of ratings and skills: {correlation:.2f}, of {len(there)} placed")
for name in smurfs:
    place = sum(value > ratings[name] for value in ratings.values()) + 1
    print(f"{name}: place {place} of {len(ratings)}, {board[name]['tier']} {board[name]['division']}")

# %%
for _ in range(8):
    day(number)
    number += 1
print(moved_by_luck(book).lines()[0])
assert book.check() == [] and len(ratings) <= len(skill)
