// The Explore tab: sliders to the server, frames from it, and the verdict in words.
import { onTheme } from "./charts.js";
import { readDots } from "./connection.js";
import { Axes, CurvesChart, DensityChart, LeagueChart, PathChart } from "./league_charts.js";
import { Sliders, eloPoints, shown } from "./sliders.js";
import { shareDiagnosis } from "./exports.js";
import { $, copy, element, figure, say } from "./words.js";

const CURVES_EVERY = 300;
const FIRST_SPEED = 80;

export class Explore {
  #connection; #about; #sliders; #speed = FIRST_SPEED; #paused = false; #seed = 1; #units = "elo"; #pin = null;
  #run = 0; #frame = null; #scheduled = false; #curvesAt = 0; #visible = true; #starting = false; #wanted = false; #pairs = 0; #diagnosed = 0;

  // `write` puts the sliders in the address; its argument names the one that moved.
  constructor(connection, about, values, extras, write) {
    this.#connection = connection;
    this.#about = about;
    this.write = write;
    this.#resume(extras);
    const scale = (at) => ({ units: this.#units, nu: at.nu, ties: at.ties });
    this.#sliders = new Sliders($("#controls"), about, values, (name) => this.#moved(name), scale, "", $("#controls-rest"));
    // What a link sets apart from the first sliders is in sight.
    $("#rest").open = about.controls.some(({ name, first, default: usual }) => !first && values[name] !== usual);
    this.#setUp();
    const axes = this.axes = new Axes();
    this.charts = [new LeagueChart($("#league-chart"), axes), new DensityChart($("#density-chart"), axes), new CurvesChart($("#curves-chart"), axes), new PathChart($("#path-chart"), axes)];
    this.#watch();
    this.#playback();
    connection.addEventListener("welcome", () => this.#greet());
    connection.addEventListener("started", ({ detail }) => this.#started(detail));
    connection.addEventListener("frame", ({ detail }) => this.#take(detail));
    connection.addEventListener("theory", ({ detail }) => this.#theory(detail));
    connection.addEventListener("verdict", ({ detail }) => this.#verdict(detail));
    connection.addEventListener("complaint", ({ detail }) => say(detail.text));
    connection.addEventListener("refused", ({ detail }) => this.#refused(detail.text));
    onTheme(() => this.charts.forEach((chart) => chart.redraw()));
  }

  // What nobody looks at is not drawn; it is once it is in view.
  #watch() {
    const watcher = new IntersectionObserver((entries) => entries.forEach(({ target, isIntersecting }) => {
      const chart = this.charts.find(({ node }) => node === target);
      chart.hidden = !isIntersecting;
      if (isIntersecting && this.started) chart.redraw();
    }), { rootMargin: "80px" });
    for (const { node } of this.charts) watcher.observe(node);
  }

  get values() { return this.#sliders.values; }

  // What else a link holds: the league's number, how fast it plays, whether it stands still, units, and what is pinned.
  get extras() {
    return {
      seed: this.#seed === 1 ? null : this.#seed, speed: this.#speed === FIRST_SPEED ? null : this.#speed, paused: this.#paused ? 1 : null,
      units: this.#units === "elo" ? null : this.#units, pin: this.#pin ? new URLSearchParams(this.#pin).toString() : null,
    };
  }

  #resume({ seed, speed, paused, units, pin }) {
    if (/^\d{1,9}$/.test(seed ?? "")) this.#seed = Number(seed);
    const [slowest, fastest] = this.#about.speeds;
    if (Number(speed) > 0) this.#speed = Math.min(Math.max(Number(speed), slowest), fastest);
    this.#paused = paused === "1";
    if (units === "paper") this.#units = "paper";
    if (pin) this.#pin = Object.fromEntries(new URLSearchParams(pin));
  }

  #setUp() {
    const preset = $("#preset");
    preset.replaceChildren(element("option", { value: "" }, "…"), ...this.#about.presets.map(({ name, label }) => element("option", { value: name }, label)));
    preset.addEventListener("change", () => {
      const chosen = this.#about.presets.find(({ name }) => name === preset.value);
      if (chosen) this.take(chosen.values, "preset");
    });
    $("#units").value = this.#units;
    $("#units").addEventListener("change", () => {
      this.#units = $("#units").value;
      this.#connection.send({ type: "units", units: this.#units });
      this.#sliders.refresh();
      this.#scaleAxes();
      this.charts.forEach((chart) => chart.redraw());
      this.#python();
      this.#words();
      this.#label();
      if ($("#whole").open) this.#diagnose();
      if (this.#pin) this.#showPin();
      this.write("units");
    });
    $("#share-diagnosis").addEventListener("click", () => shareDiagnosis({ ...this.values, units: this.#units }).catch(() => say("The lab does not answer.")));
    $("#copy-python").addEventListener("click", () => { this.#python(); copy($("#python").textContent, "The lines of Python are copied."); });
    $("#whole").addEventListener("toggle", () => this.#diagnose());
    $("#python").closest("details").addEventListener("toggle", () => this.#python());
    $("#pin").addEventListener("click", () => {
      this.#pin = this.#pin ? null : { ...this.values };
      this.write("pin");
      this.#start();
      this.#showPin();
    });
    $("#pause").textContent = this.#paused ? "Play" : "Pause";
  }

  #scaleAxes() {
    this.axes.scale(this.#factor, this.#units === "elo");
  }

  // The league as Python, after the pairs that are on the screen; it stands still while it is read.
  #python() {
    if (this.started) $("#python").textContent = this.started.python[this.#units].replace("PAIRS", String(this.#pairs));
  }

  // What was pinned, as the server takes it.
  #pinned() {
    return Object.fromEntries(this.#about.controls.filter(({ name }) => name in this.#pin)
      .map(({ name, kind }) => [name, kind === "choice" ? this.#pin[name] : Number(this.#pin[name])]));
  }

  // The line of the settings that were pinned, on the axes of the league that plays.
  async #showPin() {
    const [button, words] = [$("#pin"), $("#pinned")];
    button.setAttribute("aria-pressed", String(Boolean(this.#pin)));
    button.textContent = this.#pin ? "Unpin" : "Pin these settings";
    words.hidden = !this.#pin;
    this.charts[0].pinned = null;
    if (this.#pin) {
      const controls = this.#pinned();
      const found = await fetch("/api/theory", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(controls) })
        .then((answer) => answer.json()).catch(() => ({ error: "The lab does not answer." }));
      if (!this.#pin) return;
      this.charts[0].pinned = found.error ? null : found.map;
      const moved = this.#about.controls.filter(({ name, default: first }) => controls[name] !== first && name in controls);
      const scale = { units: this.#units, nu: this.values.nu, ties: this.values.ties };
      const settings = moved.map((control) => `${control.label.toLowerCase()}: ${shown(control, controls[control.name], scale)}`).join(", ") || "the first settings";
      const expected = found.error ?? `slope ${found.answer.slope.toFixed(2)}, ` +
        `${found.answer.parts ? "error" : "luck"} ± ${this.#points(found.answer.luck)} (one standard deviation).`;
      words.textContent = `Pinned, as green diamonds (${settings}): ${expected}`;
    }
    this.charts[0].redraw();
  }

  show(visible) {
    this.#visible = visible;
    if (visible) this.#schedule();
  }

  #greet() {
    this.#starting = false;
    this.#connection.send({ type: "speed", speed: this.#speed });
    this.#connection.send({ type: "pause", paused: this.#paused });
    this.#connection.send({ type: "units", units: this.#units });
    this.#start();
    if (this.#pin) this.#showPin();
  }

  #moved(name) {
    this.write(name);
    this.#start();
  }

  // From the guide: its units, and a step in K as near as the slider comes to it.
  continueFrom({ k, units }) {
    if (units !== this.#units) { $("#units").value = units; $("#units").dispatchEvent(new Event("change")); }
    const { nu, ties } = this.values;
    const { low, high } = this.#about.controls.find(({ name }) => name === "gamma");
    if (k) this.take({ steps: "fixed", gamma: Math.min(Math.max(Number((k / (2 * eloPoints({ nu, ties }))).toPrecision(3)), low), high) });
  }

  // Put some sliders elsewhere, as a hand would.
  take(values, what = "take") {
    const known = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
    if (this.#sliders.place({ ...this.values, ...known })) this.#moved(what);
  }

  // Back to where the sliders stood.
  place(values) {
    if (this.#sliders.place(values)) this.#start();
  }

  // While a slider is dragged, the next start waits until the last one is on the screen; only the newest is sent.
  #start() {
    this.#wanted = true;
    if (!this.#starting) this.#sendStart();
  }

  #sendStart() {
    this.#wanted = false;
    this.#starting = true;
    $(".verdict").classList.add("waiting");
    this.#connection.send({ type: "start", controls: this.values, seed: this.#seed, pin: this.#pin ? this.#pinned() : null });
  }

  #begun() {
    this.#starting = false;
    if (this.#wanted) this.#sendStart();
  }

  // Nothing of the league before stands under settings that cannot be played.
  #refused(text) {
    this.#run = -1;
    this.#frame = null;
    const box = $(".verdict");
    box.classList.remove("waiting");
    box.dataset.state = "refused";
    $("#headline").textContent = "These settings cannot be played together.";
    for (const id of ["facts", "caveats", "offers", "python"]) $(`#${id}`).replaceChildren();
    $("#advice").textContent = text;
    $("#whole").hidden = true;
    $("#whole").open = false;
    $(".stage").classList.add("stale");
    document.body.dataset.refused = "yes";
    this.#begun();
  }

  // A number of points of the model as the page writes it.
  #points(value) {
    const factor = this.#factor;
    return this.#units === "elo" ? `${Math.round(value * factor).toLocaleString("en")} Elo points` : `${value.toFixed(2)} points`;
  }

  // Elo points in a point of the model: of the league that plays, or of the one that is about to begin.
  get #factor() { return this.#units !== "elo" ? 1 : this.started ? this.started.elo_points : eloPoints(this.values); }

  #started(started) {
    this.#run = started.run;
    this.#frame = null;
    this.#curvesAt = 0;
    this.started = started;
    $("#clock-unit").textContent = started.controls.sides > 2 ? "contests" : "matches";
    this.#pairs = 0;
    $(".stage").classList.remove("stale");
    delete document.body.dataset.refused;
    this.#python();
    if (started.slow) {
      $("#headline").textContent = "Theory takes some seconds here. Watch the league meanwhile.";
      for (const id of ["facts", "advice", "caveats", "offers"]) $(`#${id}`).replaceChildren();
    }
    for (const node of document.querySelectorAll(".limit-words")) node.hidden = started.density_theta.length === 0;
    $(".chart-density").hidden = started.density_theta.length === 0;
    for (const node of document.querySelectorAll(".chart-path, .moving-words")) node.hidden = !started.moving;
    this.#scaleAxes();
    this.charts.forEach((chart) => chart.begin(started));
    this.#words();
  }

  // What follows from the line-ups, in the units of the page.
  #words() {
    if (!this.started) return;
    this.#sliders.note.textContent = this.started.controls.law === "lottery"
      ? `Such line-ups make strength vary by σ = ${this.#points(this.started.sigma.typical)}.` : "";
  }

  #take(frame) {
    if (frame.run !== this.#run) return;
    this.#frame = frame;
    this.#schedule();
  }

  // Draw when the browser is about to paint, then tell the server that the next frame may come.
  #schedule() {
    if (this.#scheduled || !this.#visible || !this.#frame) return;
    this.#scheduled = true;
    requestAnimationFrame((now) => {
      this.#scheduled = false;
      if (!this.#frame || !this.#visible) return;
      const frame = readDots(this.#frame, this.started);
      this.#frame = null;
      this.#pairs = frame.pairs;
      if (this.#paused) this.#python();
      this.charts.forEach((chart) => chart.frame(frame));
      if (now - this.#curvesAt > CURVES_EVERY) {
        for (const chart of this.charts.slice(2, this.started.moving ? 4 : 3)) if (!chart.hidden) chart.redraw();
        this.#curvesAt = now;
      }
      $("#clock").textContent = figure(frame.time);
      document.body.dataset.run = frame.run;
      document.body.dataset.frames = frame.sequence;
      this.#connection.send({ type: "drawn", sequence: frame.sequence });
      this.#begun();
    });
  }

  #theory(theory) {
    if (theory.run !== this.#run) return;
    this.charts[0].theory = theory;
    this.charts[0].redraw();
    this.theory = theory;
    this.#label();
  }

  // What the picture shows, for those who cannot see it.
  #label() {
    const { theory } = this;
    if (!theory || theory.run !== this.#run) return;
    const [weakest, strongest] = this.axes.shown([theory.rating[0], theory.rating.at(-1)]).map((one) => figure(one));
    $("#league-chart").setAttribute("aria-label",
      `Ratings of ${this.started.theta.length} teams over their ${this.started.moving ? "present" : "true"} strength. Theory expects them along a line of slope ` +
      `${figure(theory.slope, 2)}, from ${weakest} for the weakest to ${strongest} for the strongest team.`);
  }

  // Written only where it changed: the same verdict comes again and again while the league plays.
  #verdict(verdict) {
    if (verdict.run !== this.#run) return;
    const box = $(".verdict");
    box.classList.remove("waiting");
    box.dataset.state = verdict.state;
    if ($("#headline").textContent !== verdict.headline) $("#headline").textContent = verdict.headline;
    $("#facts").replaceChildren(...verdict.facts.map(({ value, league, text }) => element("li", {},
      element("b", {}, value), league ? element("span", { class: "league" }, `league: ${league}`) : null, text)));
    $("#advice").textContent = verdict.advice ?? "";
    this.#offer(verdict.offers);
    $("#caveats").hidden = verdict.caveats.length === 0;
    $("#caveats").replaceChildren(...verdict.caveats.map((text) => element("li", {}, text)));
    $("#whole").hidden = !verdict.whole;
    if ($("#whole").open && this.#diagnosed !== verdict.run) this.#diagnose();
    document.body.dataset[verdict.final ? "verdictRun" : "foreseenRun"] = verdict.run;
  }

  #offer(offers) {
    const text = offers.map(({ label }) => label).join();
    const box = $("#offers");
    if (box.dataset.text === text && box.children.length === offers.length) return;
    box.dataset.text = text;
    box.replaceChildren(...offers.map(({ gamma, label }) =>
      element("button", { type: "button", onclick: () => this.take({ gamma }, "apply") }, label)));
  }

  // Every line of the diagnosis, once somebody opens it.
  async #diagnose() {
    if (!$("#whole").open || this.#run < 0) return;
    const asked = this.#diagnosed = this.#run;
    const answer = await fetch("/api/diagnosis", {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ ...this.values, units: this.#units }),
    }).then((one) => one.json()).catch(() => ({ error: "The lab does not answer." }));
    if (asked !== this.#diagnosed) return;
    const rows = answer.error ? [["", answer.error]] : answer;
    $("#diagnosis").replaceChildren(...rows.map(([name, finding]) =>
      element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, finding))));
  }

  #playback() {
    const [slowest, fastest] = this.#about.speeds;
    const speed = $("#speed");
    const toSpeed = (position) => Number((slowest * (fastest / slowest) ** (position / 100)).toPrecision(2));
    const showSpeed = () => {
      $("#speed-value").textContent = `${figure(this.#speed)} a second`;
      speed.setAttribute("aria-valuetext", `${figure(this.#speed)} matches per team a second`);
    };
    speed.addEventListener("input", () => {
      this.#speed = toSpeed(Number(speed.value));
      showSpeed();
      this.#connection.send({ type: "speed", speed: this.#speed });
      this.write("speed");
    });
    speed.value = String(Math.round((100 * Math.log(this.#speed / slowest)) / Math.log(fastest / slowest)));
    showSpeed();
    $("#pause").addEventListener("click", () => {
      this.#paused = !this.#paused;
      $("#pause").textContent = this.#paused ? "Play" : "Pause";
      this.#connection.send({ type: "pause", paused: this.#paused });
      this.#python();
      this.write("pause");
    });
    $("#restart").addEventListener("click", () => { this.#seed += 1; this.write("restart"); this.#start(); });
    $("#share").addEventListener("click", () => copy(location.href, "The link to this league is copied."));
  }
}
