// The page of one side or player: rating and place through time, the biggest upsets, what comes next.
import { baseLayout, colours, draw } from "./charts.js";
import { $, counted, element, fillTable, percent } from "./words.js";

export class TeamView {
  #connection; #label = (name) => name; #sides = ["Home", "Away"]; #shown = null; #asked = 0;

  constructor(connection) { this.#connection = connection; }

  // Opens the page of a name, or closes it; what is asked for later is what is shown.
  async open(name, label, sides) {
    const number = ++this.#asked;
    this.#label = label;
    this.#sides = sides ?? ["Home", "Away"];
    this.#shown = null;
    $("#league-view").hidden = name !== null;
    $("#team-view").hidden = name === null;
    if (name === null) return;
    $("#team-name").textContent = label(name);
    $("#team-words").textContent = "Following it through its matches…";
    $("#team-found").hidden = true;
    $("#team-name").focus({ preventScroll: true });
    window.scrollTo(0, 0);
    try {
      const found = await this.#connection.ask("league/team", { body: { name } });
      if (number !== this.#asked) return;
      this.#show(found);
      $("#why-words").textContent = "Rating its last matches again, one by one…";
      $("#team-why").replaceChildren();
      const why = await this.#connection.ask("league/why", { body: { name } }).catch((error) => ({ words: error.message, table: null }));
      if (number !== this.#asked) return;
      $("#why-words").textContent = why.words;
      if (why.table) fillTable($("#team-why"), why.table);
    } catch (error) {
      if (number === this.#asked) $("#team-words").textContent = error.message;
    }
  }

  #show(found) {
    this.#shown = found;
    const { today } = found;
    const place = found.ranks.place.at(-1);
    const doubt = today.uncertainty === null ? "" : ` ± ${today.uncertainty.toFixed(0)}`;
    $("#team-words").textContent = `Rated ${today.rating.toFixed(0)}${doubt} after ${counted(today.matches, found.surprises ? "contests" : "matches")}` +
      `${found.last_played ? `, the last on ${found.last_played}` : ""}.` +
      (place ? ` By rating it is number ${place} of ${found.ranks.of.at(-1)} who played within a year.` : " It has not played within a year.");
    $("#team-found").hidden = false;
    if (found.surprises) {
      this.#coming();
      this.#surprises();
    } else {
      this.#fixtures();
      this.#upsets();
    }
    this.redraw();
  }

  redraw() {
    if (!this.#shown || $("#team-view").hidden) return;
    const { history, ranks } = this.#shown;
    const c = colours();
    const known = history.uncertainty.some((value) => value !== null && value > 0);
    const ends = (sign) => history.rating.map((value, k) => (value === null ? null : value + sign * (history.uncertainty[k] ?? 0)));
    const name = this.#label(this.#shown.name);
    const zoom = { xaxis: { type: "date", fixedrange: false }, dragmode: "zoom", hovermode: "x", margin: { l: 58, r: 12, t: 10, b: 34 } };
    draw($("#team-chart"), [
      ...(known ? bands(history.date, ends(-1), ends(1), c.band) : []),
      { x: history.date, y: history.rating, mode: "lines+markers", marker: { size: 3 }, name, connectgaps: false, line: { color: c.team, width: 2 }, hovertemplate: "%{x|%d %b %Y}: %{y:.0f}<extra></extra>" },
    ], baseLayout({ ...zoom, yaxis: { title: { text: "rating" } } }), { doubleClick: "reset" });
    $("#team-chart").setAttribute("aria-label", `Rating of ${name} through time; drag to zoom, double-click to see all`);
    draw($("#team-ranks"), [{ x: ranks.date, y: ranks.place, mode: "lines", name, connectgaps: false, line: { color: c.prediction, width: 2, shape: "hv" }, hovertemplate: "%{x|%d %b %Y}: number %{y}<extra></extra>" }],
      baseLayout({ ...zoom, yaxis: { title: { text: "place" }, autorange: "reversed", rangemode: "normal", tickformat: "d", ...(Math.max(...ranks.place) < 8 ? { dtick: 1 } : {}) } }), { doubleClick: "reset" });
    $("#team-ranks").setAttribute("aria-label", `Place of ${name} by rating, among those who had played within a year`);
  }

  #fixtures() {
    const { fixtures } = this.#shown;
    $("#team-fixtures").replaceChildren(...(fixtures.length ? fixtures.map((one) => element("li", {},
      element("div", { class: "ends" }, element("b", {}, this.#label(one.home)), element("span", {}, one.date), element("b", {}, this.#label(one.away))),
      chances(this.#label(one.home), this.#label(one.away), one)))
      : [element("li", { class: "soft" }, "None are known: a file of fixtures shows them here.")]));
  }

  #coming() {
    const { coming } = this.#shown;
    const day = (date) => (date === "0001-01-01" ? "" : `, ${date}`);
    $("#team-fixtures").replaceChildren(...(coming.length ? coming.map((one) => element("li", {},
      element("div", { class: "ends" }, element("b", {}, `${one.contest}${day(one.date)}`), element("span", {}, `${one.entrant}, ${one.of} entrants`)),
      `Wins with ${percent(one.win, 1)}; expected place ${one.expected_place.toFixed(1)}.`))
      : [element("li", { class: "soft" }, "Nothing is known: a file of contests to come shows it here.")]));
  }

  #surprises() {
    const place = (value) => (Number.isInteger(value) ? String(value) : value.toFixed(1));
    $("#upsets-title").textContent = "Biggest surprises";
    $("#upsets-words").textContent = "Places furthest from what was expected from the contests before alone, as a share of the field; of those that were finished.";
    const columns = ["Place", "Expected", "Of", "Contest", "Entrant", "Date"].map((label, k) => ({ label, number: k < 3 }));
    const rows = this.#shown.surprises.map((one) => [
      place(one.place), one.expected_place.toFixed(1), String(one.of), one.contest, one.entrant, one.date === "0001-01-01" ? "" : one.date]);
    fillTable($("#team-upsets"), { columns, rows, below: [] });
  }

  #upsets() {
    const { upsets, name } = this.#shown;
    $("#upsets-title").textContent = "Biggest upsets";
    $("#upsets-words").textContent = "The chance that was given to what happened, from the matches before alone.";
    const result = ({ result: value, margin }) => ({ 1: "won", 0.5: "drawn", 0: "lost" }[value] ?? "between") + (margin === null || margin === 0 ? "" : ` by ${Math.abs(margin)}`);
    const own = (one) => (one.home === name ? one : { ...one, result: 1 - one.result });
    $("#team-upsets").replaceChildren(
      element("thead", {}, element("tr", {}, ...["Chance", "Against", "", "Date"].map((text, k) => element("th", { scope: "col", class: k ? "" : "number" }, text || element("span", { class: "unseen" }, "Result"))))),
      element("tbody", {}, ...upsets.map((one) => element("tr", {}, element("td", { class: "number" }, percent(one.chance, 1)),
        element("td", {}, `${this.#label(one.home === name ? one.away : one.home)}${one.home === name ? "" : ` (${this.#sides[1] === "Away" ? "away" : this.#sides[1]})`}`), element("td", {}, result(own(one))), element("td", { class: "date" }, one.date)))));
  }
}

// A band for each piece of a broken line: one fill would join the pieces.
function bands(x, low, high, colour) {
  const pieces = [];
  low.forEach((value, k) => {
    if (value === null) return;
    if (k === 0 || low[k - 1] === null) pieces.push([]);
    pieces.at(-1).push(k);
  });
  return pieces.map((piece) => ({
    x: [...piece.map((k) => x[k]), ...piece.toReversed().map((k) => x[k])], y: [...piece.map((k) => low[k]), ...piece.toReversed().map((k) => high[k])],
    fill: "toself", fillcolor: colour, mode: "none", hoverinfo: "skip", name: "± one standard deviation", line: { width: 0 },
  }));
}

export function chances(home, away, { win, draw: even, loss }) {
  const part = (name, share) => element("span", { class: name, style: `flex:${Math.max(share, .0001)}`, title: percent(share, 1) }, share > .07 ? percent(share) : "");
  return element("div", { class: "chances", role: "img", "aria-label": `${home} wins ${percent(win)}, draw ${percent(even)}, ${away} wins ${percent(loss)}` },
    part("win", win), part("draw", even), part("loss", loss));
}
