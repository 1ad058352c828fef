// Is my rating system any good? The verdict first, then the curve over K, what moving to the best K buys, and strong and weak sides.
import { plot } from "./charts.js";
import { $, element, figure, fillTable } from "./words.js";

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
    if (!this.#found) return;
    plot($("#audit-chart"), this.#found.chart);
    $("#audit-chart").setAttribute("aria-label", this.#found.chart.label);
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
    fillTable($("#audit-bands"), found.fifths);
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
}
