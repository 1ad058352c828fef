// The guided visit: seven scenes, each asks, plays and says; then three doors. All pictures of a scene come at once, so
// the picture answers the hand without asking anybody. The lab and the documentation site show the same scenes.
import { plot, plotlyReady } from "./charts.js";
import { $, copy, element, say } from "./words.js";

const PER_SECOND = 10;
const CLASS_EVERY = 3000;
const stillness = matchMedia("(prefers-reduced-motion: reduce)");

export class Guide {
  #source; #go; #class = null; #scenes = null; #number = 1; #at = {}; #guessed = {}; #drawn = {}; #visible = false; #asked = 0; #moment = 0; #timer = null; #scene = null;

  // `source` has scenes() and scene(number, units), and where a class shares the lab guesses(number, choice); `go` leaves through a door; `write` puts the scene in the address.
  constructor(root, { source, doors, go, write }) {
    this.#source = source;
    this.#go = go;
    this.write = write;
    this.root = root;
    this.#build(doors);
    root.addEventListener("keydown", (event) => this.#key(event));
    document.addEventListener("keydown", (event) => { if (event.target === document.body) this.#key(event); });
    document.addEventListener("themechange", () => this.#draw());
  }

  units = "elo";

  get place() { return this.#number; }

  // Where the control of the scene stands, as an address holds it.
  get query() {
    const control = this.#scenes?.[this.#number - 1]?.control;
    const value = control?.values[this.#at[this.#number]];
    const moved = control && value !== undefined && value !== control.first ? [[control.name, value]] : [];
    return new URLSearchParams([...moved, ...(this.units === "elo" ? [] : [["units", this.units]])]).toString();
  }

  #build(doors) {
    const button = (id, text, attributes, press) => element("button", { type: "button", id, ...attributes, onclick: press }, text);
    const units = element("select", { id: "guide-units", onchange: ({ target }) => { this.units = target.value; this.write(); this.#open(); } },
      element("option", { value: "elo" }, "Elo points"), element("option", { value: "paper" }, "the paper's"));
    const chart = (id) => element("div", { class: "chart", role: "img", id });
    this.root.replaceChildren(
      element("h1", { id: "guide-title", tabindex: "-1" }),
      element("div", { id: "guide-scene", class: "guide-scene" },
        element("figure", { class: "panel guide-picture" }, chart("guide-chart")),
        element("div", { class: "guide-words" },
          element("p", { id: "guide-question" }),
          element("p", { id: "guide-reply", role: "status" }),
          element("p", { id: "guide-class" }),
          element("p", { id: "guide-sentence", "aria-live": "polite" }),
          element("details", { id: "guide-more", ontoggle: () => this.#draw() }, element("summary", {}, "More: a second picture, the formula, Python"),
            element("figure", {}, element("figcaption", {}, element("p", { id: "guide-caption" })), chart("guide-beside")),
            element("div", { id: "guide-explained" }),
            element("label", { class: "guide-units" }, "Points ", units),
            element("h2", {}, "This as Python"), element("pre", { id: "guide-python", tabindex: "0" }),
            button("guide-copy", "Copy", { class: "quiet" }, () => copy($("#guide-python").textContent, "The lines of Python are copied."))))),
      element("div", { id: "guide-doors", class: "doors", hidden: true }, ...doors.map(({ title, words, label, door }) =>
        element("div", { class: "panel" }, element("h2", {}, title), element("p", {}, words),
          element("button", { type: "button", class: "main", "data-door": door, onclick: () => this.#go(door, this.#carried()) }, label)))),
      element("div", { class: "guide-foot" },
        element("div", { id: "guide-answers", class: "guide-answers", role: "group", "aria-labelledby": "guide-question" }),
        element("div", { id: "guide-hand", class: "guide-hand" },
          element("div", { id: "guide-player", class: "guide-player" }, button("guide-play", "Play", {}, () => (this.#timer ? this.#pause() : this.#play())), element("span", { id: "guide-moment" })),
          element("div", { id: "guide-control" })),
        element("nav", { class: "guide-turn", "aria-label": "Scenes" },
          button("guide-back", "Back", {}, () => this.turn(this.#number - 1)),
          element("span", { id: "guide-count" }),
          button("guide-next", "Next", { class: "main" }, () => this.turn(this.#number + 1)))));
  }

  // Arrows move the one control of the scene, wherever the focus is; page keys, as a presenter's remote sends them, turn
  // to another scene unless there is more to scroll through.
  #key(event) {
    if (!this.#visible || event.altKey || event.ctrlKey || event.metaKey || event.target.matches("select, pre")) return;
    const page = { PageDown: 1, PageUp: -1 }[event.key];
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (page && !$("#guide-more").open) {
      event.preventDefault();
      this.turn(this.#number + page);
    } else if (step && this.#scene && this.#revealed) {
      event.preventDefault();
      this.#step(step);
    }
  }

  #step(step) {
    const at = Math.min(Math.max(this.#at[this.#number] + step, 0), this.#scene.labels.length - 1);
    if (at === this.#at[this.#number]) return;
    if ($("#guide-slider")) $("#guide-slider").value = String(at);
    this.#move(at);
  }

  async #list() { this.#scenes ??= await this.#source.scenes(); }

  async show(visible) {
    this.#visible = visible;
    if (!visible) { this.#pause(); clearInterval(this.#class); return; }
    await this.#list();
    await this.turn(this.#number, { quiet: true });
  }

  // What an address says: a scene, and where its control stands. Whoever comes with a value has guessed.
  async from(number, query) {
    await this.#list();
    const given = new URLSearchParams(query);
    if (["elo", "paper"].includes(given.get("units"))) this.units = given.get("units");
    const control = this.#scenes[number - 1]?.control;
    if (control && given.has(control.name)) {
      const text = given.get(control.name);
      const distance = (value) => (control.kind === "choice" ? Number(value !== text) : Math.abs(value - Number(text)));
      if (text.trim() !== "" && control.values.every((value) => Number.isFinite(distance(value)))) {
        this.#at[number] = control.values.reduce((best, value, k) => (distance(value) < distance(control.values[best]) ? k : best), 0);
        this.#guessed[number] ??= -1;
      }
    }
    this.turn(number, { quiet: true });
  }

  // To a scene by its number; one past the last are the doors. The title is then at the top.
  async turn(number, { quiet = false } = {}) {
    if (!this.#scenes) { this.#number = number; return; }
    const last = this.#scenes.length + 1;
    const before = this.#number;
    this.#number = Math.min(Math.max(number || 1, 1), last);
    if (!quiet && before === this.#number) return;
    const doors = this.#number === last;
    $("#guide-scene").hidden = doors;
    $("#guide-doors").hidden = !doors;
    $("#guide-back").disabled = this.#number === 1;
    $("#guide-next").disabled = doors;
    $("#guide-count").textContent = doors ? "The end" : `${this.#number} of ${last - 1}`;
    this.#title();
    $("#guide-more").open = false;
    $("#guide-more").hidden = true;
    $("#guide-chart").style.visibility = "hidden"; // the picture of the scene before is no answer to this one
    if (!quiet) {
      this.write();
      $("#guide-title").focus({ preventScroll: true });
      $("#guide-title").scrollIntoView({ block: "start" });
    }
    this.#pause();
    this.#scene = null;
    for (const id of ["question", "reply", "class", "sentence"]) $(`#guide-${id}`).textContent = "";
    clearInterval(this.#class);
    $("#guide-answers").replaceChildren();
    $("#guide-hand").hidden = true;
    if (doors) { document.body.dataset.scene = "doors"; return; }
    $("#guide-units").value = this.units;
    await this.#open();
  }

  async #pictures(number, units) {
    const key = `${number}-${units}`;
    this.#drawn[key] ??= this.#source.scene(number, units).catch((error) => { delete this.#drawn[key]; throw error; });
    return this.#drawn[key];
  }

  async #open() {
    if (!this.#visible || !this.#scenes || this.#number > this.#scenes.length) return;
    const [asked, number] = [this.#asked += 1, this.#number];
    if (!this.#scene) $("#guide-question").textContent = "Drawing this scene…";
    let scene = null;
    try { scene = await this.#pictures(number, this.units); } catch (error) { say(error.message); return; }
    if (asked !== this.#asked) return;
    const { control } = this.#scenes[number - 1];
    this.#at[number] ??= control.values.indexOf(control.first);
    const fresh = !this.#scene;
    this.#scene = scene;
    this.#ask();
    this.#control(control);
    this.#place(fresh);
    document.body.dataset.scene = number;
    document.body.dataset.pictures = asked;
    if (this.#scenes[number]) this.#pictures(number + 1, this.units).catch(() => {});
  }

  // The title asks until the visitor has guessed; then it says.
  #title() {
    const scene = this.#scenes[this.#number - 1];
    $("#guide-title").textContent = !scene ? "Three doors" : this.#revealed ? scene.answer : scene.title;
  }

  // What those who share this lab guessed, shown to those who have guessed, and kept up to date.
  async #count(choice = null) {
    const [number, { answers }] = [this.#number, this.#scene.question];
    const counts = await this.#source.guesses(number, choice).catch(() => []);
    const all = counts.reduce((sum, one) => sum + one, 0);
    if (number !== this.#number || !this.#visible || !all) return;
    $("#guide-class").textContent = `Guessed here: ${answers.map((text, k) => `${text}: ${counts[k]}`).join(" · ")}`;
  }

  #watchClass() {
    clearInterval(this.#class);
    if (!this.#source.guesses || !this.#revealed) return;
    if (!(this.#guessed[this.#number] >= 0)) this.#count();
    this.#class = setInterval(() => { if (this.#visible) this.#count(); }, CLASS_EVERY);
  }

  get #revealed() { return this.#guessed[this.#number] !== undefined; }

  #ask() {
    const { question } = this.#scene;
    const guess = this.#guessed[this.#number];
    const asking = guess === undefined;
    $("#guide-question").textContent = question.words;
    $("#guide-question").hidden = !asking;
    $("#guide-answers").hidden = !asking;
    $("#guide-answers").replaceChildren(...question.answers.map((text, k) => element("button", { type: "button", onclick: () => this.#guess(k) }, text)));
    $("#guide-hand").hidden = asking;
    $("#guide-sentence").hidden = asking;
    $("#guide-more").hidden = asking;
    this.#title();
    this.#watchClass();
  }

  // Whether the guess was right, while the control stands where the question was asked: elsewhere the answer is another.
  #reply() {
    const [{ question }, guess, { control }] = [this.#scene, this.#guessed[this.#number], this.#scenes[this.#number - 1]];
    const asked = guess >= 0 && control.values[this.#at[this.#number]] === control.first;
    $("#guide-reply").textContent = asked ? `${guess === question.right ? "Right" : "Not quite"}: ${question.answers[question.right]}.` : "";
  }

  #guess(k) {
    this.#guessed[this.#number] = k;
    if (this.#source.guesses) this.#count(k);
    this.#ask();
    this.#place(true);
    ($("#guide-control input") ?? $("#guide-control button")).focus({ preventScroll: true });
  }

  // One control: a slider that rests at the stops, or a button for each option.
  #control(control) {
    const { labels } = this.#scene;
    const at = this.#at[this.#number];
    if (control.kind === "choice") {
      $("#guide-control").replaceChildren(element("div", { class: "guide-options", role: "group", "aria-label": control.label }, ...labels.map((text, k) =>
        element("button", { type: "button", "aria-pressed": String(k === at), onclick: () => this.#move(k) }, text))));
      return;
    }
    const slider = element("input", { type: "range", id: "guide-slider", min: "0", max: String(labels.length - 1), step: "1", oninput: ({ target }) => this.#move(Number(target.value)) });
    slider.value = String(at);
    $("#guide-control").replaceChildren(element("label", { class: "name", for: "guide-slider" }, element("span", {}, control.label), element("output", { for: "guide-slider" })), slider);
  }

  #move(at) {
    this.#at[this.#number] = at;
    this.#place(this.#scenes[this.#number - 1].control.kind === "choice");
    this.write();
  }

  // Show the picture of the stop; `play` runs it from its beginning.
  #place(play = false) {
    const [at, picture] = [this.#at[this.#number], this.picture];
    const label = this.#scene.labels[at];
    const slider = $("#guide-slider");
    if (slider) { slider.setAttribute("aria-valuetext", label); $("#guide-control output").textContent = label; }
    document.querySelectorAll("#guide-control [aria-pressed]").forEach((node, k) => node.setAttribute("aria-pressed", String(k === at)));
    this.#reply();
    $("#guide-sentence").textContent = picture.sentence;
    $("#guide-caption").textContent = picture.beside.label;
    $("#guide-explained").replaceChildren(...picture.more.map((text) => element("p", {}, text)));
    $("#guide-python").textContent = picture.python;
    const { frames } = picture.chart;
    $("#guide-player").hidden = !frames;
    this.#pause();
    this.#moment = frames ? (this.#revealed ? frames.labels.length - 1 : 0) : 0;
    if (frames && play && this.#revealed && !stillness.matches) { this.#moment = 0; this.#play(); } else this.#draw();
  }

  get picture() { return this.#scene?.pictures[this.#at[this.#number]]; }

  #draw() {
    const { picture } = this;
    if (!picture || !this.#visible) return;
    if (!window.Plotly) { plotlyReady().then(() => this.#draw(), (error) => say(error.message)); return; }
    const { chart, beside } = picture;
    $("#guide-chart").style.visibility = "";
    $("#guide-chart").setAttribute("aria-label", chart.label);
    plot($("#guide-chart"), chart, this.#moment, this.#revealed);
    if ($("#guide-more").open) { $("#guide-beside").setAttribute("aria-label", beside.label); plot($("#guide-beside"), beside, 0, true); }
    if (chart.frames) $("#guide-moment").textContent = chart.frames.labels[this.#moment];
  }

  #play() {
    const frames = this.picture?.chart.frames;
    if (!frames) return;
    if (this.#moment >= frames.labels.length - 1) this.#moment = 0;
    $("#guide-play").textContent = "Pause";
    this.#draw();
    this.#timer = setInterval(() => {
      this.#moment += 1;
      this.#draw();
      if (this.#moment >= frames.labels.length - 1) this.#pause();
    }, 1000 / PER_SECOND);
  }

  #pause() {
    clearInterval(this.#timer);
    this.#timer = null;
    $("#guide-play").textContent = "Play";
  }

  // The step of the sixth scene goes through the door.
  #carried() {
    const control = this.#scenes?.[5]?.control;
    return { k: control?.values[this.#at[6] ?? control.values.indexOf(control.first)], units: this.units };
  }
}
