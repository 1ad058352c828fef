# %% [markdown]
# # Choose K for a federation
#
# A federation with 60 teams asks which K to use. A small K is slow and pulls ratings to the middle, a large K
# makes them jump. Where form varies from match to match there is one K at which ratings stand on the scale of
# the strengths; where strengths also wander over the seasons there is one that follows them best. Theory here
# says γ; K in chess is 2γ.
#
# ## What the present K does

# %%
import kinelo as kn

outcome = kn.Tanh(nu=0.5)
teams = kn.homogeneous(sigma=1.0, teams=60)  # mean strengths from 4 to 10, form varies by 1 from match to match
now = kn.RatingSystem(outcome, gamma=0.05)
verdict = kn.diagnose(now, teams)
for line in verdict.advice:
    print("-", line)

# %%
kn.plot.stationary(kn.stationary(now, teams, noise="gaussian"), title="γ = 0.05: strong teams are rated too low")

# %% [markdown]
# ## The K without bias
#
# Varying form shrinks the scale, the noise of the ratings stretches it. At one step size both cancel.

# %%
fair = kn.unbiased_gamma(outcome, teams)
for gamma in (now.gamma, fair):
    state = kn.stationary(kn.RatingSystem(outcome, gamma=gamma), teams, noise="gaussian")
    print(f"γ = {gamma:.3f}: slope {state.slope:.3f}, noise of a rating ± {state.variance.mean() ** 0.5:.2f}")

# %% [markdown]
# The price of being without bias is noise: a rating is then off by about as much as form itself varies. If what
# you need is the strengths and not a fair table, keep a small step and undo the map: `kn.recover_strength`.
#
# ## The K that follows
#
# Now let each team's strength drift about its mean by 0.8 points, with a memory of 100 matches. The error has
# three parts: noise (too large a step), lag (too small a step), and bias.

# %%
drifting = kn.Form(rate=0.01, spread=0.8)
best = kn.best_gamma(outcome, teams, drifting)
print(f"γ = {best.gamma:.3f}: mean square error {best.error:.3f}")
print(f"noise {best.parts.noise:.3f}, lag {best.parts.lag:.3f}, bias {best.parts.bias:.3f}")

# %% [markdown]
# ## How long until it shows
#
# The slowest mode of the whole league, in matches of each team until a tenth of a disturbance is left:

# %%
for gamma in (now.gamma, best.gamma):
    slowest = kn.relaxation(kn.RatingSystem(outcome, gamma=gamma), teams)
    print(f"γ = {gamma:.3f}: {slowest.matches_per_team(0.1):.0f} matches")

# %% [markdown]
# What of this is theorem, closure or simulation: [proved, computed, simulated](../evidence.md).
