// A rated league: leaderboard, histories, a match to try, the check of the forecasts, rows set aside, downloads.
import { baseLayout, colours, draw, onTheme } from "./charts.js";
import { LeagueAudit } from "./audit.js";
import { $, element, figure, percent, say } from "./words.js";

const LINES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a8a8a", "#a6761d"];
const DOWNLOADS = [["leaderboard", "Leaderboard"], ["ratings", "All ratings"], ["histories", "Histories"], ["forecasts", "Forecasts"], ["rejects", "Rows set aside"]];

const RULES = ["rank-days", "rank-least", "rank-caution"];

export class Rated {
  #connection; #audit; #result = null; #chosen = [];

  constructor(connection) {
    this.#connection = connection;
    this.#audit = new LeagueAudit(connection);
    $("#filter").addEventListener("input", () => this.#drawBoard());
    for (const id of ["what-home", "what-away", "what-neutral"]) $(`#${id}`).addEventListener("change", () => this.#whatIf());
    for (const id of RULES) $(`#${id}`).addEventListener("change", () => this.#rank());
    $("#what-if").addEventListener("submit", (event) => event.preventDefault());
    onTheme(() => this.redraw());
  }

  get shown() { return this.#result !== null; }

  take(result) {
    this.#result = result;
    this.#chosen = result.histories.slice(0, 5).map((line) => line.name);
    $("#rated").hidden = false;
    this.#drawSummary();
    this.#drawDetails();
    this.#fillTeams();
    this.#showRules();
    this.redraw();
    this.#whatIf();
    this.#audit.begin();
  }

  clear() {
    this.#result = null;
    this.#audit.clear();
    $("#rated").hidden = true;
  }

  redraw() {
    if (!this.#result || $("#rated").closest("section").hidden) return;
    this.#drawBoard();
    this.#drawHistories();
    this.#drawCalibration();
    this.#audit.redraw();
  }

  #drawSummary() {
    const { summary, rejects, warnings } = this.#result;
    const count = (value, text) => element("span", {}, element("b", {}, value.toLocaleString("en")), ` ${text}`);
    const { chosen } = this.#result;
    const notes = [...(chosen ? [`The rater that forecasts these matches best: ${chosen}`] : []), ...summary.notes, ...(warnings ?? [])];
    $("#rated-summary").replaceChildren(
      element("div", { class: "counts" }, count(summary.matches, "matches used"), count(summary.teams, "sides"),
        summary.lineups === null ? null : count(summary.lineups, "matches with both line-ups"),
        count(rejects.count, "rows set aside"), element("span", {}, summary.first ? `${summary.first} to ${summary.last}` : "undated")),
      ...notes.map((note) => element("p", { class: "soft" }, `Note: ${note}.`.replace("..", "."))),
      rejects.count ? rejectedRows(rejects) : "");
  }

  async #rank() {
    if (!this.#result) return;
    const [days, least, caution] = RULES.map((id) => $(`#${id}`).value);
    const body = { active_days: days === "" ? null : Number(days), least_matches: Math.max(0, Math.round(Number(least)) || 0), caution: Number(caution) };
    try {
      this.#result.leaderboard = await this.#connection.ask("league/rank", { body });
      this.#drawBoard();
    } catch (error) {
      say(error.message);
    }
    this.#showRules();
  }

  // The rules as the lab applied them, and whom they leave out.
  #showRules() {
    const { ranking, rows, left_out: others } = this.#result.leaderboard;
    $("#rank-days").value = ranking.active_days === null ? "" : String(ranking.active_days);
    $("#rank-least").value = String(ranking.least_matches);
    $("#rank-caution").value = String(ranking.caution);
    const words = rows.length ? "" : "Nobody is ranked by these rules. ";
    $("#rank-words").textContent = words + (others ? `${others.toLocaleString("en")} more are rated but not ranked; the download of all ratings has them.` : "");
  }

  #drawBoard() {
    const { rows, more } = this.#result.leaderboard;
    const wanted = $("#filter").value.trim().toLowerCase();
    const ends = rows.map((row) => [row.rating - 2 * row.uncertainty, row.rating + 2 * row.uncertainty]);
    const [low, high] = range(ends);
    const share = (value) => Math.min(Math.max((100 * (value - low)) / (high - low || 1), 0), 100);
    const place = (value) => `${share(value)}%`;
    const followed = new Set(this.#result.histories.map((line) => line.name));
    const pools = new Set(rows.map((row) => row.pool)).size > 1;
    const title = (row, k) => (pools && row.pool !== rows[k - 1]?.pool
      ? element("tr", {}, element("td", { class: "pool", colspan: "6" }, row.pool === "main" ? "The main pool" : `A pool apart, ${row.pool}: hardly a match ties it to the others`)) : null);
    const body = rows.flatMap((row, k) => (wanted && !row.name.toLowerCase().includes(wanted) ? [] : [title(row, k), element("tr", {},
      element("td", { class: "number" }, row.place === null ? "–" : String(row.place)),
      element("td", {}, followed.has(row.name) ? this.#nameButton(row.name) : element("span", { class: "plain" }, row.name),
        row.team ? element("span", { class: "soft team" }, row.team) : null,
        row.note ? element("span", { class: "soft team" }, row.note) : null),
      element("td", { class: "number" }, row.rating.toFixed(0)),
      element("td", { class: "number" }, `± ${row.uncertainty.toFixed(0)}`),
      element("td", {}, element("div", { class: "range", "aria-hidden": "true" },
        element("span", { style: `left:${place(ends[k][0])};width:${share(ends[k][1]) - share(ends[k][0])}%` }),
        element("i", { style: `left:${place(row.rating)}` }))),
      element("td", { class: "number" }, String(row.matches)))]));
    const head = ["", "Name", "Rating", "±", "", "Matches"].map((text, k) => element("th", { class: [0, 2, 3, 5].includes(k) ? "number" : "", scope: "col" }, text));
    $("#leaderboard").replaceChildren(element("thead", {}, element("tr", {}, ...head)),
      element("tbody", {}, ...body.filter(Boolean), more ? element("tr", {}, element("td", { colspan: "6" }, `and ${more} more in the download`)) : ""));
  }

  #nameButton(name) {
    const place = this.#chosen.indexOf(name);
    return element("button", {
      type: "button", "aria-pressed": String(place >= 0), style: place >= 0 ? `--dot:${LINES[place % LINES.length]}` : "",
      onclick: () => {
        if (place >= 0) this.#chosen.splice(place, 1);
        else this.#chosen.push(name);
        this.#drawBoard();
        this.#drawHistories();
      },
    }, name);
  }

  #drawHistories() {
    const lines = this.#chosen.map((name, k) => {
      const { date, rating } = this.#result.histories.find((line) => line.name === name);
      return { x: date, y: rating, name, mode: "lines", line: { color: LINES[k % LINES.length], width: 2.2 }, hovertemplate: `${name}: %{y:.0f}<extra></extra>` };
    });
    draw($("#history-chart"), lines, baseLayout({
      showlegend: true, legend: { orientation: "h", y: -0.16, font: { color: colours().muted, size: 12 } }, hovermode: "x",
      xaxis: { type: "date" }, yaxis: { title: { text: "rating" } }, margin: { l: 58, r: 12, t: 10, b: 34 },
    }));
    $("#history-chart").setAttribute("aria-label", `Rating histories of ${this.#chosen.join(", ") || "nobody"}`);
  }

  #drawCalibration() {
    const checked = this.#result.calibration;
    const words = $("#calibration-words");
    $("#calibration-chart").hidden = !checked;
    if (!checked) {
      words.textContent = "Forecasts can be checked only on a file with dates and enough matches.";
      return;
    }
    words.textContent = `A rater that had seen only the first ${checked.trained_on.toLocaleString("en")} matches forecast the other ` +
      `${checked.matches.toLocaleString("en")}, one by one. On the dashed line, what was given 70 % happened in 70 % of cases; the grey ` +
      `bars are the play of chance around it. The log-loss is ${figure(checked.scores.log_loss, 4)}, the Brier score ${figure(checked.scores.brier, 3)}; ` +
      `the likeliest outcome happened in ${percent(checked.scores.accuracy)}.`;
    const c = colours();
    const outcomes = [["home win", c.team, "circle"], ["draw", c.truth, "square"], ["away win", c.prediction, "diamond"]];
    const { bins } = checked;
    draw($("#calibration-chart"), [
      { x: [0, 1], y: [0, 1], mode: "lines", hoverinfo: "skip", showlegend: false, line: { color: c.truth, width: 1.6, dash: "dash" } },
      {
        x: bins.map((bin) => bin.forecast), y: bins.map((bin) => bin.forecast), mode: "markers", marker: { size: 0.1, color: c.truth },
        error_y: { type: "data", symmetric: false, array: bins.map((bin) => bin.high - bin.forecast), arrayminus: bins.map((bin) => bin.forecast - bin.low), color: c.line, thickness: 5, width: 0 },
        hoverinfo: "skip", showlegend: false,
      },
      ...outcomes.map(([outcome, color, symbol]) => {
        const own = bins.filter((bin) => bin.outcome === outcome);
        return {
          x: own.map((bin) => bin.forecast), y: own.map((bin) => bin.frequency), mode: "markers", name: outcome, marker: { color, symbol, size: 9 },
          text: own.map((bin) => `${bin.matches} matches`), hovertemplate: `${outcome}: said %{x:.0%}, happened %{y:.0%}<br>%{text}<extra></extra>`,
        };
      }),
    ], baseLayout({
      xaxis: { title: { text: "forecast probability" }, range: [0, 1], tickformat: ".0%" },
      yaxis: { title: { text: "happened" }, range: [0, 1], tickformat: ".0%" }, margin: { l: 58, r: 12, t: 8, b: 42 },
      showlegend: true, legend: { x: 0.02, y: 0.98, font: { color: c.muted, size: 12 }, bgcolor: "rgba(0,0,0,0)" },
    }));
  }

  #fillTeams() {
    const names = this.#result.teams;
    for (const [id, place] of [["what-home", 0], ["what-away", 1]]) {
      const select = $(`#${id}`);
      const kept = select.value;
      select.replaceChildren(...names.map((name) => element("option", { value: name }, name)));
      select.value = names.includes(kept) ? kept : (this.#result.favourites[place] ?? names[place]);
    }
  }

  async #whatIf() {
    if (!this.#result) return;
    const [home, away] = [$("#what-home").value, $("#what-away").value];
    const answer = $("#what-answer");
    try {
      const chances = await this.#connection.ask("league/predict", { body: { home, away, neutral: $("#what-neutral").checked } });
      const part = (name, share) => element("span", { class: name, style: `flex:${Math.max(share, .0001)}`, title: percent(share, 1) }, share > .07 ? percent(share) : "");
      answer.replaceChildren(
        element("div", { class: "chances", role: "img", "aria-label": `${home} wins ${percent(chances.win)}, draw ${percent(chances.draw)}, ${away} wins ${percent(chances.loss)}` },
          part("win", chances.win), part("draw", chances.draw), part("loss", chances.loss)),
        element("div", { class: "ends" }, element("span", {}, `${home} wins`), element("span", {}, "draw"), element("span", {}, `${away} wins`)));
    } catch (error) {
      answer.replaceChildren(element("p", { class: "soft" }, error.message));
    }
  }

  #drawDetails() {
    const { parameters } = this.#result;
    const links = DOWNLOADS.map(([name, text]) => element("a", { href: "#", id: `download-${name}`, onclick: (event) => this.#download(event, name) }, `${text} (CSV)`));
    const row = (p) => element("tr", {}, element("td", {}, p.name), element("td", { class: "number" }, figure(p.value)),
      element("td", { class: "number" }, p.error === null ? (p.estimated ? "hardly matters" : "given") : `± ${figure(p.error, 2)}`), element("td", {}, p.meaning));
    links.push(element("a", { href: "#", id: "download-session", onclick: (event) => this.#download(event, "session", "json") }, "This session (to open here again)"));
    $("#rated-details").replaceChildren(element("h3", {}, "Take it with you"), element("div", { class: "downloads" }, ...links),
      element("details", {}, element("summary", {}, "What was estimated from the matches"),
        element("div", { class: "scroll" }, element("table", {}, element("tbody", {}, ...parameters.map(row))))));
  }

  #download(event, name, format = "csv") {
    event.preventDefault();
    this.#connection.download(`league/${name}.${format}`, `kinelo-${name}.${format}`).catch((error) => say(error.message));
  }
}

// From the lowest to the highest end of the bars, but no further from the middle half than three times its width: a few
// outliers end at the edge instead of squeezing everyone else.
function range(ends) {
  if (!ends.length) return [0, 1];
  const all = ends.flat().sort((a, b) => a - b);
  const [first, third] = [all[Math.floor((all.length - 1) / 4)], all[Math.ceil((3 * (all.length - 1)) / 4)]];
  const most = 3 * (third - first);
  return [Math.max(all[0], first - most), Math.min(all.at(-1), third + most)];
}

function rejectedRows(rejects) {
  const reasons = Object.entries(rejects.reasons).map(([reason, count]) => `${reason}: ${count}`).join("; ");
  const rows = rejects.rows.map((row) => element("tr", {}, element("td", {}, row.table), element("td", { class: "number" }, String(row.line)),
    element("td", {}, row.reason), element("td", {}, row.content)));
  const head = ["File", "Line", "Reason", "What it says"].map((text) => element("th", { scope: "col" }, text));
  return element("details", { open: rejects.count <= 20, id: "rejects" }, element("summary", {}, `Rows set aside (${reasons})`),
    element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Rows set aside" },
      element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows))),
    rejects.count > rejects.rows.length ? element("p", { class: "soft" }, `The first ${rejects.rows.length} are shown; the download has all.`) : "");
}
