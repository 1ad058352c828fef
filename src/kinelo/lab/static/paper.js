// The Paper tab: figures and claims of the reproductions there are, buttons that make them, and sliders that run a figure again.
import { Sliders } from "./sliders.js";
import { $, element, percent, say } from "./words.js";

const NAMES = { full: "At the paper's own scale", quick: "A quick look" };
const REST = 700; // milliseconds that sliders stand still before a figure is run again
const VERDICTS = new Map([["holds", "holds"], ["does not hold", "fails"], ["depends", "depends"], ["misprint", "depends"], ["input not published", "depends"], ["not measured", "fails"]]);

export class Paper {
  #connection; #making = false; #looked = false; #reports = []; #chosen = null; #sliders = {}; #verdict = "";

  constructor(connection) {
    this.#connection = connection;
    connection.addEventListener("progress", ({ detail }) => {
      if (detail.subject === "paper") this.#progress(detail.progress);
      if (detail.subject === "figure") this.#showRun(detail.progress);
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
      ({ reports: this.#reports, sliders: this.#sliders } = await answer.json());
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
    $("#paper-content").replaceChildren(...(report && !report.problem ? [this.#pictures(report), this.#claims(report), untested(report)] : []));
  }

  #pictures({ figures, version }) {
    return element("div", { class: "pictures" }, ...figures.map((one) => element("figure", { class: "panel", id: `paper-figure-${one.number}` },
      element("figcaption", {}, element("h2", {}, `Figure ${one.number}. ${one.title}`),
        element("p", {}, one.printed ? `The paper: “${one.printed}” Here: ` : "", one.caption, one.shortened ? " At quick scale: shorter or coarser runs than the paper's." : "")),
      element("a", { href: `${one.picture}?${version}`, target: "_blank", rel: "noopener", "aria-label": `Figure ${one.number} in full size` },
        element("img", { src: `${one.picture}?${version}`, alt: `Figure ${one.number}: ${one.title}`, loading: "lazy" })),
      links(one), this.#sliders[one.number] ? this.#again(one.number) : null)));
  }

  // A figure run again, small, whenever its sliders have come to rest; only the newest position is asked for.
  #again(number) {
    const form = element("form", { "aria-label": `Sliders of Figure ${number}`, autocomplete: "off" });
    const status = element("p", { class: "again-status soft", role: "status" }, "Move a slider: the figure is run again at a small scale.");
    const stop = element("button", { type: "button", class: "quiet", hidden: true }, "Stop");
    const place = element("div", { class: "again-picture" });
    const bar = element("progress", { max: "1", hidden: true, "aria-label": "The figure runs again" });
    const first = Object.fromEntries(this.#sliders[number].map(({ name, default: value }) => [name, value]));
    let [timer, running, wanted] = [null, false, false];
    const run = async () => {
      if (running) { wanted = true; return; }
      [running, wanted, stop.hidden, bar.hidden, bar.value] = [true, false, false, false, 0];
      status.dataset.busy = "";
      status.textContent = "Running …";
      const path = `paper/figures/${number}`;
      try {
        const { title, caption, seconds } = await this.#connection.ask(path, { body: sliders.values });
        const address = `/api/pages/${this.#connection.page}/${path}.png?${Date.now()}`;
        place.replaceChildren(element("img", { src: address, alt: `${title}, run again` }), element("p", { class: "soft" }, caption));
        status.textContent = `Run again in ${seconds.toFixed(1)} s, with fewer and shorter runs.`;
      } catch (error) {
        status.textContent = error.message;
      }
      [running, stop.hidden, bar.hidden] = [false, true, true];
      delete status.dataset.busy;
      if (wanted) run();
    };
    stop.addEventListener("click", () => {
      wanted = false;
      this.#connection.ask(`paper/figures/${number}`, { method: "DELETE" }).catch(() => {});
    });
    const sliders = new Sliders(form, { controls: this.#sliders[number] }, first, () => { clearTimeout(timer); timer = setTimeout(run, REST); }, undefined, `figure-${number}-`);
    return element("details", { class: "again" }, element("summary", {}, "What if? Run it again, small"), form, element("div", { class: "row" }, status, stop), bar, place);
  }

  // How far the figure is that runs again, and about how long it still takes.
  #showRun({ share, label, seconds }) {
    document.querySelectorAll(".again-status[data-busy]").forEach((node) => {
      node.textContent = `${label.charAt(0).toUpperCase()}${label.slice(1)}: ${percent(share)}, about ${Math.max(1, Math.round(seconds))} s to go.`;
      node.closest(".again").querySelector("progress").value = share;
    });
  }

  #claims({ claims: rows }) {
    const kinds = ["", ...new Set(rows.map(({ verdict }) => verdict))];
    const count = (kind) => rows.filter(({ verdict }) => !kind || verdict === kind).length;
    const panel = claims(rows);
    const filter = () => {
      panel.querySelectorAll("tbody tr").forEach((node, k) => { node.hidden = Boolean(this.#verdict) && rows[k].verdict !== this.#verdict; });
      buttons.forEach((node, k) => node.setAttribute("aria-pressed", String(kinds[k] === this.#verdict)));
    };
    const buttons = kinds.map((kind) => element("button", { type: "button", onclick: () => { this.#verdict = kind; filter(); } },
      `${kind || "all"} (${count(kind)})`));
    if (!kinds.includes(this.#verdict)) this.#verdict = "";
    $("h2", panel).after(element("div", { class: "maker filter", role: "group", "aria-label": "Show statements by verdict" }, ...buttons));
    filter();
    return panel;
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

function claims(rows) {
  const row = (claim) => element("tr", {},
    element("td", {}, ...(claim.quote ? [element("q", {}, claim.quote), element("div", {}, `Tested: ${claim.statement}`)] : [claim.statement]),
      element("div", { class: "soft" }, `${claim.number}. ${claim.place}`)),
    element("td", {}, element("span", { class: `badge ${VERDICTS.get(claim.verdict) ?? ""}` }, claim.verdict), claim.on ? element("div", { class: "soft" }, `on ${claim.on}`) : null,
      claim.criterion ? element("div", { class: "soft" }, `Test: ${claim.criterion}.`) : null),
    element("td", {}, claim.measured, element("div", { class: "soft" }, claim.because),
      claim.more ? element("details", {}, element("summary", {}, "more"), claim.more) : null, ...claim.figures.map(towards)));
  return table("Statements of the paper", ["The paper says", "Verdict", "Measured here"], rows.map(row), "claims");
}

// A press leads to the figure, without a change of the address.
function towards(number) {
  const go = () => $(`#paper-figure-${number}`)?.scrollIntoView({ block: "start" });
  return element("button", { type: "button", class: "quiet small", onclick: go }, `Figure ${number}`);
}

function links({ number, picture, pdf, study, data }) {
  const link = (href, text, words) => (href ? element("a", { href, target: "_blank", rel: "noopener", "aria-label": `${words} of Figure ${number}` }, text) : null);
  return element("p", { class: "links" }, link(picture, "PNG", "Picture"), link(pdf, "PDF", "PDF"), link(data, "Data (zarr, zip)", "Data"), link(study, "Study file", "Study file"));
}

function untested({ untested: rows }) {
  const row = (one) => element("tr", {}, element("td", {}, one.statement, element("div", { class: "soft" }, one.place)), element("td", {}, one.because));
  return table("What cannot be measured", ["The paper says", "Why it is not tested"], rows.map(row), "claims untested");
}
