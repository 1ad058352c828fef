# %% [markdown]
# # Line-ups
#
# A team is as strong as those who play. With line-ups, ratings live on players, and a forecast knows who is missing.

# %%
import kinelo as kn

league = kn.sample_league(teams=8, seasons=2, seed=4)
print(league.lineups.head(4))
matches = kn.read_matches(league.results, lineups=league.lineups)
players = kn.PlayerElo().fit(matches)
print(players.ratings_.head(5))

# %% [markdown]
# A club without a line-up is a random variable: any of its latest line-ups. Its mean is θ, its spread σ.

# %%
print(players.team_strengths_.head(4))

# %% [markdown]
# That spread pulls the team's rating in any Elo system to the mean, and can be undone:

# %%
print(players.corrected(kn.TeamElo().fit(matches).ratings_).head(4))

# %% [markdown]
# Whether line-ups are worth their trouble the matches say. `known` is what a forecast may know.

# %%
half = matches.date[len(matches) // 2]
print(kn.backtest(matches, [kn.PlayerElo(known="starters"), kn.TeamElo()], train_until=half).scores)

# %% [markdown]
# In theory the same is `kn.model.LineupLottery`: m players drawn from a squad of given strengths.

# %%
squads = kn.model.LineupLottery(rho=[[1.0, 2.0, 3.0, 4.0], [2.5, 2.5, 2.5, 2.5]], m=2)
print("θ", squads.theta, "σ", squads.sigma.round(3))
print(kn.expected_result(kn.Tanh(nu=0.5), squads).round(4))
