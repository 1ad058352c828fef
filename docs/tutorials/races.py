# %% [markdown]
# # A season of races: who is good, the driver or the car?
#
# Each entrant of a race is two things at once: a driver and a car. Here a file of races becomes ratings of both,
# forecasts of every place, and a test of how good they are. The races are made up, so that the truth is known; put
# your own file in their place.

# %%
from pathlib import Path

import kinelo as kn

kn.matches.sample_contests(contests=240, entrants=24, size=16, walk=0.5, cars=8, seed=5).write_csv("races.csv")
print(*Path("races.csv").read_text().splitlines()[:4], sep="\n")

# %% [markdown]
# ## Read it
#
# A long table: one row for each entrant of each contest, with columns recognised by their names. `slots` says what is
# rated; without it, the entrant alone. How the file was read stands in `notes`.

# %%
races = kn.read_contests("races.csv", slots={"driver": "entrant", "car": "car"})
print(races)
for note in races.notes:
    print("-", note)

# %% [markdown]
# Places and times are best where they are lowest, points where they are highest; a column called "score" is asked about
# (`best="lowest"` in golf). [All that is read](../how-to/contest-files.md), such as DNF, DSQ and DNS.
#
# ## Rate it
#
# `RankElo` learns from each place what driver and car together showed. How fast drivers and cars change, how far
# newcomers spread and where they begin is estimated for each kind.

# %%
rater = kn.RankElo().fit(races)
for name, value in rater.estimates_.values.items():
    error = rater.estimates_.standard_errors[name]
    print(f"{name:24} {value:7.3f}" + (f" ± {error:.3f}" if error == error else ""))

# %% [markdown]
# One table for each kind. A rating point means the same as in matches of two: 200 points more than another and you
# come before them in three races of four.

# %%
ratings = rater.ratings_on()
print(ratings.filter(ratings["kind"] == "driver").head(5))

# %%
print(ratings.filter(ratings["kind"] == "car").head(5))

# %% [markdown]
# The driver or the car? Compare how far each kind spreads among those who are active.

# %%
for kind in races.kinds:
    print(f"{kind:7} {ratings.filter(ratings['kind'] == kind)['rating'].std():5.0f} points (standard deviation)")

# %% [markdown]
# ## Look back
#
# Ratings of the day know the past alone. With hindsight they are what all races, before and after, say of that day:
# who was good all along is seen to have been good from the start.

# %%
then = kn.rating_history(rater, races, points=60)
now = kn.rating_history(rater, races, points=60, hindsight=True)
kn.plot.histories(then, title="Drivers and cars", now=now)

# %% [markdown]
# ## Forecast a race
#
# An entrant is a driver in a car. `places` holds the chance of every place, `chance_before` that of the order of two.

# %%
drivers = ratings.filter(ratings["kind"] == "driver")["name"].head(4).to_list()
cars = ratings.filter(ratings["kind"] == "car")["name"].head(4).to_list()
race = rater.predict_one(list(zip(drivers, reversed(cars))))
print(race.to_polars())

# %%
print(f"{drivers[0]} before {drivers[1]}: {race.chance_before(0, drivers[0], drivers[1]):.2f}")
print(race.places(0).round(2))

# %% [markdown]
# ## How good are the forecasts?
#
# Each race of the later half is forecast from the races before it, then used. `pairs_right` is the share of pairs of
# finishers in the order forecast; `winner_log_loss` is what the forecast of the winner costs.

# %%
test = kn.backtest(races, {"RankElo": kn.RankElo(), "plain Elo": kn.TeamElo.classic(k=32)}, train_until=races.date[120])
print(test.scores)

# %% [markdown]
# A forecast of 30 % should come true in 30 of 100 cases. `low` and `high` hold what chance allows.

# %%
calibration = test.calibration("RankElo")
print(calibration.filter(calibration["event"] == "win"))

# %% [markdown]
# ## Carry on
#
# `update` takes further races, `update_one` a single one: entrants in order (a list of names is a team), and
# `ranks=[1, 2, 2]` where some tie. A `kn.RatingBook` keeps the ratings on disk, and
# `kn.pages.write_page(rater, "races.html")` writes a page to share. On the command line:
#
# ```
# kinelo read races.csv --slot driver=entrant --slot car
# kinelo rate races.csv --out races.html
# kinelo backtest races.csv
# kinelo predict next-race.csv --results races.csv
# ```

# %%
rater.update_one([(drivers[1], cars[0]), (drivers[0], cars[1])], unfinished=[(drivers[2], cars[2])])
print(rater.ratings_.filter(rater.ratings_["kind"] == "driver").head(3))
