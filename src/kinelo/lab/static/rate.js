// The Rate tab: files in, columns mapped, a league rated. Results are shown by rated.js.
import { Rated, rejectedRows } from "./rated.js";
import { Sliders } from "./sliders.js";
import { $, counted, element, say } from "./words.js";

const KINDS = ["results", "lineups", "fixtures", "names", "aliases", "start", "groups", "ratings"];
const BESIDE = ["fixtures", "names", "groups", "ratings"];
const TITLES = {
  results: "Which column is what?", lineups: "And in the line-ups?", names: "And in the names?", fixtures: "The fixtures",
  aliases: "The other names", start: "The starting list", groups: "The groups", ratings: "The ratings in use",
};
// What the visitor chose, as the lab takes it; the rater is chosen on the matches unless somebody says which.
const CHOSEN = { columns: {}, rater: "auto", conditions: [], noise_by: [], covariates: [], reading: {}, stated: false };

export class Rate {
  #connection; #limits; #raters; #files = {}; #sampled = false; #tables = {}; #chosen = { ...CHOSEN }; #lost = false;
  #opened = false; #jobs = 0; #session = null; #queue = Promise.resolve(); #words = {}; #checked = 0; #waiting = null; #controls;

  constructor(connection, about) {
    this.#connection = connection;
    this.#limits = about.limits;
    this.#raters = about.raters;
    this.#controls = about.reading;
    placeNumbers(about.numbers);
    // A reload forgets what was uploaded and rated: it asks first.
    window.addEventListener("beforeunload", (event) => { if (this.rated.shown && !this.#sampled) event.preventDefault(); });
    this.rated = new Rated(connection, (rater) => {
      this.#chosen.rater = rater;
      this.#drawMapping();
      this.#work("Rating", () => this.#rate());
    });
    $("#team-back").addEventListener("click", () => { location.hash = "#rate"; });
    for (const kind of KINDS) this.#wireDrop(kind);
    wireStrayDrops();
    for (const button of document.querySelectorAll("[data-sample]")) {
      button.addEventListener("click", () => this.#work("Making up a league", () => this.#takeSample(button.dataset.sample)));
    }
    $("#file-session").addEventListener("change", ({ target }) => {
      const file = target.files[0];
      if (file) this.#work("Opening the session", () => this.#openSession(file));
      target.value = "";
    });
    $("#mapping").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#work("Rating", () => this.#rate());
    });
    connection.addEventListener("progress", ({ detail }) => {
      // What is compiled after the last job, for a forecast say, would leave words that nobody takes away.
      if (detail.subject === "rating" && this.#jobs > 0 && typeof detail.progress === "string") this.#status(`${detail.progress}…`);
    });
    connection.addEventListener("state", ({ detail }) => { this.#lost ||= detail !== "open"; });
    connection.addEventListener("welcome", () => this.#restore());
  }

  // Something to look at where there is nothing yet.
  begin() {
    if (!Object.keys(this.#tables).length && this.#jobs === 0) $("#sample").click();
  }

  show(visible) {
    if (!visible) return;
    this.rated.redraw();
    if (this.#connection.page) this.#connection.ask("league/prepare").catch(() => {});
  }

  // What the address says of this tab: the page of a name, or the league.
  get place() { return this.rated.name === null ? "rate" : `rate/${encodeURIComponent(this.rated.name)}`; }

  follow(hash) {
    const [, name] = hash.match(/^#rate\/(.+)$/) ?? [];
    let wanted = null;
    try { wanted = name === undefined ? null : decodeURIComponent(name); } catch { /* no name is written so */ }
    if (wanted !== this.rated.name) this.rated.follow(wanted);
  }

  #wireDrop(kind) {
    const zone = $(`#drop-${kind}`);
    const input = $(`#file-${kind}`);
    this.#words[kind] = $("span", zone).textContent;
    input.addEventListener("change", () => {
      const file = input.files[0];
      if (file) this.#work("Reading the file", () => this.#upload(kind, file));
      input.value = "";
    });
    $(`#remove-${kind}`).addEventListener("click", () => this.#work("Letting go of the file", () => this.#remove(kind)));
    for (const name of ["dragover", "dragleave", "drop"]) {
      zone.addEventListener(name, (event) => {
        event.preventDefault();
        zone.classList.toggle("over", name === "dragover");
        const files = event.dataTransfer?.files ?? [];
        if (name !== "drop" || !files.length) return;
        if (files.length > 1) say("One file at a time, each on its own field.");
        else this.#work("Reading the file", () => this.#upload(kind, files[0]));
      });
    }
  }

  // One thing after the other: what comes while something is under way waits for it, and is not lost.
  #work(words, job) {
    if (this.#jobs === 0) $("#rate-error").hidden = true;
    this.#jobs += 1;
    this.#showBusy();
    this.#queue = this.#queue.then(() => this.#carryOut(words, job));
    return this.#queue;
  }

  async #carryOut(words, job) {
    this.#status(`${words}…`);
    try {
      await job();
    } catch (error) {
      $("#rate-error").textContent = sentence(error.message);
      $("#rate-error").hidden = false;
    }
    this.#jobs -= 1;
    this.#status("");
    this.#showBusy();
  }

  #showBusy() {
    for (const id of ["sample", "rate-go", ...KINDS.map((kind) => `remove-${kind}`)]) {
      const button = $(`#${id}`);
      if (button) button.disabled = this.#jobs > 0;
    }
  }

  #status(text) { $("#rate-status").textContent = text; }

  async #upload(kind, file) {
    if (file.size > this.#limits.upload_bytes) {
      throw new Error(`${file.name} is larger than ${Math.floor(this.#limits.upload_bytes / 2 ** 20)} MB.`);
    }
    const [shown, kept] = [this.rated.shown, this.#chosen];
    const path = `league/tables/${kind}?name=${encodeURIComponent(file.name)}`;
    const seen = await this.#connection.ask(path, { body: file.slice() });
    this.#files[kind] = file;
    this.#sampled = false;
    this.#found(seen);
    if (!(BESIDE.includes(kind) && shown && seen.tables.results)) return;
    // These change no rating: what was rated is rated as before.
    this.#chosen = { ...kept, columns: { ...this.#chosen.columns, ...kept.columns } };
    this.#drawMapping();
    await this.#rate();
  }

  async #remove(kind) {
    const seen = await this.#connection.ask(`league/tables/${kind}`, { method: "DELETE" });
    delete this.#files[kind];
    this.#found(seen);
  }

  // Tables, columns and rater as they were saved, rated at once.
  async #openSession(file) {
    const seen = await this.#connection.ask(`league/session?name=${encodeURIComponent(file.name)}`, { body: file });
    this.#files = {};
    this.#sampled = false;
    this.#session = file;
    this.#found(seen);
    this.#chosen = seen.chosen;
    this.#drawMapping();
    this.#status("Rating…");
    await this.#rate();
  }

  async #takeSample(name) {
    const seen = await this.#connection.ask(`league/sample?name=${name}`);
    this.#files = {};
    this.#sampled = name;
    this.#session = null;
    this.#found(seen);
    if (name === "races") this.#chosen.conditions = ["car"]; // drivers and cars
    this.#drawMapping();
    this.#status("Rating…");
    await this.#rate();
  }

  // Ratings of other files than those named on the page are not shown.
  #found({ tables }) {
    this.rated.clear();
    this.#tables = tables;
    this.#chosen = { ...CHOSEN, reading: tables.results ? { ...this.#chosen.reading, rows: tables.results.each_row } : {} };
    this.#guess();
    for (const kind of KINDS) {
      const [zone, table] = [$(`#drop-${kind}`), tables[kind]];
      zone.classList.toggle("full", Boolean(table));
      $(`#remove-${kind}`).hidden = !table;
      $("span", zone).textContent = table
        ? `${table.name}: ${counted(table.rows, "rows")}. Drop another to replace it.` : this.#words[kind];
    }
    this.#drawMapping();
  }

  #drawMapping() {
    const form = $("#mapping");
    form.hidden = !this.#tables.results;
    if (form.hidden) return;
    const rows = this.#chosen.reading.rows ?? this.#tables.results.each_row;
    const parts = Object.entries(this.#tables).flatMap(([kind, table]) => {
      const fields = fieldsOf(table, rows);
      return [
        element("h3", {}, TITLES[kind]),
        element("div", { class: "fields" }, ...fields.filter(({ rare }) => !rare).map((field) => this.#field(field, table.columns))),
        fields.some(({ rare }) => rare) ? element("details", { class: "rare" }, element("summary", {}, "Columns that few files have"),
          element("div", { class: "fields" }, ...fields.filter(({ rare }) => rare).map((field) => this.#field(field, table.columns)))) : null,
        kind === "results" ? element("details", { class: "rare", id: "reading-controls", open: this.#opened }, element("summary", {}, "Where the file does not say"), element("div", { class: "fields" })) : null,
        kind === "results" ? this.#columnBoxes(table, rows) : null,
        kind === "results" && table.states_ratings && rows === "matches" && !this.#tables.start ? this.#stated() : null,
        ...(kind === "results" ? [
          this.#oneColumn(table, rows, "luck-by", rows === "contests" ? "Luck may depend on, such as the track" : "Luck may depend on, such as the format", this.#chosen.noise_by, (found) => { this.#chosen.noise_by = found; }),
          this.#oneColumn(table, rows, "number-of", rows === "contests" ? "A number that helps or hinders an entrant, such as a weight" : "A number that speaks for the first side, such as a handicap", this.#chosen.covariates, (found) => { this.#chosen.covariates = found; }),
        ] : []),
        preview(table.columns, table.preview, `First rows of ${kind}`),
      ];
    });
    const raters = element("select", { id: "rater" }, ...this.#raters
      .filter((one) => !one.needs_lineups || this.#tables.lineups || this.#chosen.columns.home_lineup)
      .map((one) => element("option", { value: one.name }, `${one.kind}: ${one.meaning}`)));
    raters.value = this.#chosen.rater;
    raters.addEventListener("change", () => { this.#chosen.rater = raters.value; });
    form.replaceChildren(
      element("details", { id: "columns", open: true }, element("summary", {}, "Columns of your file"), ...parts.filter(Boolean)),
      element("div", { id: "reading", role: "status" }),
      element("div", { class: "go" }, element("label", { for: "rater", hidden: rows === "contests" }, "What to rate", raters),
        element("button", { class: "main", id: "rate-go" }, rows === "contests" ? "Rate these contests" : "Rate this league")));
    const first = Object.fromEntries(this.#controls.controls.map(({ name, default: value }) => [name, value]));
    const sliders = new Sliders($("#reading-controls .fields"), this.#controls, { ...first, ...this.#chosen.reading, rows }, (name) => {
      this.#chosen.reading = { ...sliders.values };
      if (name === "rows") this.#readOtherwise();
      else this.#preview();
    }, undefined, "reading-");
    this.#showBusy();
    this.#preview();
  }

  // Each row is something else: its columns are guessed anew.
  #readOtherwise() {
    this.#opened = true;
    this.#chosen = { ...this.#chosen, conditions: [], noise_by: [], covariates: [], stated: false };
    this.#guess();
    this.#drawMapping();
    this.#opened = false;
    $("#reading-control-rows")?.focus();
  }

  #guess() {
    this.#chosen.columns = {};
    for (const table of Object.values(this.#tables)) {
      for (const field of fieldsOf(table, this.#chosen.reading.rows)) if (field.guess) this.#chosen.columns[field.name] = field.guess;
    }
  }

  // Columns that are no field of a match, and those that were chosen.
  #free(table, rows, chosen) {
    const taken = new Set(fieldsOf(table, rows).map((field) => this.#chosen.columns[field.name]));
    return table.columns.filter((column) => !taken.has(column) || chosen.includes(column)).slice(0, 24);
  }

  // On one of them luck may depend: the noise of a match has a factor for each of its values. One may hold numbers, of
  // which a unit is worth something to the first side, or to an entrant; sizes of teams are a number that no column holds.
  #oneColumn(table, rows, id, words, chosen, choose) {
    const free = this.#free(table, rows, chosen).filter((column) => !this.#chosen.conditions.includes(column) || rows === "matches");
    if (id === "number-of" && rows === "contests" && this.#chosen.columns.team && !free.includes("size")) free.push("size");
    if (!free.length) return null;
    const select = element("select", { id, onchange: ({ target }) => {
      choose(target.value ? [target.value] : []);
      this.#preview();
    } }, element("option", { value: "" }, "–"), ...free.map((column) => element("option", { value: column }, column)));
    select.value = chosen[0] ?? "";
    return element("div", { class: "fields" }, element("label", { for: id }, words, select));
  }

  // Columns that are nothing else may say under which conditions a match was played, or be rated beside an entrant.
  #columnBoxes(table, rows) {
    const free = this.#free(table, rows, this.#chosen.conditions);
    if (!free.length) return null;
    const box = (column) => element("label", { class: "check" }, element("input", {
      type: "checkbox", checked: this.#chosen.conditions.includes(column), "data-column": column,
      onchange: ({ target }) => {
        this.#chosen.conditions = this.#chosen.conditions.filter((one) => one !== column).concat(target.checked ? [column] : []);
        this.#preview();
      },
    }), ` ${column}`);
    return element("fieldset", { class: "boxes" }, element("legend", {}, rows === "contests" ? "Rate these beside the entrant, such as the car" : "Conditions under which strengths differ, such as the surface"), ...free.map(box));
  }

  #stated() {
    const box = element("input", { type: "checkbox", id: "stated", checked: this.#chosen.stated, onchange: ({ target }) => { this.#chosen.stated = target.checked; } });
    return element("label", { class: "check" }, box, " Begin with the ratings that the file states");
  }

  // How the file would be read as the columns are chosen now: the first matches, and what would be set aside and why.
  #preview() {
    clearTimeout(this.#waiting);
    const number = ++this.#checked;
    this.#waiting = setTimeout(async () => {
      try {
        if (this.#jobs > 0 || !this.#connection.page) return;
        const seen = await this.#connection.ask("league/check", { body: this.#chosen });
        if (number === this.#checked) this.#showReading(seen);
      } catch (error) {
        if (number === this.#checked) $("#reading")?.replaceChildren(element("p", { class: "soft" }, error.message));
      }
    }, 250);
  }

  #showReading({ summary, rows, rejects, likely }) {
    const names = Object.keys(rows[0] ?? {});
    const spoken = (value) => (value === true ? "yes" : value === false ? "no" : value === null ? "" : String(value));
    const lineups = summary.lineups === null ? "" : `, ${summary.lineups.toLocaleString("en")} with both line-ups`;
    $("#reading").replaceChildren(...[
      element("p", { id: "reading-words" }, element("b", {}, "Read like this: "), `${counted(summary.matches, summary.words[0])} of ${counted(summary.teams, summary.words[1])}${lineups}; ${counted(rejects.count, "rows")} set aside.`),
      summary.notes.length ? element("ul", { class: "soft", id: "reading-notes" }, ...summary.notes.map((note) => element("li", {}, `${note.charAt(0).toUpperCase()}${note.slice(1)}.`))) : null,
      likely.length && !this.#tables.aliases ? this.#likely(likely) : null,
      element("details", {}, element("summary", {}, `The first ${summary.words[0]} as they are read`), preview(names, rows.map((row) => names.map((name) => spoken(row[name]))), `The first ${summary.words[0]} as they are read`)),
      rejects.count ? rejectedRows(rejects, "reading-rejects") : null,
    ].filter(Boolean));
  }

  // Names that a note holds for one side, to be ticked and joined: a file of other names, made here.
  #likely(pairs) {
    const quoted = (name) => `"${name.replaceAll('"', '""')}"`;
    const boxes = pairs.map(([found, wanted]) => element("label", { class: "check" }, element("input", { type: "checkbox", checked: true, "data-found": found }), ` ${found} is ${wanted}`));
    return element("fieldset", { class: "boxes", id: "likely" }, element("legend", {}, "Names that may be one side"), ...boxes,
      element("button", { type: "button", onclick: () => {
        const chosen = pairs.filter((_, k) => $("input", boxes[k]).checked);
        if (!chosen.length) return;
        const lines = ["found,wanted", ...chosen.map((pair) => pair.map(quoted).join(","))];
        this.#work("Joining the names", () => this.#join(new File([lines.join("\n")], "names joined here.csv", { type: "text/csv" })));
      } }, "Take the ticked for one"));
  }

  // What was chosen stays: other names change no column.
  async #join(file) {
    const kept = this.#chosen;
    await this.#upload("aliases", file);
    this.#chosen = kept;
    this.#drawMapping();
  }

  #field(field, columns) {
    const select = element("select", { id: `field-${field.name}` }, element("option", { value: "" }, "–"),
      ...columns.map((column) => element("option", { value: column }, column)));
    select.value = this.#chosen.columns[field.name] ?? "";
    select.addEventListener("change", () => {
      if (select.value) this.#chosen.columns[field.name] = select.value;
      else delete this.#chosen.columns[field.name];
      this.#preview();
    });
    return element("label", { for: select.id }, field.label + (field.required ? " *" : ""), select);
  }

  async #rate() {
    try {
      this.rated.take(await this.#connection.ask("league/rate", { body: this.#chosen }));
    } catch (error) {
      this.rated.clear();
      throw error;
    }
    $("#columns").open = false;
    $("#reading").replaceChildren();
    this.#checked += 1;
  }

  // The server forgets a page that left; after a break the files are handed over again.
  async #restore() {
    if (!this.#lost) return;
    this.#lost = false;
    if (!Object.keys(this.#tables).length) return;
    const [kept, shown, had] = [this.#chosen, this.rated.shown, Object.keys(this.#tables)];
    await this.#work("Reading the files again", async () => {
      let seen = null;
      if (this.#sampled) seen = await this.#connection.ask(`league/sample?name=${this.#sampled}`);
      else if (this.#session) seen = await this.#connection.ask("league/session", { body: this.#session.slice() });
      for (const kind of KINDS.filter((one) => this.#sampled && !had.includes(one))) {
        seen = await this.#connection.ask(`league/tables/${kind}`, { method: "DELETE" });
      }
      for (const [kind, file] of Object.entries(this.#files)) {
        seen = await this.#connection.ask(`league/tables/${kind}?name=${encodeURIComponent(file.name)}`, { body: file.slice() });
      }
      this.#found(seen);
      this.#chosen = kept;
      this.#drawMapping();
      if (shown) await this.#rate();
      say("The lab was gone for a moment; your files were read again.");
    });
  }
}

// Words, range and first value of the numbers to type are those of the library.
function placeNumbers(controls) {
  for (const { name, label, hint, low, high, step, default: first } of controls) {
    const input = $(`[data-number="${name}"]`);
    Object.assign(input, { min: low, max: high, step: step < 1 ? "any" : step, title: hint });
    input.value = input.defaultValue = String(first);
    $("span", input.labels[0]).textContent = label;
  }
}

// A file that misses its zone would replace the page.
function wireStrayDrops() {
  for (const name of ["dragover", "drop"]) {
    window.addEventListener(name, (event) => {
      if (event.defaultPrevented || !event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      if (name === "drop") say("Files are dropped on Results or Line-ups, on the Rate tab.");
    });
  }
}

// What the columns of a table may be; those of results depend on what each row is.
const fieldsOf = (table, rows) => table.fields_of?.[rows] ?? table.fields;

function preview(columns, rows, name) {
  return element("div", { class: "scroll preview", tabindex: "0", role: "region", "aria-label": name },
    element("table", {}, element("thead", {}, element("tr", {}, ...columns.map((one) => element("th", { scope: "col" }, one)))),
      element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((cell) => element("td", {}, cell)))))));
}

function sentence(text) {
  const whole = /^[a-z]+ /.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
}
