// The Paper tab: claims and figures of the reproductions there are, and buttons that make them.
import { $, element, say } from "./words.js";

const NAMES = { full: "At the paper's own scale", quick: "A quick look" };
const VERDICTS = new Map([["holds", "holds"], ["does not hold", "fails"], ["depends", "depends"], ["not measured", "fails"]]);

export class Paper {
  #connection; #making = false; #looked = false; #reports = []; #chosen = null;

  constructor(connection) {
    this.#connection = connection;
    connection.addEventListener("progress", ({ detail }) => {
      if (detail.subject === "paper") this.#progress(detail.progress);
    });
    connection.addEventListener("paper", ({ detail }) => this.#ended(detail));
    connection.addEventListener("state", ({ detail }) => {
      if (detail !== "open" && this.#making) this.#ended({ state: "failed", text: "The lab was gone; what was finished is kept." });
    });
  }

  show(visible) {
    if (visible && !this.#looked) this.#look();
  }

  async #look() {
    try {
      const answer = await fetch("/api/paper");
      this.#reports = (await answer.json()).reports;
      this.#looked = true;
    } catch {
      return; // the banner says that the lab is gone; the next visit looks again
    }
    if (!this.#find(this.#chosen)) this.#chosen = this.#reports[0]?.place ?? null;
    this.#draw();
  }

  #find(place) { return this.#reports.find((one) => one.place === place); }

  #draw() {
    const report = this.#find(this.#chosen);
    $("#paper-maker").replaceChildren(...this.#words(report), this.#buttons(report));
    $("#paper-content").replaceChildren(...(report && !report.problem ? [claims(report), untested(report), pictures(report)] : []));
  }

  #words(report) {
    if (!report) {
      return [element("p", {}, "The figures have not been made yet. A quick look takes about half a minute; the paper's own scale takes several minutes on two cores.")];
    }
    const choose = (one) => element("button", {
      type: "button", id: `paper-${one.place}`, "aria-pressed": String(one === report), class: one === report ? "main" : "",
      onclick: () => { this.#chosen = one.place; this.#draw(); },
    }, NAMES[one.scale ?? one.place]);
    return [
      this.#reports.length > 1 ? element("div", { class: "maker choice", role: "group", "aria-label": "Which reproduction" }, ...this.#reports.map(choose)) : "",
      ...(report.problem ? [report.problem] : report.abstract).map((text) => element("p", { class: "abstract" }, text)),
    ];
  }

  #buttons(report) {
    const button = (scale) => {
      const there = Boolean(this.#find(scale));
      const text = scale === "quick" ? (there ? "Make the quick look again" : "Make a quick reproduction") : (there ? "Make it at full scale again" : "Make it at full scale");
      return element("button", { type: "button", id: `make-${scale}`, class: scale === "quick" && !report ? "main" : "", onclick: () => this.#make(scale) }, text);
    };
    return element("div", { class: "maker" }, button("quick"), button("full"),
      report ? element("a", { href: report.page, target: "_blank", rel: "noopener" }, "Open the whole report") : null);
  }

  // What is there is replaced only after a question; the two scales never share a folder.
  async #make(scale) {
    const there = this.#find(scale);
    if (there && !window.confirm(`${there.folder} holds a report already. Make it again in its place?`)) return;
    try {
      await this.#connection.ask("paper/make", { body: { scale, replace: Boolean(there) } });
    } catch (error) {
      say(error.message);
      return;
    }
    this.#making = true;
    this.#chosen = scale;
    $("#paper-maker").replaceChildren(
      element("div", { class: "row" }, element("p", { id: "paper-label", role: "status" }, "Starting… Keep this page open."),
        element("button", { type: "button", id: "paper-cancel", onclick: () => this.#connection.ask("paper/cancel").catch(() => {}) }, "Cancel")),
      element("progress", { id: "paper-progress", max: "1", "aria-label": "Progress of the reproduction" }));
  }

  #progress({ share, label, figures_done: done, figures }) {
    const bar = $("#paper-progress");
    if (!bar) return;
    bar.value = share;
    $("#paper-label").textContent = `${label} (${done} of ${figures} figures done)`;
  }

  #ended({ state, text }) {
    this.#making = false;
    if (state === "failed") say(text, 8);
    this.#look();
  }
}

function table(name, heads, rows, className) {
  return element("div", { class: `panel ${className}` }, element("h2", {}, name), element("table", {},
    element("thead", {}, element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text)))), element("tbody", {}, ...rows)));
}

function claims({ claims: rows }) {
  const row = (claim) => element("tr", {},
    element("td", {}, ...(claim.quote ? [element("q", {}, claim.quote), element("div", {}, `Tested: ${claim.statement}`)] : [claim.statement]),
      element("div", { class: "soft" }, claim.place)),
    element("td", {}, element("span", { class: `badge ${VERDICTS.get(claim.verdict) ?? ""}` }, claim.verdict), claim.on ? element("div", { class: "soft" }, `on ${claim.on}`) : null,
      claim.criterion ? element("div", { class: "soft" }, `Holds if: ${claim.criterion}.`) : null),
    element("td", {}, claim.measured, element("div", { class: "soft" }, claim.because)));
  return table("Statements of the paper", ["The paper says", "Verdict", "Measured here"], rows.map(row), "claims");
}

function untested({ untested: rows }) {
  const row = (one) => element("tr", {}, element("td", {}, one.statement, element("div", { class: "soft" }, one.place)), element("td", {}, ""), element("td", {}, one.because));
  return table("What cannot be measured", ["The paper says", "", "Why it is not tested"], rows.map(row), "claims");
}

function pictures({ figures, version }) {
  return element("div", { class: "pictures" }, ...figures.map((one) => element("figure", { class: "panel" },
    element("figcaption", {}, element("h3", {}, `Figure ${one.number}. ${one.title}`), element("p", {}, one.caption, one.shortened ? " At quick scale: shorter or coarser runs than the paper's." : "")),
    element("a", { href: `${one.picture}?${version}`, target: "_blank", rel: "noopener", "aria-label": `Figure ${one.number} in full size` },
      element("img", { src: `${one.picture}?${version}`, alt: one.title, loading: "lazy" })))));
}
