// Puts the page together: tabs, theme, connection, and the three parts.
import { extrasFromAddress, tabFromAddress, valuesFromAddress, writeAddress } from "./address.js";
import { plotlyReady } from "./charts.js";
import { addExports } from "./exports.js";
import { Connection } from "./connection.js";
import { Explore } from "./explore.js";
import { Guide } from "./guide.js";
import { $, say } from "./words.js";

const TABS = ["guide", "explore", "rate", "paper"];
const PLAIN = "explore";
const DOORS = [
  { door: "explore", title: "Explore freely", label: "Open the sliders", words: "All sliders, a league that plays while you watch. It begins with the step of the sixth scene." },
  { door: "rate", title: "Rate my league", label: "Which K?", words: "A made-up league is rated and its K audited at once; then drop a file of your own." },
  { door: "paper", title: "The paper", label: "See what holds", words: "Every figure computed anew, and every claim that can be measured: what holds, and what does not." },
];
const STATES = { open: "connected", lost: "not connected", full: "the lab is full" };
const BANNERS = {
  lost: "The lab does not answer: what you see is what it said last. It goes on by itself once `kinelo lab` runs again; if that " +
    "printed another address, open that one.",
  full: "All places of the lab are taken. It goes on by itself once one is free.",
};
const ASKING = ".controls, .player, .drops, #mapping, #what-if, #odds, #compare, .ranking, #paper-maker, .again";

const connection = new Connection();
const first = firstTab();
let current = tabFromAddress(TABS, first, first);
let about = null;
const parts = {};

// The guide on the first visit, unless a link says more; then the sliders.
function firstTab() {
  let visited = true;
  try { visited = localStorage.getItem("kinelo-visited") !== null; localStorage.setItem("kinelo-visited", "yes"); } catch { /* storage may be closed to us */ }
  return visited || new URLSearchParams(location.search).size ? PLAIN : "guide";
}

// Without `write`, the address already says which tab it is.
function choose(tab, { focus = false, write = true } = {}) {
  current = tab;
  const shown = {};
  for (const name of TABS) {
    const button = $(`#tab-${name}`);
    button.setAttribute("aria-selected", String(name === tab));
    button.tabIndex = name === tab ? 0 : -1;
    $(`#${name}`).hidden = name !== tab;
    shown[name] = parts[name]?.show(name === tab);
  }
  if (focus) $(`#tab-${tab}`).focus();
  if (about && write) rewrite(`tab-${tab}`);
  return shown[tab];
}

// The address of what is on the screen; the guide has one for each scene.
function rewrite(what = null) {
  const place = current === "guide" ? `guide/${parts.guide.place}${parts.guide.query ? `?${parts.guide.query}` : ""}` : current === "rate" ? parts.rate?.place ?? current : current;
  writeAddress(about.controls, parts.explore.values, parts.explore.extras, place === PLAIN ? "" : place, what);
}

// A scene that the address names.
async function openScene() {
  const [, number, query] = location.hash.match(/^#guide\/(\d)(?:\?(.*))?$/) ?? [];
  if (number) await parts.guide.from(Number(number), query ?? "");
}

// Through a door of the guide: the sliders take the step of the sixth scene, and a sample league is rated and audited.
function goThrough(door, values) {
  choose(door);
  if (door === "explore") parts.explore.continueFrom(values);
  if (door === "rate") parts.rate.begin();
  window.scrollTo(0, 0);
}

function wireHistory() {
  window.addEventListener("popstate", async () => {
    const tab = tabFromAddress(TABS, PLAIN, current);
    parts.explore.place(valuesFromAddress(about.controls));
    await openScene();
    parts.rate.follow(location.hash);
    choose(tab, { write: false });
    rewrite();
  });
}

function wireTabs() {
  for (const name of TABS) $(`#tab-${name}`).addEventListener("click", () => choose(name));
  $(".tabs").addEventListener("keydown", (event) => {
    const step = new Map([["ArrowRight", 1], ["ArrowLeft", -1]]).get(event.key);
    const place = TABS.indexOf(current);
    if (step) choose(TABS[(place + step + TABS.length) % TABS.length], { focus: true });
    else if (event.key === "Home") choose(TABS[0], { focus: true });
    else if (event.key === "End") choose(TABS.at(-1), { focus: true });
    else return;
    event.preventDefault();
  });
}

function wireTheme() {
  const button = $("#theme");
  const label = () => { button.textContent = document.documentElement.dataset.theme === "dark" ? "Light" : "Dark"; };
  button.addEventListener("click", () => {
    const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("kinelo-theme", theme); } catch { /* it then lasts for this visit */ }
    document.documentElement.dataset.theme = theme;
    document.dispatchEvent(new Event("themechange"));
  });
  document.addEventListener("themechange", label);
  label();
}

// Where the lab is shared, everybody in it can show others the way in.
function wireJoining(address) {
  if (!address) return;
  $("#join").hidden = false;
  $("#join-address").textContent = address;
  $("#join").addEventListener("click", () => {
    $("#join-code").src = "/join.svg";
    $("#join-sheet").showModal();
  });
}

function wireConnection() {
  connection.addEventListener("state", ({ detail }) => {
    const status = $("#connection");
    status.dataset.state = detail === "open" ? "open" : "lost";
    status.textContent = STATES[detail];
    // Nothing can be asked of a lab that is gone, so nothing pretends that it can.
    const banner = $("#banner");
    banner.hidden = detail === "open";
    banner.textContent = detail === "open" ? "" : BANNERS[detail];
    for (const node of document.querySelectorAll(ASKING)) node.inert = detail !== "open";
    $(".verdict").classList.toggle("waiting", detail !== "open");
  });
}

async function asked(path, options = {}) {
  const answer = await fetch(path, options).catch(() => { throw new Error("The lab does not answer."); });
  const content = await answer.json();
  if (!answer.ok) throw new Error(content.error);
  return content;
}

async function begin() {
  wireTabs();
  wireTheme();
  wireConnection();
  const answer = await fetch("/api/about");
  about = await answer.json();
  wireJoining(about.join);
  parts.explore = new Explore(connection, about, valuesFromAddress(about.controls), extrasFromAddress(), (what) => rewrite(what));
  const source = {
    scenes: () => asked("/api/guide"), scene: (number, units) => asked(`/api/guide/${number}?units=${units}`),
    ...(about.join ? { guesses: (number, choice) => asked(`/api/guide/${number}/guesses`, choice === null ? {} : { method: "POST", body: JSON.stringify({ choice }) }) } : {}),
  };
  parts.guide = new Guide($("#guide"), { source, doors: DOORS, go: goThrough, write: () => rewrite("guide") });
  await openScene();
  await choose(current, { write: false });
  // The words of the guide stand: now what is large, and what nobody sees at first.
  const [{ Rate }, { Paper }] = await Promise.all([import("./rate.js"), import("./paper.js"), plotlyReady()]);
  parts.rate = new Rate(connection, about);
  parts.paper = new Paper(connection);
  addExports();
  parts.rate.follow(location.hash);
  if (current === "rate" || current === "paper") choose(current, { write: false });
  rewrite();
  wireHistory();
  connection.open();
}

begin().catch((error) => say(`The lab could not start: ${error.message}`, 60));
