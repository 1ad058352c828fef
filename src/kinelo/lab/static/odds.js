// How a season or a cup may end, and what if a side were stronger.
import { $, element, fillTable, percent } from "./words.js";

const INPUTS = ["odds-kind", "odds-source", "odds-best", "odds-win", "odds-draw", "odds-relegated"];

export class Odds {
  #connection; #label; #points = {}; #asked = 0; #waiting = null;

  constructor(connection) {
    this.#connection = connection;
    $("#odds-form").addEventListener("submit", (event) => event.preventDefault());
    for (const id of INPUTS) $(`#${id}`).addEventListener("change", () => this.#ask());
    $("#odds-team").addEventListener("change", () => this.#place());
    $("#odds-points").addEventListener("input", () => {
      const [name, value] = [$("#odds-team").value, Number($("#odds-points").value)];
      if (value) this.#points[name] = value;
      else delete this.#points[name];
      this.#place();
      clearTimeout(this.#waiting);
      this.#waiting = setTimeout(() => this.#ask(), 120);
    });
    $("#odds-reset").addEventListener("click", () => {
      this.#points = {};
      this.#place();
      this.#ask();
    });
  }

  take(result, label) {
    this.#label = label;
    this.#points = {};
    const { fixtures } = result;
    const ranked = result.leaderboard.rows.filter((row) => result.teams.includes(row.name)).length;
    $("#odds-source").replaceChildren(...(fixtures ? [element("option", { value: "fixtures" }, `the fixtures: ${fixtures.left} of ${fixtures.matches} to be played`)] : []), element("option", { value: "best" }, "the best, everyone twice"));
    $("#odds-best").replaceChildren(...[2, 4, 8, 16, 32].filter((size) => size <= ranked).map((size) => element("option", { value: String(size), selected: size === 8 }, String(size))));
    $("#odds").hidden = !(fixtures || ranked > 1);
    $("#odds-what-if").hidden = !result.can_raise;
    for (const [rule, value] of Object.entries(result.rules)) $(`#odds-${rule}`).value = String(value);
    $("#odds-team").replaceChildren();
    this.#place();
    if (!$("#odds").hidden) this.#ask();
  }

  // The slider stands where the points of the chosen side are.
  #place() {
    const [name, signed] = [$("#odds-team").value, (value) => `${value > 0 ? "+" : "−"}${Math.abs(value)}`];
    const value = this.#points[name] ?? 0;
    $("#odds-points").value = String(value);
    $("#odds-value").textContent = value ? `${signed(value)} points` : "as rated";
    $("#odds-points").setAttribute("aria-valuetext", value ? `${signed(value)} points` : "as rated");
    const raised = Object.entries(this.#points);
    $("#odds-raised").textContent = raised.length ? `What if: ${raised.map(([one, more]) => `${this.#label(one)} ${signed(more)}`).join(", ")}.` : "";
    $("#odds-reset").hidden = !raised.length;
  }

  async #ask() {
    const number = ++this.#asked;
    const [kind, source, best, win, even, relegated] = INPUTS.map((id) => $(`#${id}`).value);
    $("#odds-best").parentElement.hidden = source !== "best";
    for (const id of ["odds-win", "odds-draw", "odds-relegated"]) $(`#${id}`).parentElement.hidden = kind !== "season";
    const body = { kind, fixtures: source === "fixtures", best: Number(best || 2), points: this.#points, rules: { win: Number(win), draw: Number(even), relegated: Number(relegated) } };
    try {
      const found = await this.#connection.ask("league/odds", { body });
      if (number === this.#asked) this.#show(found);
    } catch (error) {
      if (number === this.#asked) this.#say(error.message);
    }
  }

  #say(words) {
    $("#odds-words").textContent = words;
    $("#odds-table").replaceChildren();
  }

  // Whoever may be made stronger plays; the second of the table is a first choice.
  #sides(names) {
    const select = $("#odds-team");
    const kept = select.value;
    select.replaceChildren(...[...names].sort().map((name) => element("option", { value: name }, this.#label(name))));
    select.value = names.includes(kept) ? kept : names[1] ?? names[0];
    this.#place();
  }

  // Chances are shaded by how large they are; of a season every place has a bar.
  #show({ rows, table, words, bracket }) {
    this.#sides(rows.map(({ name }) => name));
    $("#odds-words").textContent = bracket ? `${words} ${bracket.map(this.#label).join(", ")}.` : words;
    const shade = (share) => `background:color-mix(in srgb, var(--accent) ${Math.round(45 * share)}%, transparent)`;
    const cell = (key, at, text) => (key === "name" ? element("td", { class: "who" }, this.#label(text))
      : text.includes("%") ? element("td", { class: "number", style: shade(rows[at][key]) }, text) : null);
    fillTable($("#odds-table"), table, cell, bracket ? [] : [{ label: "Places, first to last", kind: "bar", cell: (at) => places(rows[at].places) }]);
  }
}

export function places(shares) {
  const likeliest = shares.indexOf(Math.max(...shares)) + 1;
  return element("div", { class: "places", role: "img", "aria-label": `likeliest place ${likeliest}, ${percent(shares[likeliest - 1])}` },
    ...shares.map((share, k) => element("i", { style: `height:${Math.round(100 * share / Math.max(...shares))}%`, title: `place ${k + 1}: ${percent(share, 1)}` })));
}
