"""The equation behind each public name, and where it stands: in the paper, or on the page that derives it."""

INTRODUCTION, TEAMS, SETUPS = "paper, Section 1", "paper, Section 2", "paper, Section 2, simulations"
MACRO, SCALING = "paper, Section 3", "paper, Section 4"


def _page(title: str, address: str) -> str:
    return f"[{title}](../{address})"


MAP, NOISE = _page("the map", "stationary.md#the-map"), _page("its noise", "stationary.md#the-noise-of-a-finite-step")
FORM, LEARNING = _page("form", "moving/form.md"), _page("learning", "moving/learning.md")
WHOM = _page("who plays whom", "who-plays-whom.md")
CONTESTS = _page("contests", "contests.md")
ROUNDS, GLICKO = _page("rounds", "moving/rounds.md"), _page("deviations", "moving/deviations.md")
NEWCOMERS, WHICH_K = _page("newcomers", "moving/newcomers.md"), _page("which K?", "evidence.md#how-an-audit-computes-k")
RATERS, FILTER = _page("raters", "ratings.md#raters"), _page("the filter", "forecasting.md#the-filter-between-teams")
PLAYERS = _page("players", "forecasting.md#players-and-line-ups")
SEASONS = _page("seasons and cups", "forecasting.md#seasons-and-cups")
TESTED = _page("how forecasts are tested", "forecasting.md#how-forecasts-are-tested")
NEXT = _page("what to play next", "next-matches.md")
BACKWARDS = _page("strengths from ratings", "stationary.md#strengths-from-ratings")

