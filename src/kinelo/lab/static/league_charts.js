// The charts of the Explore tab.
import { baseLayout, colours, draw, restyle } from "./charts.js";

const MOST_POINTS = 600;
const TEAMS_TRACE = 4;
const PINNED_TRACE = 6;
const MIDDLE = 7;

// League and density stand on the same axes, which grow when a dot leaves them.
export class Axes {
  factor = 1; elo = false;

  begin({ moving }) { this.moving = moving; this.rating = [2.5, 11.5]; this.strength = [3.7, 10.3]; this.version = 0; }

  // Points as the paper counts them, or Elo points with the average team at 1500.
  scale(factor, elo) { [this.factor, this.elo] = [factor, elo]; }

  shown(values) { return this.elo ? Array.from(values, (value) => 1500 + (value - MIDDLE) * this.factor) : values; }

  get x() {
    const words = this.moving ? "strength at this moment (about the league's mean" : "true strength θ (average of a team";
    return { title: { text: `${words}${this.elo ? ", Elo points" : ""})` }, range: this.shown(this.strength) };
  }

  get y() { return { title: { text: `rating R${this.elo ? " (Elo points)" : ""}` }, range: this.shown(this.rating) }; }

  hold(ratings, strengths) {
    const rating = stretched(this.rating, ratings);
    const strength = stretched(this.strength, strengths);
    if (rating === this.rating && strength === this.strength) return;
    [this.rating, this.strength] = [rating, strength];
    this.version += 1;
  }
}

// The same interval where it holds all values, else one with room beyond them.
function stretched(interval, values) {
  const [low, high] = interval;
  let least = low; let most = high;
  for (const value of values) { least = Math.min(least, value); most = Math.max(most, value); }
  if (least >= low && most <= high) return interval;
  return [least < low ? least - 1 : low, most > high ? most + 1 : high];
}

// What is drawn is drawn anew unless only the ratings have changed since.
export class LeagueChart {
  #axes; #version = null; #theory = null;

