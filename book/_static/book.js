// What scrolls sideways must be reachable by keyboard: wide tables and formulas become tab stops.
function makeScrollablesFocusable() {
  for (const box of document.querySelectorAll(".bd-article table, .bd-article div.math")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}
window.addEventListener("load", makeScrollablesFocusable);
window.addEventListener("resize", makeScrollablesFocusable);

// A line must not break between a formula and its bracket, comma or full stop.
function keepPunctuationWithFormulas() {
  const ifText = (node) => (node?.nodeType === Node.TEXT_NODE ? node : null);
  for (const formula of document.querySelectorAll(".bd-article span.math")) {
    const before = ifText(formula.previousSibling);
    const after = ifText(formula.nextSibling);
    const opening = before?.data.match(/[(“]$/)?.[0] ?? "";
    const closing = after?.data.match(/^[.,;:?!)”’]+/)?.[0] ?? "";
    if (!opening && !closing) continue;
    if (opening) before.data = before.data.slice(0, -1);
    if (closing) after.data = after.data.slice(closing.length);
    const together = document.createElement("span");
    together.className = "with-punctuation";
    formula.replaceWith(together);
    together.append(opening, formula, closing);
  }
}
document.addEventListener("DOMContentLoaded", keepPunctuationWithFormulas);
