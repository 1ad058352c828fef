// What a page does wrong: controls without a name, ids given twice, words too faint, a page wider than the screen.
() => {
  const found = [];
  const seen = (node) => node.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
  const name = (node) => node.ariaLabel || node.textContent.trim() || [...(node.labels ?? [])].map((one) => one.textContent.trim()).join("") || node.title;
  for (const node of document.querySelectorAll("#rate :is(button, a, input, select, [role=img], [role=region], table th)")) {
    if (seen(node) && !name(node)) found.push(`nameless: ${node.outerHTML.slice(0, 90)}`);
  }
  const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
  found.push(...ids.filter((id, k) => ids.indexOf(id) !== k).map((id) => `twice: ${id}`));
  const parse = (text) => (text.match(/[\d.]+/g) ?? []).map(Number);
  const srgb = (text) => { const scale = text.startsWith("color(") ? 255 : 1; const [r, g, b, a = 1] = parse(text.replace("srgb", "")); return [r * scale, g * scale, b * scale, a]; };
  const ground = (node) => {
    let [r, g, b, left] = [0, 0, 0, 1];
    for (let one = node; one && left > .01; one = one.parentElement) {
      const [x, y, z, a] = srgb(getComputedStyle(one).backgroundColor);
      [r, g, b] = [r + left * a * x, g + left * a * y, b + left * a * z];
      left *= 1 - a;
    }
    return [r, g, b];
  };
  const light = (rgb) => rgb.map((v) => v / 255).map((v) => (v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)).reduce((sum, v, k) => sum + v * [.2126, .7152, .0722][k], 0);
  for (const node of document.querySelectorAll("#rate *")) {
    const own = [...node.childNodes].some((one) => one.nodeType === 3 && one.textContent.trim());
    if (!own || !seen(node) || node.closest("svg, .unseen, :disabled, option, [inert]")) continue;
    const [a, b] = [light(srgb(getComputedStyle(node).color).slice(0, 3)), light(ground(node))];
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) found.push(`contrast ${ratio.toFixed(2)}: ${node.outerHTML.slice(0, 90)}`);
  }
  if (document.documentElement.scrollWidth > innerWidth) found.push(`wider than the screen: ${document.documentElement.scrollWidth}`);
  return [...new Set(found)];
}
