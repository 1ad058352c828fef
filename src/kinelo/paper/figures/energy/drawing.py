"""E from r = θ, distance to R* from r ≡ 7, and the second moment from r ≡ 7, for both closures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinelo.pictures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kinelo.paper.figures.energy.evidence import Energy


def draw(data: Energy) -> Figure:
    """Three panels with one legend below them."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 2.8)
        rise, decay, moment = figure.subplots(1, 3)
        for closure, colour in (("exact", style.EXACT), ("taylor", style.TAYLOR)):
            label = "exact" if closure == "exact" else "Taylor"
            diagonal, flat = data.runs[f"from r = θ, {closure}"], data.runs[f"from r = 7, {closure}"]
            rise.plot(diagonal.time, diagonal.energy, color=colour, linestyle="--")
            rise.axhline(diagonal.predicted_energy, color=colour, linestyle=":", linewidth=0.9)
            decay.plot(flat.time, flat.energy, color=colour, linestyle="--", label=f"E, {label}")
            decay.plot(flat.time, flat.distance, color=colour, label=f"distance to R*, {label}")
            moment.plot(flat.time, flat.variance, color=colour)
        guide = data.runs["from r = 7, exact"]
        decay.plot(guide.time, guide.asymptote, color=style.BLACK, linestyle=":", linewidth=0.9, label="rate 2λ₂")
        rise.set(xlabel="time γt", ylabel="E = ∫(r − θ)² f", title="(a) started on r = θ", ylim=(0, None))
        decay.set(xlabel="time γt", ylabel="squared distance", title="(b) started on r = 7", yscale="log")
        moment.set(
            xlabel="time γt", ylabel="second moment of r about its mean", title="(c) started on r = 7", ylim=(0, None)
        )
        decay.set_ylim(bottom=0.3 * float(guide.distance.min()))
        figure.legend(*decay.get_legend_handles_labels(), loc="outside lower center", ncols=5)
        return figure