  constructor(node, axes) { this.node = node; this.#axes = axes; }

  begin(started) {
    this.started = started;
    this.#theory = null;
    this.#version = null;
    this.dots = null;
    this.#axes.begin(started);
  }

  set theory(theory) {
    this.#theory = theory;
    this.#version = null;
  }

  redraw() {
    if (!this.started || !this.dots) return;
    this.#version = this.#axes.version;
    const c = colours();
    const { dots, beside } = this;
    const ends = [Math.min(...dots.strength), Math.max(...dots.strength)];
    const nothing = { theta: [], rating: [], deviation: [] };
    const t = this.#theory ?? nothing;
    const p = this.pinned ?? nothing;
    const { elo } = this.#axes;
    const digits = elo ? ".0f" : ".2f";
    const shown = (values) => this.#axes.shown(values);
    const line = (x, y, style) => ({ x: shown(x), y: shown(y), mode: "lines", hoverinfo: "skip", line: style });
    const teams = ({ strength, rating }, name, marker) => ({
      x: shown(strength), y: shown(rating), name, mode: "markers", marker: { size: strength.length > 250 ? 5 : 6.5, opacity: .85, ...marker },
      hovertemplate: `true strength %{x:${digits}}<br>rating %{y:${digits}}<extra></extra>`,
    });
    const data = [
      line(t.theta, t.rating.map((r, k) => r - 2 * t.deviation[k]), { width: 0 }),
      { ...line(t.theta, t.rating.map((r, k) => r + 2 * t.deviation[k]), { width: 0 }), fill: "tonexty", fillcolor: c.band },
      line(ends, ends, { color: c.truth, width: 1.6, dash: "dash" }),
      line(t.theta, t.rating, { color: c.prediction, width: 3, dash: t.note ? "dot" : "solid" }),
      teams(dots, "teams", { color: c.team }),
      { ...line(p.theta, p.rating, { color: c.good, width: 3, dash: "dashdot" }), name: "pinned, theory" },
      teams(beside ?? { strength: [], rating: [] }, "pinned, teams", { color: c.good, symbol: "diamond-open" }),
    ];
    draw(this.node, data, baseLayout({ xaxis: this.#axes.x, yaxis: this.#axes.y }));
  }

  frame(frame) {
    ({ dots: this.dots, beside: this.beside } = frame);
    for (const one of [this.dots, this.beside]) if (one) this.#axes.hold(one.rating, one.strength);
    if (this.hidden) { this.#version = null; return; }
    if (this.#version !== this.#axes.version) { this.redraw(); return; }
    const moved = [[this.dots, TEAMS_TRACE], [this.beside, PINNED_TRACE]].filter(([one]) => one);
    restyle(this.node, {
      x: moved.map(([one]) => this.#axes.shown(one.strength)), y: moved.map(([one]) => this.#axes.shown(one.rating)),
    }, moved.map(([, trace]) => trace));
  }
}

export class DensityChart {
  #axes; #version = null;

  constructor(node, axes) { this.node = node; this.#axes = axes; }

  begin(started) { this.started = started; this.rows = null; this.#version = null; }

  redraw() {
    if (!this.rows) return;
    this.#version = this.#axes.version;
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
    if (!columns || !frame.density) return;
    this.rows = this.started.density_rating.map((_, row) => new Uint8Array(frame.rest, frame.shades + row * columns, columns));
    if (this.hidden) { this.#version = null; return; }
    if (this.#version === this.#axes.version) restyle(this.node, { z: [this.rows] }, [0]);
    else this.redraw();
  }
}

// Numbers of each frame over the matches played; a long run is thinned.
class TimeChart {
  constructor(node) { this.node = node; this.#clear(); }

  #clear() { this.points = []; this.every = 1; this.count = 0; }

  begin({ controls } = {}) {
    this.#clear();
    this.unit = controls?.sides > 2 ? "contests" : "matches";
  }

  frame(frame) {
    this.count += 1;
    if (this.count % this.every) return;
    this.points.push([frame.time, ...this.numbers(frame)]);
    if (this.points.length > MOST_POINTS) {
      this.points = this.points.filter((_, k) => k % 2 === 0);
      this.every *= 2;
    }
  }

  curve(k, name, line, shown = (values) => values) {
    return {
      x: this.points.map((point) => point[0]), y: shown(this.points.map((point) => point[k])), name, mode: "lines", line,
      hovertemplate: `${name}: %{y:.3~g}<extra></extra>`,
    };
  }

  draw(curves, yaxis) {
    draw(this.node, curves, baseLayout({
      xaxis: { title: { text: `${this.unit} per team` }, rangemode: "tozero" }, yaxis, hovermode: "x", margin: { l: 68, r: 12, t: 8, b: 44 },
    }));
  }
}

export class CurvesChart extends TimeChart {
  constructor(node, axes) { super(node); this.axes = axes; }

  numbers(frame) { return [frame.energy, frame.distance, frame.kinetic_energy, frame.kinetic_distance]; }

  redraw() {
    const c = colours();
    this.draw([
      this.root(3, "to true strength, vanishing steps", { color: c.truth, width: 2, dash: "dot" }),
      this.root(4, "to its own limit, vanishing steps", { color: c.prediction, width: 2, dash: "dot" }),
      this.root(1, "to true strength", { color: c.truth, width: 2.5 }),
      this.root(2, "to the prediction", { color: c.prediction, width: 2.5 }),
    ], { title: { text: this.axes.elo ? "gap (Elo points)" : "gap (points)" }, type: "log", dtick: "D2", exponentformat: "none", range: this.#range() });
  }

  // The root of a mean square, in the points of the page.
  root(k, name, line) {
    return this.curve(k, name, line, (squares) => squares.map((one) => (one === null ? null : this.axes.factor * Math.sqrt(one))));
  }

  // What has been seen, with a little room, from a hundredth of a point of the model up.
  #range() {
    const seen = this.points.flatMap((point) => point.slice(1)).filter((value) => value > 0).map(Math.sqrt);
    const ends = [0.8 * Math.max(0.03, Math.min(...seen, 0.3)), 1.25 * Math.max(...seen, 1)];
    return ends.map((one) => Math.log10(one * this.axes.factor));
  }
}

// One team's strength and the rating that follows it, where strengths move.
export class PathChart extends TimeChart {
  constructor(node, axes) { super(node); this.axes = axes; }

  numbers(frame) { return frame.followed; }

  redraw() {
    const c = colours();
    const shown = (values) => this.axes.shown(values);
    this.draw([
      this.curve(1, "strength", { color: c.truth, width: 2.5 }, shown), this.curve(2, "rating", { color: c.team, width: 2.5 }, shown),
    ], { title: { text: this.axes.elo ? "Elo points" : "points" } });
  }
}
