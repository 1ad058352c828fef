// Puts the page together: tabs, theme, connection, and the three parts.
import { tabFromAddress, valuesFromAddress, writeAddress } from "./address.js";
import { plotlyReady } from "./charts.js";
import { Connection } from "./connection.js";
import { Explore } from "./explore.js";
import { Paper } from "./paper.js";
import { Rate } from "./rate.js";
import { $, say } from "./words.js";

const TABS = ["explore", "rate", "paper"];
const STATES = { open: "connected", lost: "reconnecting…", full: "the lab is full, trying again…" };

const connection = new Connection();
let current = tabFromAddress(TABS);
let about = null;
const parts = {};

function choose(tab, focus = false) {
  current = tab;
  for (const name of TABS) {
    const button = $(`#tab-${name}`);
    button.setAttribute("aria-selected", String(name === tab));
    button.tabIndex = name === tab ? 0 : -1;
    $(`#${name}`).hidden = name !== tab;
    parts[name]?.show(name === tab);
  }
  if (focus) $(`#tab-${tab}`).focus();
  if (about) writeAddress(about.controls, parts.explore.values, tab);
}

function wireTabs() {
  for (const name of TABS) $(`#tab-${name}`).addEventListener("click", () => choose(name));
  $(".tabs").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const place = TABS.indexOf(current);
    if (step) choose(TABS[(place + step + TABS.length) % TABS.length], true);
    else if (event.key === "Home") choose(TABS[0], true);
    else if (event.key === "End") choose(TABS.at(-1), true);
    else return;
    event.preventDefault();
  });
  window.addEventListener("hashchange", () => choose(tabFromAddress(TABS)));
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

function wireConnection() {
  connection.addEventListener("state", ({ detail }) => {
    const status = $("#connection");
    status.dataset.state = detail === "open" ? "open" : "lost";
    status.textContent = STATES[detail];
  });
}

async function begin() {
  wireTabs();
  wireTheme();
  wireConnection();
  const answer = await fetch("/api/about");
  about = await answer.json();
  await plotlyReady;
  parts.explore = new Explore(connection, about, valuesFromAddress(about.controls), () => current);
  parts.rate = new Rate(connection, about);
  parts.paper = new Paper(connection);
  choose(current);
  connection.open();
}

begin().catch((error) => say(`The lab could not start: ${error.message}`, 60));
