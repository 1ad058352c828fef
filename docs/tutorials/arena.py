# %% [markdown]
# # An arena on a budget
#
# Which of eight language models is best, and how many votes does it take to know? Models do not change between votes,
# so the order of the votes should not matter. To Elo it does.

# %%
import numpy as np

import kinelo as kn

names = ["heron", "falcon", "osprey", "merlin", "kestrel", "harrier", "buzzard", "kite"]
strength = dict(zip(names, [1600.0, 1560.0, 1540.0, 1500.0, 1490.0, 1440.0, 1400.0, 1350.0]))
tastes = np.random.default_rng(7).normal(0, 60, (60, 8))  # of 60 judges; the last two vote for whoever is shown first


def ask(pairs, rng):
    """Let a judge drawn by lot vote on each pair."""
    rows = []
    for one, other in pairs:
        judge = int(rng.integers(60))
        gap = strength[one] - strength[other] + tastes[judge, names.index(one)] - tastes[judge, names.index(other)]
        won = judge >= 58 or rng.random() < 1 / (1 + 10 ** (-gap / 400))
        rows.append({"home": one, "away": other, "result": float(won), "judge": f"judge {judge}", "neutral": True})
    return rows


def read(rows):
    return kn.read_matches(rows, conditions=["judge"])


def drawn_by_lot(count, rng):
    return [tuple(rng.choice(names, 2, replace=False).tolist()) for _ in range(count)]


rng = np.random.default_rng(1)
rows = ask(drawn_by_lot(3000, rng), rng)
votes = read(rows)
shuffled = votes[rng.permutation(len(votes))]
for rater in (kn.TeamElo.classic(k=32), kn.BradleyTerry()):
    first, second = (rater.fit(each).ratings_.sort("name")["rating"].to_numpy() for each in (votes, shuffled))
    change = np.abs(first - second).max()
    print(f"{type(rater).__name__:12} largest change of a rating by shuffling: {change:.2f} points")

# %% [markdown]
# ## Judges
#
# `kn.BradleyTerry` takes all votes at once. Judges have tastes, so votes of one judge tell less than as many votes of
# many: `errors_by="judge"` counts that. And some judges do not look: `kn.judges` names them, and their votes are left
# out.

# %%
arena = kn.BradleyTerry(errors_by="judge").fit(votes)
found = kn.judges(arena, votes)
print(found.head(3))
named = found.filter("named")["judge"].to_list()
fair = votes[~votes.conditions["judge"].names().is_in(named).to_numpy()]
arena = kn.BradleyTerry(errors_by="judge").fit(fair)
print(f"{len(named)} judges left out with {len(votes) - len(fair)} votes")

# %% [markdown]
# ## Tiers
#
# Which models do these votes tell apart, and how many votes between two neighbours would split them?

# %%
print(kn.tiers(arena))

# %% [markdown]
# ## What to ask next
#
# The pairs that tell most about who is first. Two arenas begin with the same 200 votes and ask for 300 more in batches
# of 30: one by lot, one by `kn.next_matches`. How uncertain is the lead of the first in the end?

# %%
for rule in ("by lot", "for the leader"):
    rng = np.random.default_rng(3)
    rows = ask(drawn_by_lot(200, rng), rng)
    for _ in range(10):
        batch = kn.next_matches(kn.BradleyTerry().fit(read(rows)), count=30, target="leader").matches
        pairs = [(one.home, one.away) for one in batch]
        rows += ask(pairs if rule == "for the leader" else drawn_by_lot(30, rng), rng)
    known = kn.BradleyTerry(anchor={"heron": 1600.0}).fit(read(rows)).ratings_  # errors next to heron
    rivals = known.filter(known["name"].is_in(["falcon", "osprey"]))["uncertainty"].mean()
    print(f"{rule:15} lead over falcon and osprey known to ± {rivals:.0f} points")

# %% [markdown]
# ## When to stop
#
# "First with 95 %" is no level where one looks after every vote. `kn.Elimination` holds its level however often one
# looks and however pairs were chosen, here to within 60 points of the first. That has its price.

# %%
stop, rng = kn.Elimination(names, alpha=0.05, epsilon=60.0), np.random.default_rng(5)
while stop.leader is None and stop.played < 5000:
    one, other = stop.next_pair(seed=1)
    gap = strength[one] - strength[other]
    stop.update(one, other, "win" if rng.random() < 1 / (1 + 10 ** (-gap / 400)) else "loss")
print("\n".join(stop.lines()))

# %% [markdown]
# ## Had it been Elo
#
# How much noise K leaves in ratings of models that stand still, by theory. For a small step the standard deviation is
# near √(γ/2ν), where ν belongs to the outcome function.

# %%
outcome = kn.Tanh.elo()
system = kn.RatingSystem(outcome, gamma=16.0)
settled = kn.stationary(system, kn.Fixed(sorted(strength.values())), noise="gaussian")
thumb = (16.0 / (2 * outcome.nu)) ** 0.5
print(f"± {settled.variance.mean() ** 0.5:.1f} points with K = 32; rule of thumb ± {thumb:.1f}")
