// The three charts of the Explore tab.
import { baseLayout, colours, draw, restyle } from "./charts.js";

const MOST_POINTS = 600;
const TEAMS_TRACE = 4;
const MIDDLE = 7;

// League and density stand on the same axes; the rating axis grows when a rating leaves it.
export class Axes {
  factor = 1; elo = false;

  begin() { this.rating = [2.5, 11.5]; }

  // Points as the paper counts them, or Elo points with the average team at 1500.
  scale(factor, elo) { [this.factor, this.elo] = [factor, elo]; }

  shown(values) { return this.elo ? Array.from(values, (value) => 1500 + (value - MIDDLE) * this.factor) : values; }

  get x() { return { title: { text: `true strength θ (average of a team${this.elo ? ", Elo points" : ""})` }, range: this.shown([3.7, 10.3]) }; }

  get y() { return { title: { text: `rating R${this.elo ? " (Elo points)" : ""}` }, range: this.shown(this.rating) }; }

  hold(ratings) {
    const [low, high] = this.rating;
    let least = low; let most = high;
    for (const value of ratings) { least = Math.min(least, value); most = Math.max(most, value); }
    if (least < low || most > high) this.rating = [least < low ? least - 1 : low, most > high ? most + 1 : high];
  }
}

// What is drawn is drawn anew unless only the ratings have changed since.
export class LeagueChart {
  #axes; #range = null; #theory = null;

  constructor(node, axes) { this.node = node; this.#axes = axes; }

  begin(started) {
    this.started = started;
    this.#theory = null;
    this.#range = null;
    this.rating = null;
    this.#axes.begin();
  }

  set theory(theory) {
    this.#theory = theory;
    this.#range = null;
  }

  redraw() {
    if (!this.started || !this.rating) return;
    this.#range = this.#axes.rating;
    const c = colours();
    const { theta } = this.started;
    const ends = [Math.min(...theta), Math.max(...theta)];
    const nothing = { theta: [], rating: [], deviation: [] };
    const t = this.#theory ?? nothing;
    const p = this.pinned ?? nothing;
    const { elo } = this.#axes;
    const digits = elo ? ".0f" : ".2f";
    const shown = (values) => this.#axes.shown(values);
    const line = (x, y, style) => ({ x: shown(x), y: shown(y), mode: "lines", hoverinfo: "skip", line: style });
    const data = [
      line(t.theta, t.rating.map((r, k) => r - 2 * t.deviation[k]), { width: 0 }),
      { ...line(t.theta, t.rating.map((r, k) => r + 2 * t.deviation[k]), { width: 0 }), fill: "tonexty", fillcolor: c.band },
      line(ends, ends, { color: c.truth, width: 1.6, dash: "dash" }),
      line(t.theta, t.rating, { color: c.prediction, width: 3, dash: t.note ? "dot" : "solid" }),
      {
        x: shown(theta), y: shown(this.rating), mode: "markers", marker: { color: c.team, size: theta.length > 250 ? 5 : 6.5, opacity: .85 },
        hovertemplate: `true strength %{x:${digits}}<br>rating %{y:${digits}}<extra></extra>`,
      },
      { ...line(p.theta, p.rating, { color: c.good, width: 3, dash: "dashdot" }), name: "pinned" },
    ];
    draw(this.node, data, baseLayout({ xaxis: this.#axes.x, yaxis: this.#axes.y }));
  }

  frame(frame) {
    this.rating = new Float32Array(frame.rest, frame.offset, this.started.theta.length);
    this.#axes.hold(this.rating);
    if (this.#range === this.#axes.rating) restyle(this.node, { y: [this.#axes.shown(this.rating)] }, [TEAMS_TRACE]);
    else this.redraw();
  }
}

export class DensityChart {
  #axes; #range = null;

  constructor(node, axes) { this.node = node; this.#axes = axes; }

  begin(started) { this.started = started; this.rows = null; this.#range = null; }

  redraw() {
    if (!this.rows) return;
    this.#range = this.#axes.rating;
    const c = colours();
    const [x, y] = [this.started.density_theta, this.started.density_rating].map((one) => this.#axes.shown(one));
    const ends = [x[0], x[x.length - 1]];
    draw(this.node, [
      {
        type: "heatmap", x, y, z: this.rows, zmin: 0, zmax: 255, showscale: false, hoverinfo: "skip", zsmooth: "fast",
        colorscale: [[0, c["density-low"]], [.45, c["density-mid"]], [1, c["density-high"]]],
      },
      { x: ends, y: ends, mode: "lines", hoverinfo: "skip", line: { color: c.truth, width: 1.6, dash: "dash" } },
    ], baseLayout({
      xaxis: { ...this.#axes.x, showgrid: false }, yaxis: { ...this.#axes.y, showgrid: false, zeroline: false },
    }));
  }

  frame(frame) {
    const columns = this.started.density_theta.length;
    const start = frame.offset + 4 * this.started.theta.length;
    this.rows = this.started.density_rating.map((_, row) => new Uint8Array(frame.rest, start + row * columns, columns));
    if (this.#range === this.#axes.rating) restyle(this.node, { z: [this.rows] }, [0]);
    else this.redraw();
  }
}

export class CurvesChart {
  constructor(node) { this.node = node; this.#clear(); }

  #clear() { this.points = []; this.every = 1; this.count = 0; }

  begin() { this.#clear(); }

  frame(frame) {
    this.count += 1;
    if (this.count % this.every) return;
    this.points.push([frame.time, frame.energy, frame.distance, frame.kinetic_energy, frame.kinetic_distance]);
    if (this.points.length > MOST_POINTS) {
      this.points = this.points.filter((_, k) => k % 2 === 0);
      this.every *= 2;
    }
  }

  redraw() {
    const c = colours();
    const x = this.points.map((point) => point[0]);
    const curve = (k, name, line) => ({
      x, y: this.points.map((point) => point[k]), name, mode: "lines", line,
      hovertemplate: `${name}: %{y:.3g}<extra></extra>`,
    });
    draw(this.node, [
      curve(3, "to true strength, vanishing steps", { color: c.truth, width: 2, dash: "dot" }),
      curve(4, "to its own limit, vanishing steps", { color: c.prediction, width: 2, dash: "dot" }),
      curve(1, "to true strength", { color: c.truth, width: 2.5 }),
      curve(2, "to the prediction", { color: c.prediction, width: 2.5 }),
    ], baseLayout({
      xaxis: { title: { text: "matches per team" }, rangemode: "tozero" },
      yaxis: { title: { text: "mean squared gap (points²)" }, type: "log", dtick: 1, exponentformat: "none", range: this.#range() },
      hovermode: "x", margin: { l: 60, r: 12, t: 8, b: 42 },
    }));
  }

  // Decades that hold what has been seen, from 0.001 up.
  #range() {
    const seen = this.points.flatMap((point) => point.slice(1)).filter((value) => value > 0);
    const low = Math.max(-3, Math.floor(Math.log10(Math.min(...seen, 0.1))));
    return [low, Math.max(1, Math.ceil(Math.log10(Math.max(...seen, 1))))];
  }
}
