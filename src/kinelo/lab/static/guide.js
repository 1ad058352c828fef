// The guided visit: seven scenes and three doors. The server draws and writes; this shows, moves and remembers.
import { letDrag, plot } from "./guide_charts.js";
import { Sliders } from "./sliders.js";
import { $, element, say } from "./words.js";

const PER_SECOND = 8;
const stillness = matchMedia("(prefers-reduced-motion: reduce)");

export class Guide {
  #about = null; #number = 1; #values = {}; #visible = false; #asked = 0; #moment = 0; #timer = null; #sliders = null; #go; #moving = null; #prepared = new Set();

  // `go` opens another tab; `write` puts the scene in the address.
  constructor(go, write) {
    this.#go = go;
    this.write = write;
    $("#guide-back").addEventListener("click", () => this.turn(this.#number - 1));
    $("#guide-next").addEventListener("click", () => this.turn(this.#number + 1));
    $("#guide-play").addEventListener("click", () => (this.#timer ? this.#pause() : this.#play()));
    $("#guide-units").addEventListener("change", ({ target }) => { this.units = target.value; this.#show(); });
    $("#guide-copy").addEventListener("click", () => copy($("#guide-python").textContent, "The lines of Python are copied."));
    $("#guide").addEventListener("keydown", (event) => {
      if (event.target.matches("input, select, button, summary, a")) return;
      if (event.key === "ArrowRight") this.turn(this.#number + 1);
      if (event.key === "ArrowLeft") this.turn(this.#number - 1);
    });
    document.addEventListener("themechange", () => this.#draw());
    for (const door of document.querySelectorAll("[data-door]")) door.addEventListener("click", () => this.#leave(door.dataset.door));
  }

  units = "elo";

  get place() { return this.#number; }

  async show(visible) {
    this.#visible = visible;
    if (!visible) { this.#pause(); return; }
    if (!this.#about) this.#about = await (await fetch("/api/guide")).json();
    this.turn(this.#number, false);
  }

  // To a scene by its number; one past the last are the doors.
  turn(number, write = true) {
    if (!this.#about) { this.#number = number; return; }
    const last = this.#about.scenes.length + 1;
    this.#number = Math.min(Math.max(number || 1, 1), last);
    const doors = this.#number === last;
    $("#guide-scene").hidden = doors;
    $("#guide-doors").hidden = !doors;
    $("#guide-back").disabled = this.#number === 1;
    $("#guide-next").hidden = doors;
    $("#guide-count").textContent = doors ? "" : `Scene ${this.#number} of ${last - 1}`;
    if (write) this.write();
    this.#pause();
    $("#guide-title").textContent = doors ? "Three doors" : this.#about.scenes[this.#number - 1].title;
    if (doors) return;
    const { controls } = this.#about.scenes[this.#number - 1];
    this.#values[this.#number] ??= Object.fromEntries(controls.map(({ name, default: value }) => [name, value]));
    $("#guide-units").value = this.units;
    this.#sliders = new Sliders($("#guide-controls"), controls, this.#values[this.#number], () => {
      this.#values[this.#number] = { ...this.#sliders.values };
      this.write();
      this.#show();
    }, () => ({ units: this.units, nu: this.#about.nu, ties: 0 }), "guide-");
    $("#guide-sentences").replaceChildren(element("p", {}, "Drawing this scene…"));
    $("#guide-take").textContent = "";
    this.#show(true);
  }

  // Values of the scene on screen, as an address holds them.
  get query() {
    const controls = this.#about?.scenes[this.#number - 1]?.controls ?? [];
    const moved = controls.filter(({ name, default: value }) => (this.#values[this.#number]?.[name] ?? value) !== value)
      .map(({ name }) => [name, this.#values[this.#number][name]]);
    return new URLSearchParams([...moved, ...(this.units === "elo" ? [] : [["units", this.units]])]).toString();
  }

  // What an address says: a scene, and values of its controls.
  async from(number, query) {
    if (!this.#about) this.#about = await (await fetch("/api/guide")).json();
    const given = new URLSearchParams(query);
    const controls = this.#about.scenes[number - 1]?.controls ?? [];
    if (given.get("units") in this.#about.units.options) this.units = given.get("units");
    this.#values[number] = Object.fromEntries(controls.map((control) => {
      const text = given.get(control.name);
      if (text === null) return [control.name, control.default];
      if (control.kind === "choice") return [control.name, Object.hasOwn(control.options, text) ? text : control.default];
      const value = Number(text);
      return [control.name, Number.isFinite(value) && text.trim() ? Math.min(Math.max(value, control.low), control.high) : control.default];
    }));
    this.turn(number, false);
  }

  async #show(fresh = false) {
    if (!this.#visible || !this.#about || this.#number > this.#about.scenes.length) return;
    this.#sliders?.refresh();
    const asked = this.#asked += 1;
    $("#guide-scene").classList.add("waiting");
    const answer = await fetch(`/api/guide/${this.#number}`, {
      method: "POST", headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ ...this.#values[this.#number], units: this.units }),
    }).then((one) => one.json()).catch(() => ({ error: "The lab does not answer." }));
    if (asked !== this.#asked) return;
    $("#guide-scene").classList.remove("waiting");
    if (answer.error) { say(answer.error); return; }
    this.picture = answer;
    $("#guide-sentences").replaceChildren(...answer.sentences.map((text) => element("p", {}, text)));
    $("#guide-take").textContent = answer.take;
    $("#guide-python").textContent = answer.python;
    this.#moving = answer.charts.findIndex((chart) => chart.frames);
    const frames = answer.charts[this.#moving]?.frames;
    $("#guide-player").hidden = !frames;
    this.#moment = frames ? frames.labels.length - 1 : 0;
    this.#frames(answer.charts);
    answer.charts.forEach((chart, k) => {
      const node = $("#guide-charts").children[k].lastElementChild;
      if (chart.drag) letDrag(node, chart, (value) => this.#sliders.move(chart.drag.control, value));
    });
    this.#draw();
    document.body.dataset.scene = this.#number;
    document.body.dataset.pictures = asked;
    this.#prepare(this.#number + 1);
    if (frames && fresh && !stillness.matches) { this.#moment = 0; this.#play(); }
  }

  // The next scene is drawn while this one is looked at.
  #prepare(number) {
    if (this.#prepared.has(number) || !this.#about.scenes[number - 1]) return;
    this.#prepared.add(number);
    fetch(`/api/guide/${number}`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ units: this.units }),
    }).catch(() => this.#prepared.delete(number));
  }

  // The same charts stay while a control moves, so that a hand on one of them is not lost.
  #frames(charts) {
    const box = $("#guide-charts");
    if (box.dataset.scene !== String(this.#number) || box.children.length !== charts.length) {
      box.dataset.scene = this.#number;
      box.replaceChildren(...charts.map(() => element("figure", { class: "panel" }, element("figcaption", {}, element("p")),
        element("div", { class: "chart", role: "img" }))));
    }
    charts.forEach(({ label }, k) => {
      $("figcaption p", box.children[k]).textContent = label;
      box.children[k].lastElementChild.setAttribute("aria-label", label);
    });
  }

  #draw() {
    if (!this.picture || !this.#visible) return;
    document.querySelectorAll("#guide-charts .chart").forEach((node, k) => plot(node, this.picture.charts[k], this.#moment));
    const frames = this.picture.charts[this.#moving]?.frames;
    if (frames) $("#guide-moment").textContent = frames.labels[this.#moment];
  }

  #play() {
    const frames = this.picture?.charts[this.#moving]?.frames;
    if (!frames) return;
    if (this.#moment >= frames.labels.length - 1) this.#moment = -1;
    $("#guide-play").textContent = "Pause";
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

  #leave(door) {
    const { gamma, sigma } = this.#values[6] ?? {};
    this.#go(door, { gamma, sigma });
  }
}

export async function copy(text, words) {
  try {
    await navigator.clipboard.writeText(text);
    say(words);
  } catch {
    say(`Copy this: ${text}`, 12);
  }
}
