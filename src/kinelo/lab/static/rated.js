// A rated league: histories, a match to try, the check of the forecasts, rows set aside, downloads. The leaderboard is in board.js.
import { onTheme, plot } from "./charts.js";
import { LeagueAudit } from "./audit.js";
import { Board } from "./board.js";
import { Comparison } from "./compare.js";
import { Field } from "./field.js";
import { Next } from "./next.js";
import { Odds } from "./odds.js";
import { TeamView, chances } from "./team.js";
import { $, element, fillTable, noun, say } from "./words.js";

const DOWNLOADS = [["leaderboard", "Leaderboard"], ["ratings", "All ratings"], ["histories", "Histories"], ["forecasts", "Forecasts"], ["rejects", "Rows set aside"]];

export class Rated {
  #connection; #audit; #board; #compare; #field; #next; #odds; #team; #result = null; #name = null;
  #follow = { followed: new Set(), chosen: [], changed: () => this.#drawHistories() };

  // `choose` takes the rater that the visitor takes after a comparison.
  constructor(connection, choose) {
    this.#connection = connection;
    this.#audit = new LeagueAudit(connection);
    this.#board = new Board(connection, this.#follow);
    this.#compare = new Comparison(connection, choose);
    this.#field = new Field(connection);
    this.#next = new Next(connection);
    this.#odds = new Odds(connection);
    this.#team = new TeamView(connection);
    for (const id of ["what-home", "what-away", "what-neutral"]) $(`#${id}`).addEventListener("change", () => this.#whatIf());
    $("#what-if").addEventListener("submit", (event) => event.preventDefault());
    onTheme(() => this.redraw());
  }

  get shown() { return this.#result !== null; }

  take(result) {
    this.#result = result;
    const names = result.histories.map((line) => line.name);
    this.#follow.followed = new Set(names);
    this.#follow.chosen.splice(0, Infinity, ...names.slice(0, 5));
    $("#rated").hidden = false;
    this.#board.take(result);
    this.#compare.clear();
    for (const id of ["odds", "compare", "what-if"]) $(`#${id}`).hidden = this.#contests;
    $("#field").hidden = !this.#contests;
    this.#drawSummary();
    this.#drawDetails();
    if (this.#contests) this.#field.take(result, (name) => this.#label(name));
    else this.#takeMatches();
    this.#next.take(result, (name) => this.#label(name));
    this.#audit.take(result);
    this.redraw();
    this.follow(this.#name);
  }

  get #contests() { return this.#result.each_row === "contests"; }

  // What is asked of matches of two sides alone.
  #takeMatches() {
    this.#odds.take(this.#result, (name) => this.#label(name));
    this.#fillTeams();
    this.#whatIf();
  }

  #label(name) { return this.#result.labels[name] ?? name; }

  // The name whose page the address asks for, or null: shown as soon as there is a league.
  get name() { return this.#name; }

  follow(name) {
    this.#name = name;
    this.#team.open(this.#result ? name : null, (one) => this.#label(one), this.#result?.sides);
    if (name === null) this.redraw();
  }

  clear() {
    this.#result = null;
    this.#audit.clear();
    this.#compare.clear();
    this.#team.open(null, (name) => name);
    $("#rated").hidden = true;
  }

  redraw() {
    if (!this.#result || $("#rated").closest("section").hidden) return;
    this.#team.redraw();
    if ($("#league-view").hidden) return;
    this.#board.draw();
    this.#drawHistories();
    this.#drawCalibration();
    this.#audit.redraw();
  }

  #drawSummary() {
    const { summary, rejects, warnings } = this.#result;
    const count = (value, text) => element("span", {}, element("b", {}, value.toLocaleString("en")), ` ${noun(value, text)}`);
    const { chosen } = this.#result;
    const notes = [...(chosen ? [`The rater that forecasts these matches best: ${chosen}`] : []), ...summary.notes, ...(warnings ?? [])];
    $("#rated-summary").replaceChildren(
      element("div", { class: "counts" }, count(summary.matches, `${summary.words[0]} used`), count(summary.teams, summary.words[1]),
        summary.lineups === null ? null : count(summary.lineups, "matches with both line-ups"),
        count(rejects.count, "rows set aside"), element("span", {}, "rated by ", element("b", {}, this.#result.rater)), element("span", {}, summary.first ? `${summary.first} to ${summary.last}` : "undated")),
      ...notes.map((note) => element("p", { class: "soft" }, `Note: ${note}.`.replace("..", "."))),
      rejects.count ? rejectedRows(rejects) : "");
  }

  #drawHistories() {
    const { chosen } = this.#follow;
    const traces = chosen.map((name, k) => {
      const { date, rating } = this.#result.histories.find((line) => line.name === name);
      return { name: this.#label(name), role: k, mode: "lines", x: date, y: rating, notes: rating.map((value) => `${this.#label(name)}: ${value?.toFixed(0)}`) };
    });
    const label = `Rating histories of ${chosen.map((name) => this.#label(name)).join(", ") || "nobody"}`;
    plot($("#history-chart"), { label, x_title: "", y_title: "rating (points)", traces });
  }

  #drawCalibration() {
    const checked = this.#result.calibration;
    $("#calibration-chart").hidden = !checked;
    $("#calibration-words").textContent = checked?.words ?? `Forecasts can be checked only on a file with dates and enough ${this.#result.summary.words[0]}.`;
    if (checked) plot($("#calibration-chart"), checked.chart);
    const bands = checked?.bands;
    $("#place-bands").hidden = !bands;
    if (bands) fillTable($("#place-bands-table"), bands);
  }

  #fillTeams() {
    const { teams: names, sides } = this.#result;
    [$("#what-first").textContent, $("#what-second").textContent] = sides;
    $("#what-neutral").parentElement.hidden = sides[0] !== "Home";
    $("#what-neutral").checked &&= sides[0] === "Home";
    for (const [id, place] of [["what-home", 0], ["what-away", 1]]) {
      const select = $(`#${id}`);
      const kept = select.value;
      select.replaceChildren(...names.map((name) => element("option", { value: name }, this.#label(name))));
      select.value = names.includes(kept) ? kept : (this.#result.favourites[place] ?? names[place]);
    }
    $("#what-conditions").replaceChildren(...Object.entries(this.#result.conditions).map(([column, levels]) => element("label", {}, column, this.#result.covariates?.includes(column)
      ? element("input", { type: "number", step: "any", value: "0", "data-condition": column, onchange: () => this.#whatIf() })
      : element("select", { "data-condition": column, onchange: () => this.#whatIf() }, element("option", { value: "" }, "unknown"), ...levels.map((level) => element("option", { value: level }, level))))));
  }

  async #whatIf() {
    if (!this.#result) return;
    const [home, away] = [$("#what-home").value, $("#what-away").value];
    const answer = $("#what-answer");
    const conditions = Object.fromEntries([...document.querySelectorAll("[data-condition]")].map((one) => [one.dataset.condition, one.value]));
    try {
      const said = await this.#connection.ask("league/predict", { body: { home, away, neutral: $("#what-neutral").checked, conditions } });
      const [first, second] = [home, away].map((name) => this.#label(name));
      answer.replaceChildren(chances(first, second, said),
        element("div", { class: "ends" }, element("span", {}, `${first} wins`), element("span", {}, "draw"), element("span", {}, `${second} wins`)));
      if (said.changes) {
        const table = element("table", { id: "what-changes" });
        fillTable(table, said.changes);
        answer.append(element("p", { class: "soft" }, "What it would change:"), element("div", { class: "scroll" }, table));
      } else if (said.why_not) answer.append(element("p", { class: "soft" }, said.why_not));
    } catch (error) {
      answer.replaceChildren(element("p", { class: "soft" }, error.message));
    }
  }

  #drawDetails() {
    const { parameters, luck, effects, calibration } = this.#result;
    const links = DOWNLOADS.filter(([name]) => name !== "forecasts" || calibration).map(([name, text]) => element("a", { href: "#", id: `download-${name}`, onclick: (event) => this.#download(event, name) }, `${text} (CSV)`));
    const table = element("table");
    fillTable(table, parameters);
    const luckTable = element("table");
    if (luck) fillTable(luckTable, luck);
    const effectsTable = element("table");
    if (effects) fillTable(effectsTable, effects);
    links.push(element("a", { href: "#", id: "download-session", onclick: (event) => this.#download(event, "session", "json") }, "This session (to open here again)"));
    links.push(...["ratings", "audit"].map((what) => element("a", { href: "#", id: `share-${what}`, onclick: (event) => this.#download(event, what, "html") }, `A page to share: ${what === "audit" ? "the audit" : "the ratings"} (HTML)`)));
    $("#rated-details").replaceChildren(element("h3", {}, "Take it with you"), element("div", { class: "downloads" }, ...links),
      element("details", {}, element("summary", {}, `What was estimated from the ${this.#result.summary.words[0]}`),
        element("div", { class: "scroll" }, table), luck ? element("div", { class: "scroll", id: "luck" }, luckTable) : "", effects ? element("div", { class: "scroll", id: "effects" }, effectsTable) : ""));
  }

  #download(event, name, format = "csv") {
    event.preventDefault();
    this.#connection.download(`league/${name}.${format}`, `kinelo-${name}.${format}`).catch((error) => say(error.message));
  }
}

export function rejectedRows(rejects, id = "rejects") {
  const reasons = Object.entries(rejects.reasons).map(([reason, count]) => `${reason}: ${count}`).join("; ");
  const rows = rejects.rows.map((row) => element("tr", {}, element("td", {}, row.table), element("td", { class: "number" }, String(row.line)),
    element("td", {}, row.reason), element("td", {}, row.content)));
  const head = ["File", "Line", "Reason", "What it says"].map((text) => element("th", { scope: "col" }, text));
  return element("details", { open: rejects.count <= 20, id }, element("summary", {}, `Rows set aside (${reasons})`),
    element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Rows set aside" },
      element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows))),
    rejects.count > rejects.rows.length ? element("p", { class: "soft" }, `The first ${rejects.rows.length} are shown; the download has all.`) : "");
}
