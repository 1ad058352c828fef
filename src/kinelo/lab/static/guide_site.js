// Starts the guided visit on a page of the documentation, where no server answers: all pictures are in the page.
import { Guide } from "./guide.js";
import { $ } from "./words.js";

const { scenes, pictures, doors } = JSON.parse($("#guide-data").textContent);

const source = { scenes: async () => scenes, scene: async (number, units) => pictures[`${number}-${units}`] };

async function begin() {
  let place = "";
  const guide = new Guide($("#guide"), {
    source, doors, go: (door) => { location.href = doors.find((one) => one.door === door).address; },
    write: () => { place = `#${guide.place}${guide.query ? `?${guide.query}` : ""}`; history.replaceState(null, "", place); },
  });
  const follow = async () => {
    const [, number, query] = location.hash.match(/^#(\d)(?:\?(.*))?$/) ?? [];
    if (number && location.hash !== place) await guide.from(Number(number), query ?? "");
  };
  await follow();
  window.addEventListener("hashchange", follow);
  await guide.show(true);
}

begin();
