"""The symbols of the paper and of this report, each in a sentence."""

GLOSSARY = (
    ("λ", "strength of a team in one match; random, as line-ups and form change"),
    ("θ", "mean strength of a team, ⟨λ⟩"),
    ("σ", "standard deviation of a team's strength from match to match"),
    ("R, r", "rating of a team (r in the kinetic equation)"),
    ("S", "result of a match: 1 or −1"),
    ("s", "expected result of a match between two teams, ⟨b(λᵢ − λⱼ)⟩"),
    ("b", "outcome function, b(z) = tanh(νz): the expected result at a lead of z points"),
    ("ν", "scale of b: how much a lead of one point decides"),
    ("w", "pairing: how readily two teams meet, by the difference of their ratings; w ≡ 1 is all-play-all"),
    ("γ", "step size: how far one match moves a rating"),
    ("f", "density of teams over (θ, σ, r)"),
    ("E", "∫(r − θ)² f, mean squared distance of ratings from mean strengths"),
    ("R*", "stationary map: the rating at which a team of given θ and σ rests, as γ → 0"),
    ("λ₂", "spectral gap: the rate, per unit of γ × matches per team, at which ratings settle"),
    ("(B′)", "the paper's condition that b + σ²b″ increases; for tanh, νσ < 1/√2"),
)
"""Symbol and meaning."""
