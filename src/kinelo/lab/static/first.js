// Runs before the first paint, so that the theme does not flash: a remembered choice, else the system's.
const systemDark = matchMedia("(prefers-color-scheme: dark)");
function settleTheme() {
  let kept = null;
  try { kept = localStorage.getItem("kinelo-theme"); } catch { /* storage may be closed to us */ }
  const theme = kept === "light" || kept === "dark" ? kept : systemDark.matches ? "dark" : "light";
  document.documentElement.dataset.theme = theme;
  document.dispatchEvent(new Event("themechange"));
}
settleTheme();
systemDark.addEventListener("change", settleTheme);
