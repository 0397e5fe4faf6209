// What scrolls sideways must be reachable by keyboard: wide tables and formulas become tab stops.
function makeScrollablesFocusable() {
  for (const box of document.querySelectorAll(".bd-article table, .bd-article div.math")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}
window.addEventListener("load", makeScrollablesFocusable);
window.addEventListener("resize", makeScrollablesFocusable);
