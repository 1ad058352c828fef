// What to play next: asked by a button, since the lab looks at every pair.
import { $, element, fillTable } from "./words.js";

export class Next {
  #connection; #label; #asked = 0;

  constructor(connection) {
    this.#connection = connection;
    $("#next-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#ask();
    });
  }

  // Of contests, `size` is how many meet in one of them.
  take({ size }, label) {
    this.#label = label;
    this.#asked += 1;
    $("#next-size").parentElement.hidden = !size;
    $("#next-size").value = String(size ?? 2);
    $("#next-noun").textContent = size ? "contests" : "matches";
    $("#next-table").replaceChildren();
    $("#next-words").textContent = "";
  }

  async #ask() {
    const number = ++this.#asked;
    $("#next-words").textContent = "Looking at every pair…";
    try {
      const [target, count, size] = ["target", "count", "size"].map((name) => $(`#next-${name}`).value);
      const found = await this.#connection.ask("league/next", { body: { target, count: Number(count), size: Number(size) } });
      if (number === this.#asked) this.#show(found);
    } catch (error) {
      if (number === this.#asked) $("#next-words").textContent = error.message;
    }
  }

  #show({ words, table }) {
    $("#next-words").textContent = words;
    fillTable($("#next-table"), table, (key, _, text) => (["home", "away"].includes(key) ? element("td", {}, this.#label(text)) : null));
  }
}
