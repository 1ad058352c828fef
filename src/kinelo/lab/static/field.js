// What if they met in one contest? Chances of every entrant of a field that the visitor puts together.
import { $, element, percent } from "./words.js";
import { places } from "./odds.js";

export class Field {
  #connection; #result = null; #label; #entrants = []; #asked = 0;

  constructor(connection) {
    this.#connection = connection;
    $("#field").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#add();
    });
    $("#field-choice").addEventListener("change", () => this.#choose());
  }

  take(result, label) {
    [this.#result, this.#label] = [result, label];
    const one = result.kinds.length === 1;
    $("#field-choice").replaceChildren(...result.fields.map(({ label: text }, k) => element("option", { value: String(k) }, text)),
      ...(one ? [element("option", { value: "best" }, "the best eight")] : []), element("option", { value: "none" }, "nobody yet"));
    $("#field-add").replaceChildren(...result.kinds.map((kind) => element("label", {}, kind,
      element("select", { "data-kind": kind }, ...result.names[kind].map((name) => element("option", { value: name }, this.#shown(kind, name)))))),
    element("button", {}, "Add"));
    $("#field-levels").replaceChildren(...Object.entries(result.levels).map(([column, levels]) => element("label", {}, column,
      element("select", { "data-level": column, onchange: () => this.#ask() }, element("option", { value: "" }, "unknown"), ...levels.map((level) => element("option", { value: level }, level))))));
    this.#choose();
  }

  get #levels() {
    return Object.fromEntries([...document.querySelectorAll("[data-level]")].map((one) => [one.dataset.level, one.value]));
  }

  // A name as its board shows it.
  #shown(kind, name) { return this.#label(this.#result.kinds.length === 1 ? name : `${kind}: ${name}`); }

  #choose() {
    const value = $("#field-choice").value;
    const best = () => this.#result.leaderboard.rows.slice(0, 8).map(({ name }) => [[name], ...this.#zeros]);
    const field = this.#result.fields[Number(value)];
    this.#entrants = value === "none" ? [] : value === "best" ? best() : [...field.entrants];
    for (const one of document.querySelectorAll("[data-level]")) one.value = field?.conditions[one.dataset.level] ?? "";
    this.#ask();
  }

  #add() {
    const entrant = [...[...document.querySelectorAll("#field-add select")].map((select) => [select.value]), ...this.#zeros];
    if (!this.#entrants.some((one) => one[0].join() === entrant[0].join())) this.#entrants.push(entrant);
    else return this.#say(`${this.#name(entrant)} is there already.`);
    return this.#ask();
  }

  // Numbers stand behind the names; an entrant of whom nobody says one has 0.
  get #zeros() { return this.#result.numbers.map(() => ["0"]); }

  #name(entrant) {
    return entrant.slice(0, this.#result.kinds.length).map((names, k) => names.map((name) => this.#shown(this.#result.kinds[k], name)).join(" + ")).join(", ");
  }

  #say(words) { $("#field-words").textContent = words; }

  async #ask() {
    const [number, entrants] = [++this.#asked, [...this.#entrants]];
    if (entrants.length < 2) {
      this.#show(entrants, { rows: entrants.map((_, k) => ({ entrant: k })), unknown: [] });
      this.#say("A field has two entrants or more: add some.");
      return;
    }
    try {
      const found = await this.#connection.ask("league/field", { body: { entrants, conditions: this.#levels } });
      if (number === this.#asked) this.#show(entrants, found);
    } catch (error) {
      if (number === this.#asked) this.#say(error.message);
    }
  }

  #show(entrants, { rows, unknown, why_not: why }) {
    this.#say([unknown.length ? `${unknown.join(", ")}: not met before, forecast as newcomers.` : "", why ?? ""].join(" ").trim());
    const known = rows.length > 1;
    const changes = rows.some((row) => row.changes);
    const signed = (value) => (value === null || value === undefined ? "–" : `${value < 0 ? "" : "+"}${value.toFixed(1)}`);
    const cell = (text) => element("td", { class: "number" }, text);
    const remove = (k) => element("button", { type: "button", class: "quiet", "aria-label": `Remove ${this.#name(entrants[k])}`, onclick: () => {
      this.#entrants = this.#entrants.filter((one) => one !== entrants[k]);
      this.#ask();
    } }, "×");
    const { kinds, numbers } = this.#result;
    const typed = (k, n) => element("td", {}, element("input", { type: "number", step: "any", class: "short", value: entrants[k][kinds.length + n][0], "aria-label": `${numbers[n]} of ${this.#name(entrants[k])}`, onchange: ({ target }) => {
      this.#entrants = this.#entrants.map((one) => (one === entrants[k] ? one.with(kinds.length + n, [target.value || "0"]) : one));
      this.#ask();
    } }));
    const head = ["Entrant", ...numbers, ...(known ? ["Wins", "First three", "Expected place", "Places, first to last", ...(changes ? ["If first", "If last"] : [])] : []), ""];
    $("#field-table").replaceChildren(
      element("thead", {}, element("tr", {}, ...head.map((text, k) => element("th", { scope: "col", class: text.startsWith("Places") ? "bar" : k && text ? "number" : "" }, text || element("span", { class: "unseen" }, "Remove"))))),
      element("tbody", {}, ...rows.map((row) => element("tr", {}, element("td", { class: "who" }, this.#name(entrants[row.entrant])), ...numbers.map((_, n) => typed(row.entrant, n)),
        ...(known ? [cell(percent(row.win, 1)), cell(percent(row.top_3)), cell(row.expected_place.toFixed(1)), element("td", { class: "bar" }, places(row.places)), ...(changes ? [0, 1].map((k) => cell(signed(row.changes?.[k]))) : [])] : []),
        element("td", {}, remove(row.entrant))))));
  }
}
