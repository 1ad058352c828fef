// The Paper tab: claims and figures of the reproduction, or a button that makes them.
import { $, element, say } from "./words.js";

export class Paper {
  #connection; #making = false; #looked = false;

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
    this.#looked = true;
    const answer = await fetch("/api/paper");
    const found = await answer.json();
    this.#drawMaker(found);
    $("#paper-content").replaceChildren(...(found.made ? [claims(found), pictures(found)] : []));
  }

  #drawMaker(found) {
    const button = (scale, text, main) => element("button", { type: "button", id: `make-${scale}`, class: main ? "main" : "", onclick: () => this.#make(scale) }, text);
    const words = found.made
      ? found.summary || "The reproduction has been made."
      : "The figures have not been made yet. A quick look takes about half a minute; the paper's own scale takes several minutes on two cores.";
    $("#paper-maker").replaceChildren(element("p", {}, words), element("div", { class: "maker", style: "margin-top:12px" },
      button("quick", found.made ? "Make it again, quickly" : "Make a quick reproduction", !found.made), button("full", "Make it at full scale", false),
      found.made ? element("a", { href: "/paper/report.html", target: "_blank", rel: "noopener" }, "Open the whole report") : null));
  }

  async #make(scale) {
    try {
      await this.#connection.ask("paper/make", { body: { scale } });
    } catch (error) {
      say(error.message);
      return;
    }
    this.#making = true;
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

function claims({ claims: rows }) {
  const row = (claim) => element("tr", {},
    element("td", {}, claim.statement, element("div", { class: "soft" }, claim.place)),
    element("td", {}, element("span", { class: `badge ${claim.kind}` }, claim.verdict), claim.on ? element("div", { class: "soft" }, claim.on) : null),
    element("td", {}, claim.measured, element("div", { class: "soft" }, claim.because)));
  const head = ["The paper says", "Verdict", "Measured here"].map((text) => element("th", { scope: "col" }, text));
  return element("div", { class: "panel claims" }, element("h2", {}, "Statements of the paper"),
    element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows.map(row))));
}

function pictures({ figures, version }) {
  return element("div", { class: "pictures" }, ...figures.map((one) => element("figure", { class: "panel" },
    element("figcaption", {}, element("h3", {}, one.title), element("p", {}, one.caption)),
    element("img", { src: `${one.picture}?${version}`, alt: one.title, loading: "lazy" }))));
}
