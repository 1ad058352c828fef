// The leaderboard: who is ranked and how, a page of rows at a time, bars that are seen beside any outlier, and who moved.
import { SERIES } from "./charts.js";
import { $, element, say } from "./words.js";

const RULES = ["rank-days", "rank-least", "rank-caution", "rank-period"];
const PAGE = 100;

export class Board {
  #connection; #result = null; #page = 0; #follow;

  // `follow` holds the names that the chart follows.
  constructor(connection, follow) {
    this.#connection = connection;
    this.#follow = follow;
    for (const id of ["filter", "filter-team"]) $(`#${id}`).addEventListener("input", () => this.#turn(0));
    $("#board-back").addEventListener("click", () => this.#turn(this.#page - 1));
    $("#board-next").addEventListener("click", () => this.#turn(this.#page + 1));
    for (const id of RULES) $(`#${id}`).addEventListener("change", () => this.#rank());
    $("#board-kind").addEventListener("change", () => {
      this.#take(this.#result.leaderboard);
      this.#turn(0);
    });
  }

  take(result) {
    this.#result = result;
    this.#page = 0;
    $("#board-title").textContent = `Leaderboard by ${result.rater}`;
    $("#filter").value = "";
    $("#rank-period").value = "";
    const kinds = result.kinds ?? [];
    $("#board-kind").replaceChildren(...kinds.map((kind) => element("option", { value: kind }, kind)));
    $("#board-kind").parentElement.hidden = kinds.length < 2;
    $("#rank-unit").textContent = result.summary.words[0];
    $("#rank-caution").parentElement.hidden = result.each_row === "contests";
    const teams = [...new Set(result.leaderboard.rows.map((row) => row.team).filter(Boolean))].sort();
    $("#filter-team").replaceChildren(element("option", { value: "" }, "of any team"), ...teams.map((name) => element("option", { value: name }, this.label(name))));
    $("#filter-team").parentElement.hidden = teams.length < 2;
    this.#showRules();
  }

  // Of several kinds, the board that is looked at.
  #take(found) {
    this.#result.leaderboard = found.boards ? { ...found, ...found.boards[$("#board-kind").value] } : found;
    this.#showRules();
  }

  label(name) { return this.#result.labels[name] ?? name; }

  #turn(page) {
    this.#page = page;
    this.draw();
  }

  async #rank() {
    if (!this.#result) return;
    const [days, least, caution, period] = RULES.map((id) => $(`#${id}`).value);
    const number = (text) => (text === "" ? null : Number(text));
    const body = { active_days: number(days), least_matches: Math.max(0, Math.round(Number(least)) || 0), caution: Number(caution), period: number(period) };
    try {
      this.#take(await this.#connection.ask("league/rank", { body }));
      this.#turn(0);
    } catch (error) {
      $("#rank-period").value = "";
      say(error.message);
    }
    this.#showRules();
  }

  // The rules as the lab applied them, and whom they leave out.
  #showRules() {
    const { ranking, everyone, left_out: others, below } = this.#result.leaderboard;
    $("#rank-days").value = ranking.active_days === null ? "" : String(ranking.active_days);
    $("#rank-least").value = String(ranking.least_matches);
    $("#rank-caution").value = String(ranking.caution);
    $("#rank-words").textContent = [everyone || (others ? `${others} The download of all ratings has them.` : ""), below].join(" ").trim();
  }

  #found() {
    const wanted = $("#filter").value.trim().toLowerCase();
    const team = $("#filter-team").value;
    const fits = (row) => (!wanted || row.name.toLowerCase().includes(wanted) || this.label(row.name).toLowerCase().includes(wanted)) && (!team || row.team === team);
    return this.#result.leaderboard.rows.map((row, k) => ({ ...row, pooled: this.#result.leaderboard.rows[k - 1]?.pool !== row.pool })).filter(fits);
  }

  // The bars of a page stand on an axis of their own, so that they are seen however far apart all of them lie.
  draw() {
    const all = this.#found();
    const pages = Math.max(Math.ceil(all.length / PAGE), 1);
    this.#page = Math.min(Math.max(this.#page, 0), pages - 1);
    const rows = all.slice(this.#page * PAGE, (this.#page + 1) * PAGE);
    $("#board-pages").hidden = pages < 2;
    $("#board-back").disabled = this.#page === 0;
    $("#board-next").disabled = this.#page === pages - 1;
    $("#board-place").textContent = `${(this.#page * PAGE + 1).toLocaleString("en")} to ${(this.#page * PAGE + rows.length).toLocaleString("en")} of ${all.length.toLocaleString("en")}`;
    const moves = rows.some((row) => row.before !== undefined);
    const [low, high] = range(rows.flatMap((row) => [row.rating - 2 * (row.uncertainty ?? 0), row.rating + 2 * (row.uncertainty ?? 0)]));
    const columns = this.#columns(moves, low, high);
    const { more, pools } = this.#result.leaderboard;
    const whole = (...children) => element("tr", {}, element("td", { colspan: String(columns.length), class: "pool" }, ...children));
    const body = rows.flatMap((row) => [...(row.pooled && pools[row.pool] ? [whole(pools[row.pool])] : []),
      element("tr", {}, ...columns.map(({ kind, cell }) => element("td", { class: kind }, cell(row))))]);
    $("#leaderboard").replaceChildren(
      element("thead", {}, element("tr", {}, ...columns.map(({ label, kind, unseen }) => element("th", { class: kind, scope: "col" }, unseen ? element("span", { class: "unseen" }, label) : label)))),
      element("tbody", {}, ...body, ...(more && this.#page === pages - 1 ? [whole(`and ${more.toLocaleString("en")} more in the download`)] : [])));
  }

  // The columns that the server described, and beside them what only a page shows: moves and bars.
  #columns(moves, low, high) {
    const columns = this.#result.leaderboard.columns.map(({ label, number, key }, k) => ({
      label, unseen: key === "place", kind: key === "name" ? "who" : key === "matches" ? "number matches" : number ? "number" : "",
      cell: (row) => (key === "name" ? this.#name(row) : row.cells[k]),
    }));
    if (moves) columns.splice(1, 0, { label: "Moved", kind: "moved", cell: moved });
    columns.splice(-1, 0, { label: "95 %", kind: "bar", cell: (row) => bar(row, low, high) });
    return columns;
  }

  #name(row) {
    const label = this.label(row.name);
    const more = (text) => element("span", { class: "soft team" }, text);
    return element("span", {}, this.#dot(row.name, label), element("a", { href: `#rate/${encodeURIComponent(row.name)}` }, label),
      row.team ? more(this.label(row.team)) : null, row.note ? more(row.note) : null);
  }

  #dot(name, label) {
    const { followed, chosen } = this.#follow;
    if (!followed.has(name)) return element("span", { class: "dot none" });
    const place = chosen.indexOf(name);
    return element("button", {
      type: "button", class: "dot", "aria-pressed": String(place >= 0), "aria-label": `Follow ${label} in the chart`,
      style: place >= 0 ? `--dot:${SERIES[place % SERIES.length]}` : "",
      onclick: () => {
        if (place >= 0) chosen.splice(place, 1);
        else chosen.push(name);
        this.draw();
        this.#follow.changed();
      },
    });
  }
}

