// Raters compared on the visitor's own matches, with progress and a way to stop.
import { $, element, fillTable } from "./words.js";

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

  #show({ words, raters, table }) {
    this.#end(words);
    const named = (key, at, text) => (key === "rater" ? element("td", {}, element("b", {}, text), element("div", { class: "soft" }, raters[at].meaning)) : null);
    const choose = (at) => element("button", { type: "button", class: "quiet", onclick: () => this.#choose(raters[at].short) }, "Rate", element("span", { class: "unseen" }, ` with ${raters[at].rater}`));
    fillTable($("#compare-table"), table, named, [{ label: "Choose", unseen: true, kind: "", cell: choose }]);
  }
}
