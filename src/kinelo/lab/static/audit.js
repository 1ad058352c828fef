// Is my rating system any good? The verdict first, then the curve over K, what moving to the best K buys, and strong and weak sides.
import { baseLayout, colours, draw } from "./charts.js";
import { $, element, figure } from "./words.js";

const TICKS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];

export class LeagueAudit {
  #connection; #found = null; #asked = 0; #working = false;

  constructor(connection) {
    this.#connection = connection;
    $("#audit-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.begin();
    });
    $("#audit-cancel").addEventListener("click", () => this.#cancel("The audit was cancelled."));
    connection.addEventListener("progress", ({ detail }) => {
      if (detail.subject === "audit" && this.#working && typeof detail.progress === "string") this.#say(`${detail.progress}…`);
    });
  }

  // An answer to an older question is not shown.
  async begin() {
    const number = this.#start();
    const k = Number($("#audit-k").value);
    try {
      if (!(k > 0)) throw new Error("K must be a number above 0.");
      const found = await this.#connection.ask("league/audit", { body: { k } });
      if (number === this.#asked) this.#show(found);
    } catch (error) {
      if (number === this.#asked) this.#stop(error.message);
    }
  }

  clear() {
    if (this.#working) this.#cancel("");
    this.#found = null;
    $("#audit-found").hidden = true;
  }

  redraw() {
    if (this.#found) this.#drawCurve();
  }

  #say(text) { $("#audit-verdict").textContent = text; }

  #start() {
    this.#working = true;
    this.#found = null;
    $("#audit-working").hidden = false;
    $("#audit-found").hidden = true;
    this.#say("Looking at the matches…");
    return ++this.#asked;
  }

  #stop(words) {
    this.#working = false;
    $("#audit-working").hidden = true;
    this.#say(words);
  }

  #cancel(words) {
    this.#asked += 1;
    this.#stop(words);
    this.#connection.ask("league/audit", { method: "DELETE" }).catch(() => {});
  }

  #show(found) {
    this.#found = found;
    this.#stop(found.verdict);
    $("#audit-found").hidden = false;
    $("#audit-bounded").textContent = found.bounded ?? "";
    $("#audit-bounded").hidden = !found.bounded;
    this.#drawGain();
    this.#drawBands();
    $("#audit-rows").replaceChildren(...found.rows.flatMap(([name, words]) => [element("dt", {}, name), element("dd", {}, words)]));
    $("#audit-notes").replaceChildren(...found.notes.map((note) => element("p", { class: "soft" }, note)));
    this.redraw();
  }

  // What is best from today on comes first; where the past wanted another K, that stands after it.
  #drawGain() {
    const { k, advice, outlook, theory, measured, now, best, gain, tested } = this.#found;
    const way = (value) => `${value >= 0 ? "lowers" : "raises"} it by ${Math.abs(value).toFixed(4)}`;
    const off = ({ error }) => Math.sqrt(Math.max(error, 0)).toFixed(0);
    const ends = ({ low, high }) => `95 %: ${figure(low)} to ${figure(high)}`;
    const found = `${ends(advice)}; ${figure(theory.k)} by theory, ${figure(measured.best)} by backtest`;
    $("#audit-gain").replaceChildren(
      element("b", {}, outlook.differs ? `Best K from today on = ${figure(outlook.k)}` : `Best K = ${figure(advice.k)}`),
      outlook.differs ? ` (${ends(outlook)}). The matches of the past wanted K = ${figure(advice.k)} (${found}). ` : ` (${found}). `,
      `${outlook.differs ? `K = ${figure(advice.k)} would have taken` : `Moving there from ${figure(k)} takes`} the error of a rating from ± ${off(now)} to ± ${off(best)} points; `,
      `of the log-loss, theory says that it ${way(gain)}, and the later half of the matches that it ${way(tested.gain.mean)}.`);
  }

  #drawBands() {
    const { bands } = this.#found;
    if (bands.length < 2) {
      $("#audit-bands").replaceChildren(element("tbody", {}, element("tr", {}, element("td", {}, "Too few matches to tell strong and weak sides apart."))));
      return;
    }
    const names = ["Fifth", "Rating", "Is rated", "Slope"];
    const label = (n) => (n === 0 ? "weakest" : n === bands.length - 1 ? "best" : "");
    const pair = (value, error, digits) => (value === null ? "–" : `${value.toFixed(digits)} ± ${error.toFixed(digits)}`);
    const tilt = ({ underrated, error }) => (underrated === null ? "–" : `${Math.abs(underrated).toFixed(0)} ± ${error.toFixed(0)} ${underrated < 0 ? "too high" : "too low"}`);
    $("#audit-bands").replaceChildren(
      element("thead", {}, element("tr", {}, ...names.map((name, n) => element("th", { scope: "col", class: n ? "number" : "" }, name)))),
      element("tbody", {}, ...bands.map((band, n) => element("tr", {}, element("td", {}, `${n + 1}${label(n) ? ` (${label(n)})` : ""}`),
        element("td", { class: "number" }, band.rating.toFixed(0)), element("td", { class: "number" }, tilt(band)),
        element("td", { class: "number" }, pair(band.slope, band.slope_error, 2))))));
  }

  #drawCurve() {
    const { curve, measured, advice, outlook, k } = this.#found;
    const c = colours();
    // Of the theory's curve differences are to be trusted, the level less so.
    const [expected, seen] = [curve, measured].map(({ log_loss: losses }) => losses.map((loss) => loss - Math.min(...losses)));
    const all = [...expected, ...seen];
    const [low, high] = [Math.min(...all), Math.max(...all)];
    const ends = [low - 0.06 * (high - low), high + 0.06 * (high - low)];
    const upright = (at, name, dash, color) => ({ x: [at, at], y: ends, mode: "lines", name, hoverinfo: "skip", line: { color, width: 1.6, dash } });
    draw($("#audit-chart"), [
      { x: [outlook.low, outlook.high, outlook.high, outlook.low], y: [ends[0], ends[0], ends[1], ends[1]], fill: "toself", fillcolor: c.band, mode: "none", hoverinfo: "skip", showlegend: false },
      { x: curve.k, y: expected, mode: "lines", name: "theory", line: { color: c.prediction, width: 3 }, hovertemplate: "K = %{x:.3g}: %{y:.4f} by theory<extra></extra>" },
      { x: measured.k, y: seen, mode: "markers", name: "backtest", marker: { color: c.team, size: 6.5 }, hovertemplate: "K = %{x:.3g}: %{y:.4f} measured<extra></extra>" },
      upright(outlook.k, outlook.differs ? `best from today on: ${figure(outlook.k)}` : `best: ${figure(advice.k)}`, "dash", c.prediction),
      upright(k, `in use: ${figure(k)}`, "dot", c.truth),
      ...(outlook.differs ? [upright(advice.k, `wanted by the past: ${figure(advice.k)}`, "longdash", c.team)] : []),
    ], baseLayout({
      xaxis: { title: { text: "K" }, type: "log", tickvals: TICKS, ticktext: TICKS.map(String) },
      yaxis: { title: { text: "log-loss above the least" }, range: ends, tickformat: ".4f" },
      showlegend: true, legend: { orientation: "h", y: 1.12, font: { color: c.muted, size: 12 } }, margin: { l: 70, r: 12, t: 34, b: 42 },
    }));
    $("#audit-chart").setAttribute("aria-label", `Log-loss over K, theory and backtest; the best K is ${figure(outlook.k)}, in use is ${figure(k)}`);
  }
}