EQUATIONS: dict[str, tuple[str, str]] = {
    "RatingSystem": ("Rᵢ ← Rᵢ + γ(S − b(Rᵢ − Rⱼ)), Rⱼ ← Rⱼ − γ(S − b(Rᵢ − Rⱼ))", INTRODUCTION),
    "Outcome": ("⟨S⟩ = b(λᵢ − λⱼ), b odd, increasing, bounded: assumption (B)", TEAMS),
    "Tanh": ("b(z) = tanh(νz)", INTRODUCTION),
    "Probit": ("b(z) = erf(νz)", _page("laws of your own", "extending.md")),
    "Davidson": ("win : tie : loss = e^{νz} : κ : e^{−νz}", _page("rating matches", "ratings.md#raters")),
    "Pairing": ("a pair that is drawn plays with probability w(rᵢ − rⱼ), w even", MACRO),
    "AllPlayAll": ("w ≡ 1", MACRO),
    "Local": ("w(z) = e^{ln 2/(1 + z²)} − 1", INTRODUCTION),
    "Window": ("w(z) = 1 for z in [−c, c], else 0", INTRODUCTION),
    "LooseWindow": ("w(z) = 1 for z in [−c, c], else a small chance", WHOM),
    "Strength": ("λ with mean θ and variance σ², drawn anew for every match", TEAMS),
    "Fixed": ("λ = θ", INTRODUCTION),
    "Normal": ("λ ~ N(θ, σ²)", TEAMS),
    "LineupLottery": ("λ = sum of ρ over m of M players", SETUPS),
    "Empirical": ("⟨S⟩ = Σ Σ b(xᵢ − xⱼ) p(xᵢ) p(xⱼ)", TEAMS),
    "Scaled": ("λ = θ + σX, ⟨X⟩ = 0, Var X = 1", _page("laws of your own", "extending.md")),
    "setup_r1": ("set-up R1", SETUPS),
    "setup_r2": ("set-up R2", SETUPS),
    "homogeneous": ("σ common, θ uniform", SCALING),
    "expected_result": ("s = ⟨b(λᵢ − λⱼ)⟩; the closure b + ½b″(σᵢ² + σⱼ²)", TEAMS),
    "outcome_probabilities": ("P(win) = ½(1 − P(tie) + s)", RATERS),
    "satisfies_b_prime": ("b + σ²b″ increases: assumption (B′)", SCALING),
    "Learning": ("ρᵢ ← ρᵢ + γ(α(1 − b(d)) + βX) + √γ σξ, d = ρᵢ − ρⱼ", LEARNING),
    "Form": ("dθ = −ω(θ − θ̄) dT + s dW", FORM),
    "Walk": ("dθ = s dW", FORM),
    "Turnover": ("a team leaves with some chance, a newcomer takes its place", NEWCOMERS),
    "StepRule": ("γ = γ(R, matches played, lines reached)", RATERS),
    "FideSteps": ("K = 2γ = 40, 20, 10", RATERS),
    "FallingSteps": ("γ(1 + boost · m/(m + n))", RATERS),
    "DeviationSteps": ("step νg v⁺, v = RD²", GLICKO),
    "Rounds": ("R ← R + γ Σⱼ (S − b(Rᵢ − Rⱼ)), ratings frozen", ROUNDS),
    "Period": ("the same for some matches per team", ROUNDS),
    "Field": ("Rₐ ← Rₐ + γ/(k − 1) Σ_b (S_ab − b(Rₐ − R_b)), S_ab = ±1 by order", CONTESTS),
    "simulate": ("the update of RatingSystem, match by match", SETUPS),
    "simulation_states": ("the update of RatingSystem, match by match", SETUPS),
    "simulate_matches": ("the update of RatingSystem, match by match", SETUPS),
    "solve": ("∂f/∂t + ∂(a[f] f)/∂r = 0, a[f] = ∫ w (⟨S⟩ − b(r − r′)) f′", MACRO),
    "kinetic_states": ("∂f/∂t + ∂(a[f] f)/∂r = 0", MACRO),
    "Population": ("f(θ, σ, r) ≥ 0, ∫f = 1", MACRO),
    "stationary": ("Σⱼ w (s_ij − b(Rᵢ − Rⱼ)) = 0 for every i", MAP),
    "StationaryState": ("Σⱼ w (s_ij − b(Rᵢ − Rⱼ)) = 0; covariance by a Lyapunov equation", NOISE),
    "Continuum": ("θ and σ uniform, N → ∞", MAP),
    "relaxation": ("the spectral gap of L = diag(Σⱼ b′) − b′", _page("time to settle", "stationary.md#time-to-settle")),
    "recover_strength": ("Σⱼ s(θᵢ − θⱼ) = Σⱼ b(Rᵢ − Rⱼ), solved for θ", BACKWARDS),
    "unbiased_gamma": ("slope of R on θ = 1, with ⟨b⟩ over the noise at γ", NOISE),
    "tracking": ("V = Var ρ, C = Cov(ρ, r), U = Var r; E = V − 2C + U", FORM),
    "best_gamma": ("γ* = argmin E(γ), E = noise + lag + bias", FORM),
    "critical_gamma": ("γ_c = 2/λ_max(L)", ROUNDS),
    "newcomer": ("dR/dt = ⟨s(θ − θⱼ) − b(R − Rⱼ)⟩", NEWCOMERS),
    "Results": ("Σⱼ wᵢⱼ (sᵢⱼ − b(Rᵢ − Rⱼ)) = 0 for any antisymmetric s", WHOM),
    "matchmaking": ("⟨|s|⟩ of games played against p ln 100/(γλ₂)", WHOM),
    "farming": ("Σⱼ qⱼ (sᵢⱼ − b(R − Rⱼ)) = 0, the best q", WHOM),
    "contest_worth": ("(k − 1)/(1 + (k − 2)ρ), ρ = ⟨e_ab e_ac⟩/⟨e²⟩", CONTESTS),
    "settled_deviations": ("Glicko's update at rest: RD grows as much as matches sharpen it", GLICKO),
    "strength_profile": ("the stationary density g of strengths that learn", LEARNING),
    "diagnose": ("the four answers above at once", _page("a verdict", "stationary.md#a-verdict")),
    "next_matches": ("argmax (cᵀP(eᵢ − eⱼ))²/(1/w + D) over cost, c = e_a − e_b", NEXT),
    "Elimination": ("E[j] ← 2pE[j], or 2(1 − p)E[j], of whoever was less likely to win; out at 1/α", NEXT),
    "tiers": ("a tier ends where all above are z standard errors from all below", NEXT),
    "watch": ("E = mean of L(δ)/L(0); the k largest with E_(k) ≥ n/(kq)", NEXT),
    "sequential_test": ("N Σ p̂ ln(p¹/p⁰), p^h the likeliest distribution of outcomes under each", NEXT),
    "audit": ("K* = argmin of the log-loss expected at K", WHICH_K),
    "changeover": ("R_new − R_old, in one unit, by start, K and home advantage", WHICH_K),
    "design": ("mean of (r − θ)² by theory and by simulation", _page("a design", "which-k.md#a-design")),
    "TeamElo": ("R ← R + step(S − ⟨S⟩) with ties, venue and margin", RATERS),
    "Glicko": ("Glickman's Glicko", RATERS),
    "Glicko2": ("Glickman's Glicko-2", RATERS),
    "FideElo": ("R ← R + K Σ (score − PD), rounded, on monthly lists", RATERS),
    "BradleyTerry": ("win : tie : loss = eˣ : κ : e⁻ˣ, x = aᵢ − aⱼ + γ·c, maximum likelihood", RATERS),
    "KalmanElo": ("θ ← θ + walk; a match shows its difference with noise", FILTER),
    "PlayerElo": ("λ = mean or sum of the line-up's strengths", PLAYERS),
    "backtest": ("−log P(result), Brier, RPS, one step ahead", TESTED),
    "season": ("one draw of strengths per season, then its matches", SEASONS),
    "knockout": ("a draw is decided at win : loss", SEASONS),
}
"""By public name."""


def standing(name: str) -> str:
    """What the reference says of a name: its equation, and where it stands."""
    if name not in EQUATIONS:
        return ""
    equation, place = EQUATIONS[name]
    return f"{equation} ({place})".replace("|", "∣")