function bar({ rating, uncertainty }, low, high) {
  const share = (value) => Math.min(Math.max((100 * (value - low)) / (high - low || 1), 0), 100);
  const [left, right] = [Math.min(share(rating - 2 * (uncertainty ?? 0)), 97), share(rating + 2 * (uncertainty ?? 0))];
  return element("div", { class: "range", "aria-hidden": "true" },
    element("span", { style: `left:${left}%;width:${Math.max(right - left, 3)}%` }), element("i", { style: `left:${share(rating)}%` }));
}

function moved({ place, before }) {
  if (before === null || place === null) return element("span", { class: "soft" }, "new");
  const up = before - place;
  if (up === 0) return element("span", { class: "soft" }, "=");
  return element("span", { class: up > 0 ? "up" : "down" }, `${up > 0 ? "▲" : "▼"} ${Math.abs(up)}`,
    element("span", { class: "unseen" }, up > 0 ? " places up" : " places down"));
}

// From the lowest to the highest end of the bars, but no further from the middle half than one and a half of its width: a
// few outliers end at the edge instead of squeezing everyone else.
function range(ends) {
  if (!ends.length) return [0, 1];
  const all = [...ends].sort((a, b) => a - b);
  const [first, third] = [all[Math.floor((all.length - 1) / 4)], all[Math.floor((3 * (all.length - 1)) / 4)]];
  const most = 1.5 * (third - first);
  return [Math.max(all[0], first - most), Math.min(all.at(-1), third + most)];
}
