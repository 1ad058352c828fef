# %% [markdown]
# # My league from a file
#
# A file of results becomes a leaderboard, forecasts, and a verdict on how far to trust them. Here the file is made up;
# put your own in its place.

# %%
from pathlib import Path

import kinelo as kn

kn.sample_league(teams=10, seasons=3, seed=1).results.write_csv("results.csv")
print(*Path("results.csv").read_text().splitlines()[:4], sep="\n")

# %% [markdown]
# ## Read it
#
# Columns are recognised by their names, dates by their form. Assumptions stand in `notes`, rows that could not be used
# in `rejected`, with the reason.

# %%
matches = kn.read_matches("results.csv")
print(matches)
print(matches.notes)
print(len(matches.rejected), "rows were not used")

# %% [markdown]
# ## Rate it
#
# A rater estimates from the matches what you do not set, with standard errors.

# %%
rater = kn.TeamElo().fit(matches)
estimates = rater.estimates_
for name, value in estimates.values.items():
    error = estimates.standard_errors[name]
    print(
        f"{name:16} {value:8.3f}"
        + (f" ± {error:.3f}" if error == error else "   (open: the likelihood hardly changes)")
    )

# %% [markdown]
# The leaderboard lists those who are active and have played enough by what they are rated *surely*: rating less
# twice its uncertainty.

# %%
print(kn.leaderboard(rater).select("place", "name", "rating", "uncertainty", "surely").head(5))

# %%
kn.plot.histories(kn.rating_history(rater, matches, points=40), title="Ten clubs over three seasons")

# %% [markdown]
# ## Forecast
#
# A forecast is three probabilities. A side that has never played is forecast from the prior, and named.

# %%
best, second = kn.leaderboard(rater)["name"].head(2)
fixtures = kn.read_matches({"home": [best, second], "away": [second, "Newcomers"]}, played=False)
forecast = rater.predict(fixtures)
print(forecast.to_polars())
print("never seen before:", forecast.unknown)

# %% [markdown]
# ## How far to trust it
#
# A backtest fits on the earlier matches and forecasts each of the later ones before it is seen. The log-loss is
# what an honest forecaster is scored by; lower is better.

# %%
half = matches.date[len(matches) // 2]
test = kn.backtest(matches, [kn.TeamElo(), kn.Glicko()], train_until=half)
print(test.scores)

# %% [markdown]
# Where to go next: [line-ups](lineups.py), [which step size](choose-k.py), [a book](../how-to/book.md) that
# keeps the ratings as results come in, or the same in the browser: [the lab](../lab.md).
