# %% [markdown]
# # Gallery
#
# Every picture that Kinelo draws, with the lines that drew it. `kn.plot` returns a matplotlib figure;
# `kn.plot.save(figure, "name.pdf")` writes it as PNG, PDF or SVG.
#
# For a paper: `width="single"` or `"double"` is one or two columns of a journal (3.5 and 7.2 inches; a number is
# inches), `size=9` the size of the type in points, and `ax=` draws into axes of a figure of yours, a list of them
# where a picture has several panels. In a single column panels stand one below the other. Pictures that arrange
# panels of their own (`audit`, `check`, `calibration`, several histories, sweeps of three and more axes) take no
# `ax`.

# %%
from pathlib import Path

import kinelo as kn

system = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.25)
league = kn.homogeneous(sigma=1.0, teams=40)

# %% [markdown]
# ## Where ratings settle
#
# The computed map from strength to rating with its noise, and the bias.

# %%
kn.plot.stationary(kn.stationary(system, league, noise="gaussian"), title="40 teams, γ = 0.25")

# %% [markdown]
# ## What a contest of many is worth
#
# In matches of two: to each team, and on average over the size of the contest.

# %%
kn.plot.contest_worth(system, league)

# %% [markdown]
# ## Fair games against quick ratings
#
# Pairings by how one-sided their games are and how long ratings take to settle, and the choice for a wanted fairness.

# %%
kn.plot.matchmaking(kn.matchmaking(kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.005), league, fairness=0.25))

# %% [markdown]
# ## A simulated league
#
# The last ratings of a run over mean strength.

# %%
run = kn.simulate(system, league, steps=1_000, realisations=10, seed=1, record_every=500)
kn.plot.ratings(run, title="40 teams, 10 realisations")

# %% [markdown]
# ## The kinetic equation
#
# The density of teams in (θ, r), the ratings over time, and what happened on the way.

# %%
population = kn.macro.Population.concentrated(7.0, theta=(4, 10, 40), r=(4, 10, 40), sigma=1.0)
density = kn.solve(system, population, until=15.0, save_at=[0, 1, 5, 10, 15])
kn.plot.population(density, title="From one rating to the settled map")

# %% [markdown]
# ## A film of it

# %%
frames = [(float(t), density.density_theta_r.sel(time=t).values) for t in density.time]
kn.plot.film(density.theta.values, density.r.values, frames, Path("density.gif"))

# %% [markdown]
# ## Histories of ratings

# %%
sample = kn.sample_league(teams=10, seasons=3, seed=1)
matches = kn.read_matches(sample.results)
rater = kn.Glicko(deviation=300.0, growth=10.0, home_advantage=60.0, ties=0.5).fit(matches)
kn.plot.histories(kn.rating_history(rater, matches, points=40), title="Ten clubs")

# %% [markdown]
# ## Calibration
#
# What happened against what was forecast, one panel per rater.

# %%
test = kn.backtest(matches, [rater, kn.TeamElo.classic(k=32)], train_until=matches.date[len(matches) // 2])
kn.plot.calibration(test)

# %% [markdown]
# ## Which K: an audit
#
# Log-loss over K, by theory and by backtest, and the best K by period.

# %%
found = kn.audit(matches, kn.TeamElo.classic(k=32))
kn.plot.audit(found)

# %% [markdown]
# ## From one list to another
#
# Every side on the old list and on the new one, with a title and those who move furthest.

# %%
change = kn.changeover(kn.TeamElo.classic(k=60), kn.TeamElo.classic(k=20), matches, thresholds={"First class": 1600})
kn.plot.changeover(change)

# %% [markdown]
# ## Systems compared
#
# What each of some systems makes of a league whose form wanders.

# %%
few = kn.Normal([4.0, 5.5, 7.0, 8.5, 10.0], sigma=1.0)
systems = {f"γ = {gamma:g}": kn.RatingSystem(kn.Tanh(nu=0.5), gamma=gamma) for gamma in (0.05, 0.15, 0.4)}
compared = kn.design(few, kn.model.Form(rate=0.02, spread=0.8), systems, matches=1500, realisations=5, seed=1)
kn.plot.design(compared)

# %% [markdown]
# ## A sweep


# %%
def slope(nu, sigma):
    teams = kn.Normal([4.0, 5.5, 7.0, 8.5, 10.0], sigma)
    return kn.stationary(kn.RatingSystem(kn.Tanh(nu=nu)), teams).slope


kn.plot.sweep(kn.sweep(slope, {"nu": [0.25, 0.5, 1.0], "sigma": [0.5, 1.0, 1.5, 2.0]}), title="Slope of the map")

# %% [markdown]
# ## Figures of the paper
#
# [A page of its own](../src/kinelo/paper/figures) shows the eleven figures of the reproduction and those of the models
# beside the paper's, with the commands that draw them.
