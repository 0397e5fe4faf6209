// A displayed formula that is wider than the page becomes smaller.
const SMALLEST = 0.6; // of its size, so that it can still be read
function fitFormulas() {
  for (const formula of document.querySelectorAll('.bd-article mjx-container[display="true"]')) {
    formula.dataset.size ??= formula.style.fontSize;
    formula.style.fontSize = formula.dataset.size;
    const size = parseFloat(getComputedStyle(formula).fontSize);
    let share = 1;
    for (let tries = 0; tries < 4 && share > SMALLEST; tries++) { // the number takes room, too
      const fits = formula.clientWidth / formula.scrollWidth;
      if (!(fits < 1)) break; // fits, or is folded away
      share = Math.max(SMALLEST, 0.97 * fits * share);
      formula.style.fontSize = `${share * size}px`;
    }
  }
}

// What still scrolls sideways must be reachable by keyboard: it becomes a tab stop.
function makeScrollablesFocusable() {
  const boxes = ".bd-article table, .bd-article div.math, .bd-article mjx-container";
  for (const box of document.querySelectorAll(boxes)) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else if (box.tabIndex === 0 && !box.matches("mjx-container")) box.removeAttribute("tabindex");
  }
}
function fitToPage() {
  fitFormulas();
  makeScrollablesFocusable();
}
window.addEventListener("load", () => {
  fitToPage();
  window.MathJax?.startup?.promise?.then(fitToPage);
});
window.addEventListener("resize", fitToPage);
document.addEventListener("toggle", fitToPage, true); // a folded solution was opened
document.addEventListener("click", (event) => {
  if (event.target.closest(".toggle-button, .admonition.toggle")) setTimeout(fitToPage, 400);
});

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

// Words of the glossary: their meaning in a bubble, on hover, on focus, and at the first tap.
function explainTerms() {
  const bubble = document.createElement("div");
  bubble.className = "pu-bubble";
  bubble.id = "pu-bubble";
  bubble.setAttribute("role", "tooltip");
  bubble.hidden = true;
  document.body.append(bubble);
  const hide = () => (bubble.hidden = true);
  function show(term) {
    bubble.textContent = term.dataset.meaning;
    bubble.hidden = false;
    const place = term.getBoundingClientRect();
    const left = Math.min(place.left, document.documentElement.clientWidth - bubble.offsetWidth - 8);
    bubble.style.left = `${Math.max(8, left) + window.scrollX}px`;
    bubble.style.top = `${place.bottom + window.scrollY + 4}px`;
  }
  for (const term of document.querySelectorAll("a.pu-term")) {
    term.dataset.meaning = term.title;
    term.removeAttribute("title");
    term.setAttribute("aria-describedby", bubble.id);
    term.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && show(term));
    term.addEventListener("pointerleave", hide);
    term.addEventListener("focus", () => show(term));
    term.addEventListener("blur", hide);
    term.addEventListener("click", (event) => {
      if (window.matchMedia("(hover: none)").matches && term.dataset.told !== "yes") {
        event.preventDefault(); // the first tap tells, the second goes there
        term.dataset.told = "yes";
        show(term);
      }
    });
  }
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
}
document.addEventListener("DOMContentLoaded", explainTerms);

// pandas gives the names of the index a row of its own, empty but for them: they move one row up.
function joinHeaderRows() {
  for (const head of document.querySelectorAll("table.dataframe thead")) {
    const [above, last] = [...head.rows].slice(-2);
    if (!last) continue;
    const names = [...last.cells].map((cell) => cell.textContent.trim());
    const levels = names.findIndex((name) => !name);
    if (levels < 1 || names.slice(levels).some(Boolean)) continue;
    for (let k = 0; k < levels; k++) {
      const cell = above.cells[k];
      const columns = cell.textContent.trim();
      cell.textContent = columns ? `${names[k]} / ${columns}` : names[k];
    }
    last.remove();
  }
}
document.addEventListener("DOMContentLoaded", joinHeaderRows);

// On a telephone the letters of a figure are small: a tap makes it large, to be moved sideways.
function enlargeFigures() {
  for (const picture of document.querySelectorAll(".bd-article :is(figure > img:not(.pu-static), .cell_output img)")) {
    const figure = picture.parentElement;
    figure.classList.add("pu-tap");
    picture.addEventListener("click", () => {
      if (!window.matchMedia("(max-width: 720px)").matches) return;
      figure.tabIndex = figure.classList.toggle("pu-large") ? 0 : -1; // what scrolls is a tab stop
    });
  }
}
window.addEventListener("load", enlargeFigures); // after moving figures have taken their places
