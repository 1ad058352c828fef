// Is my rating system any good? The verdict first, then the curve over K, what moving to the best K buys, and of matches strong and weak sides.
import { plot } from "./charts.js";
import { $, element, fillTable } from "./words.js";

export class LeagueAudit {
  #connection; #found = null; #asked = 0; #working = false; #noun = "matches"; #groups = {};

  constructor(connection) {
    this.#connection = connection;
    $("#audit-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.begin();
    });
    $("#audit-cancel").addEventListener("click", () => this.#cancel("The audit was cancelled."));
    for (const id of ["audit-rater", "audit-by"]) $(`#${id}`).addEventListener("change", () => this.#fit());
    connection.addEventListener("progress", ({ detail }) => {
      if (detail.subject === "audit" && this.#working && typeof detail.progress === "string") this.#say(`${detail.progress}…`);
    });
  }

  // A league of matches or of contests: what may be in use, and by which groups it may be asked.
  take({ each_row: noun, raters, groups }) {
    this.#noun = noun;
    this.#groups = groups ?? {};
    const fill = (id, first, options) => $(`#${id}`).replaceChildren(element("option", { value: "" }, first), ...options.map(([value, text]) => element("option", { value }, text)));
    fill("audit-rater", "plain Elo", Object.entries(raters));
    fill("audit-by", "–", Object.keys(this.#groups).map((name) => [name, name]));
    $("#audit-by").parentElement.hidden = !Object.keys(this.#groups).length;
    this.#fit();
    this.begin();
  }

  // A rater other than plain Elo has no K in use; groups are told next to one of them, or to all sides.
  #fit() {
    const levels = this.#groups[$("#audit-by").value];
    $("#audit-k").parentElement.hidden = $("#audit-rater").value !== "";
    $("#audit-reference").parentElement.hidden = !levels;
    $("#audit-reference").replaceChildren(element("option", { value: "" }, "all sides"), ...(levels ?? []).map((one) => element("option", { value: one }, one)));
  }

  // An answer to an older question is not shown.
  async begin() {
    const number = this.#start();
    const [rater, by, reference] = ["rater", "by", "reference"].map((name) => $(`#audit-${name}`).value);
    try {
      const found = await this.#connection.ask("league/audit", { body: { k: Number($("#audit-k").value), rater, by, reference } });
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
  }

  #say(text) { $("#audit-verdict").textContent = text; }

  #start() {
    this.#working = true;
    this.#found = null;
    $("#audit-working").hidden = false;
    $("#audit-found").hidden = true;
    this.#say(`Looking at the ${this.#noun}…`);
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
    const line = found.chart.traces.some(({ name }) => name === "theory") ? "the line is theory, " : "";
    $("#audit-caption").textContent = `Log-loss of ${this.#noun === "contests" ? "orders" : "forecasts"} over K: ${line}the dots are the later half of the ${this.#noun}, played through with that K.`;
    $("#audit-gain").replaceChildren(element("b", {}, found.best[0]), ` ${found.best[1]}`);
    $("#audit-fifths").hidden = !found.fifths;
    if (found.fifths) fillTable($("#audit-bands"), found.fifths);
    const lines = (rows) => rows.flatMap(([name, words]) => [element("dt", {}, name), element("dd", {}, words)]);
    $("#audit-findings").replaceChildren(...found.findings.map((words) => element("li", {}, words)));
    $("#audit-rows").replaceChildren(element("dl", {}, ...lines(found.rows)));
    $("#audit-notes").replaceChildren(...found.notes.map((note) => element("p", { class: "soft" }, note)));
    this.redraw();
  }
}
