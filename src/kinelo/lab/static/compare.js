// Raters compared on the visitor's own matches, with progress and a way to stop.
import { $, element, figure, percent } from "./words.js";

export class Comparison {
  #connection; #choose; #asked = 0; #working = false;

  // `choose` takes the rater that the visitor takes.
  constructor(connection, choose) {
    this.#connection = connection;
    this.#choose = choose;
    $("#compare-go").addEventListener("click", () => this.#begin());
    $("#compare-stop").addEventListener("click", () => this.clear("The comparison was stopped."));
    connection.addEventListener("progress", ({ detail }) => {
      if (detail.subject === "compare" && this.#working && typeof detail.progress === "string") $("#compare-words").textContent = `Trying ${detail.progress}…`;
    });
  }

  clear(words = "") {
    this.#asked += 1;
    if (this.#working) this.#connection.ask("league/compare", { method: "DELETE" }).catch(() => {});
    this.#end(words);
    $("#compare-table").replaceChildren();
  }

  #end(words) {
    this.#working = false;
    $("#compare-working").hidden = true;
    $("#compare-go").disabled = false;
    $("#compare-words").textContent = words;
  }

  async #begin() {
    const number = ++this.#asked;
    this.#working = true;
    $("#compare-working").hidden = false;
    $("#compare-go").disabled = true;
    $("#compare-words").textContent = "Looking at the matches…";
    try {
      const found = await this.#connection.ask("league/compare");
      if (number === this.#asked) this.#show(found);
    } catch (error) {
      if (number === this.#asked) this.#end(error.message);
    }
  }

  #show(found) {
    const without = Object.entries(found.left_out).map(([name, why]) => ` ${name} was left out: ${why}`).join("");
    this.#end(`${found.words} Fitted on ${found.fitted.toLocaleString("en")} matches.${without}`);
    const head = ["Rater", "Log-loss", "Behind", "Brier", "Right", ""];
    const row = (one) => element("tr", {}, element("td", {}, element("b", {}, one.rater), element("div", { class: "soft" }, one.meaning)),
      element("td", { class: "number" }, one.log_loss.toFixed(4)), element("td", { class: "number" }, one.rater === found.chosen ? "chosen" : `${one.behind.toFixed(4)} ± ${one.error.toFixed(4)}`),
      element("td", { class: "number" }, figure(one.brier, 3)), element("td", { class: "number" }, percent(one.accuracy)),
      element("td", {}, element("button", { type: "button", class: "quiet", onclick: () => this.#choose(one.short) }, "Rate", element("span", { class: "unseen" }, ` with ${one.rater}`))));
    $("#compare-table").replaceChildren(element("thead", {}, element("tr", {}, ...head.map((text, k) => element("th", { scope: "col", class: k && k < 5 ? "number" : "" }, text || element("span", { class: "unseen" }, "Choose"))))),
      element("tbody", {}, ...found.rows.map(row)));
  }
}
