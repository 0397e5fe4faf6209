// Figures that can be moved: each takes the place of the static figure whose name stands in its
// data-instead. Plain SVG, drawn anew at every change; the formulas are those of pu_utils.rules and
// pu_utils.risk, and tests/browser/test_figures.py compares the two.

// Rules and risks, one identity a line

const sigmoid = (t) => 1 / (1 + Math.exp(-t));
const labelPosterior = (y, e) => e * y;
const propensity = (y, s) => (y > 0 ? s / y : 0);
const augmentedPosterior = (y, s) => (s < 1 ? (y - s) / (1 - s) : 0);
const augmentedThreshold = (s) => (1 + s) / 2;
const xOnlyRule = (y) => 2 * y > 1;
const augmentedRule = (y, s) => y > augmentedThreshold(s);
const naiveError = (y, s) => (xOnlyRule(y) ? 1 - y : y - s); // a label is never overlooked
const augmentedError = (y, s) => Math.min(y - s, 1 - y);

const grid = (low, high, n) =>
  Array.from({ length: n }, (_, i) => low + (i * (high - low)) / (n - 1));
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

// Elements

const SVG = "http://www.w3.org/2000/svg";
function add(parent, tag, attributes = {}, text = "") {
  const inside = parent.namespaceURI === SVG || tag === "svg";
  const node = inside ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text) node.textContent = text;
  parent.append(node);
  return node;
}

function slider(box, { name, label, min, max, step, value, digits }, changed) {
  const line = add(box, "label", { class: "pu-slider" });
  add(line, "span", {}, label);
  const input = add(line, "input", { type: "range", name, min, max, step, value });
  const shown = add(line, "output");
  const show = () => (shown.textContent = Number(input.value).toFixed(digits));
  input.addEventListener("input", () => { show(); changed(name); });
  show();
  return {
    get value() { return Number(input.value); },
    set value(number) { input.value = number; show(); },
  };
}

function legend(box, entries) {
  const list = add(box, "ul", { class: "pu-legend" });
  for (const [style, text] of entries) {
    const entry = add(list, "li");
    add(add(entry, "svg", { viewBox: "0 0 26 10", "aria-hidden": "true" }), "path", {
      class: style, d: "M1 5H25",
    });
    add(entry, "span", {}, text);
  }
}

// A table of readings: one row a line, each value to be set by its name
function readings(box, head, rows) {
  const table = add(box, "table", { class: "pu-readings" });
  const titles = add(add(table, "thead"), "tr");
  head.forEach((text, k) => add(titles, k ? "th" : "td", k ? { scope: "col" } : {}, text));
  const body = add(table, "tbody");
  for (const [text, ...names] of rows) {
    const line = add(body, "tr");
    add(line, "th", { scope: "row" }, text);
    for (const name of names) add(line, "td", { "data-reading": name });
  }
  return (values) => {
    for (const [name, value] of Object.entries(values)) {
      table.querySelector(`[data-reading="${name}"]`).textContent = value;
    }
  };
}

// Axes in pixels of the page, so that letters keep their size on a telephone
function axes(svg, { width, height, x, y, xticks, yticks, xlabel, ylabel }) {
  svg.replaceChildren();
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("height", height);
  const [left, right, top, bottom] = [46, 12, 10, 42];
  const X = (v) => left + ((v - x[0]) / (x[1] - x[0])) * (width - left - right);
  const Y = (v) => height - bottom - ((v - y[0]) / (y[1] - y[0])) * (height - top - bottom);
  const path = (points) => "M" + points.map(([a, b]) => `${X(a).toFixed(1)} ${Y(b).toFixed(1)}`).join("L");
  const plot = {
    X, Y,
    x: (pixel) => x[0] + ((pixel - left) / (width - left - right)) * (x[1] - x[0]),
    y: (pixel) => y[0] + ((height - bottom - pixel) / (height - top - bottom)) * (y[1] - y[0]),
    line: (points, style) => add(svg, "path", { d: path(points), class: style }),
    area: (points, style) => add(svg, "path", { d: path(points) + "Z", class: style }),
    dot: (a, b, style) => add(svg, "circle", { cx: X(a), cy: Y(b), r: 5, class: style }),
    text: (a, b, text, anchor = "start") =>
      add(svg, "text", { x: X(a), y: Y(b), "text-anchor": anchor }, text),
  };
  for (const v of xticks) {
    plot.line([[v, y[0]], [v, y[1]]], "pu-grid");
    add(svg, "text", { x: X(v), y: height - bottom + 16, "text-anchor": "middle" }, `${v}`);
  }
  for (const v of yticks) {
    plot.line([[x[0], v], [x[1], v]], "pu-grid");
    add(svg, "text", { x: left - 6, y: Y(v) + 4, "text-anchor": "end" }, `${v}`);
  }
  add(svg, "text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, xlabel);
  const across = `rotate(-90 13 ${(height - bottom) / 2})`;
  add(svg, "text", { x: 13, y: (height - bottom) / 2, "text-anchor": "middle", transform: across }, ylabel);
  return plot;
}

// The frame that all figures share: sliders, drawing, legend, readings; draws again when resized
function frame(box, name, sliders, changed) {
  box.replaceChildren();
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", name);
  const controls = add(box, "div", { class: "pu-controls" });
  const values = {};
  const svg = add(box, "svg", { role: "img", width: "100%" });
  for (const options of sliders) values[options.name] = slider(controls, options, (which) => changed(which));
  new ResizeObserver(() => changed()).observe(box);
  const size = (height) => ({ width: Math.max(260, box.clientWidth || 600), height });
  return { svg, values, size };
}

// 1. The clinic of chapter 1

function clinic(box) {
  const PATIENTS = 20000;
  const ages = grid(20, 90, 701);
  const sliders = [
    { name: "illness", label: "slope of illness, per year", min: 0.01, max: 0.2, step: 0.01, value: 0.1, digits: 2 },
    { name: "reporting", label: "slope of reporting, per year", min: 0, max: 0.2, step: 0.01, value: 0.05, digits: 2 },
  ];
  let tell;
  const { svg, values, size } = frame(box, "The clinic, with sliders", sliders, draw);
  legend(box, [
    ["pu-y", "y(x), share of the ill"],
    ["pu-s", "s(x), share of reports"],
    ["pu-x-only", "1/2, threshold of the naive rule"],
    ["pu-augmented", "(1+s(x))/2, augmented threshold"],
  ]);
  tell = readings(box, ["of 20,000 patients", "naive rule", "augmented rule"], [
    ["says “ill” without a report from age", "naive-from", "augmented-from"],
    ["silent patients it calls ill", "naive-called", "augmented-called"],
    ["of these, truly ill", "naive-right", "augmented-right"],
    ["silent ill patients it overlooks", "naive-missed", "augmented-missed"],
    ["wrong about, of all patients", "naive-wrong", "augmented-wrong"],
  ]);

  function readingsOf(rule, called, errors, y, s) {
    const first = called.indexOf(true);
    const count = (shares) => Math.round(PATIENTS * mean(shares)).toLocaleString("en");
    return {
      [`${rule}-from`]: first < 0 ? "never" : ages[first].toFixed(1),
      [`${rule}-called`]: count(ages.map((_, i) => (called[i] ? 1 - s[i] : 0))),
      [`${rule}-right`]: count(ages.map((_, i) => (called[i] ? y[i] - s[i] : 0))),
      [`${rule}-missed`]: count(ages.map((_, i) => (called[i] ? 0 : y[i] - s[i]))),
      [`${rule}-wrong`]: `${(100 * mean(errors)).toFixed(2)}%`,
    };
  }

  function draw() {
    const y = ages.map((age) => sigmoid(values.illness.value * (age - 58)));
    const s = ages.map((age, i) => labelPosterior(y[i], sigmoid(values.reporting.value * (age - 58))));
    const naive = y.map(xOnlyRule);
    const augmented = y.map((value, i) => augmentedRule(value, s[i]));
    const plot = axes(svg, {
      ...size(320), x: [20, 90], y: [0, 1], xlabel: "age", ylabel: "probability",
      xticks: [20, 30, 40, 50, 60, 70, 80, 90], yticks: [0, 0.25, 0.5, 0.75, 1],
    });
    const differ = ages.filter((_, i) => naive[i] && !augmented[i]);
    if (differ.length) {
      const [a, b] = [differ[0], differ[differ.length - 1]];
      plot.area([[a, 0], [a, 1], [b, 1], [b, 0]], "pu-differ");
      plot.text((a + b) / 2, 0.06, "rules disagree", "middle");
    }
    plot.line([[20, 0.5], [90, 0.5]], "pu-x-only");
    plot.line(ages.map((age, i) => [age, augmentedThreshold(s[i])]), "pu-augmented");
    plot.line(ages.map((age, i) => [age, s[i]]), "pu-s");
    plot.line(ages.map((age, i) => [age, y[i]]), "pu-y");
    const told = {
      ...readingsOf("naive", naive, y.map((value, i) => naiveError(value, s[i])), y, s),
      ...readingsOf("augmented", augmented, y.map((value, i) => augmentedError(value, s[i])), y, s),
    };
    tell?.(told);
    svg.setAttribute(
      "aria-label",
      `Curves of y and s over age. Without a report the naive rule says ill from ${told["naive-from"]}, ` +
        `the augmented rule from ${told["augmented-from"]}.`,
    );
  }
  draw();
}

// 2. Example 2: two logistic curves

function sigmoids(box) {
  const PAPER = [0, 0.5, 0.75, 1, 1.5, 2]; // slopes of Figure 1
  const points = grid(-9, 9, 7201);
  const density = points.map((x) => Math.exp((-x * x) / 2));
  const total = density.reduce((sum, value) => sum + value, 0);
  const expectation = (of) => points.reduce((sum, x, i) => sum + of(x) * density[i], 0) / total;
  const sliders = [
    { name: "alpha", label: "α, slope of the class", min: 0.1, max: 4, step: 0.05, value: 1, digits: 2 },
    { name: "beta", label: "β, slope of the labels", min: 0, max: 4, step: 0.05, value: 0.5, digits: 2 },
  ];
  let tell;
  const { svg, values, size } = frame(box, "Example 2, with sliders", sliders, draw);
  legend(box, [
    ["pu-augmented", "ỹ(x, 0), of an unlabelled row"],
    ["pu-y", "y(x)"],
    ["pu-s", "e(x)"],
    ["pu-thin", "ỹ(x, 0) for β/α = 0, ½, ¾, 1, 1½ and 2"],
  ]);
  tell = readings(box, ["with X standard normal", ""], [
    ["an unlabelled row is called positive from x =", "boundary"],
    ["share of rows with a label", "labelled"],
    ["error of the x-only rule", "x-only"],
    ["error of the naive rule", "naive"],
    ["error of the augmented rule", "augmented"],
  ]);

  function boundary(alpha, beta) {
    if (beta >= alpha) return "never";
    let [low, high] = [0, 30 / alpha];
    for (let k = 0; k < 60; k++) {
      const x = (low + high) / 2;
      const y = sigmoid(alpha * x);
      if (augmentedRule(y, labelPosterior(y, sigmoid(beta * x)))) high = x;
      else low = x;
    }
    return high.toFixed(3);
  }

  function draw() {
    const [alpha, beta] = [values.alpha.value, values.beta.value];
    const plot = axes(svg, {
      ...size(320), x: [-6, 10], y: [0, 1], xlabel: "x", ylabel: "probability",
      xticks: [-6, -4, -2, 0, 2, 4, 6, 8, 10], yticks: [0, 0.25, 0.5, 0.75, 1],
    });
    const shown = grid(-6, 10, 321);
    const augmented = (slope) => (x) => {
      const y = sigmoid(alpha * x);
      return [x, augmentedPosterior(y, labelPosterior(y, sigmoid(slope * x)))];
    };
    for (const ratio of PAPER) plot.line(shown.map(augmented(ratio * alpha)), "pu-thin");
    plot.line([[-6, 0.5], [10, 0.5]], "pu-x-only");
    plot.line(shown.map((x) => [x, sigmoid(alpha * x)]), "pu-y");
    plot.line(shown.map((x) => [x, sigmoid(beta * x)]), "pu-s");
    plot.line(shown.map(augmented(beta)), "pu-augmented");
    const from = boundary(alpha, beta);
    if (from !== "never" && from < 10) plot.dot(Number(from), 0.5, "pu-dot");
    const y = (x) => sigmoid(alpha * x);
    const s = (x) => labelPosterior(y(x), sigmoid(beta * x));
    tell?.({
      boundary: from,
      labelled: expectation(s).toFixed(4),
      "x-only": expectation((x) => Math.min(y(x), 1 - y(x))).toFixed(4),
      naive: expectation((x) => naiveError(y(x), s(x))).toFixed(4),
      augmented: expectation((x) => augmentedError(y(x), s(x))).toFixed(4),
    });
    svg.setAttribute(
      "aria-label",
      `Augmented posterior of unlabelled rows for alpha ${alpha} and beta ${beta}. ` +
        `An unlabelled row is called positive from x = ${from}.`,
    );
  }
  draw();
}

// 3. The triangle of s and y

function triangle(box) {
  const sliders = [
    { name: "s", label: "s, probability of a label", min: 0, max: 1, step: 0.01, value: 0.39, digits: 2 },
    { name: "y", label: "y, probability of class 1", min: 0, max: 1, step: 0.01, value: 0.67, digits: 2 },
  ];
  let tell, plot, point;
  const { svg, values, size } = frame(box, "The triangle of s and y, with a point to move", sliders, moved);
  legend(box, [
    ["pu-x-only", "y = 1/2"],
    ["pu-augmented", "y = (1+s)/2"],
    ["pu-clinic", "the clinic of chapter 1, ages 20 to 90"],
  ]);
  tell = readings(box, ["a row at this point", ""], [
    ["e = s/y, probability that a positive is labelled", "e"],
    ["ỹ = (y−s)/(1−s), probability of class 1 without a label", "augmented-posterior"],
    ["without a label, the x-only rule says", "x-only-says"],
    ["without a label, the augmented rule says", "augmented-says"],
    ["error of the x-only rule here", "x-only"],
    ["error of the naive rule here", "naive"],
    ["error of the augmented rule here", "augmented"],
    ["so the x-only rule loses", "loses"],
  ]);

  function background() {
    const width = size(0).width;
    plot = axes(svg, {
      width, height: Math.min(width, 460), x: [0, 1], y: [0, 1],
      xlabel: "s, probability of a label", ylabel: "y, probability of class 1",
      xticks: [0, 0.25, 0.5, 0.75, 1], yticks: [0, 0.25, 0.5, 0.75, 1],
    });
    plot.area([[0, 0], [0, 0.5], [0.5, 0.5]], "pu-lost-label");
    plot.area([[0, 0.5], [1, 1], [0.5, 0.5]], "pu-differ");
    plot.area([[0, 0], [1, 0], [1, 1]], "pu-impossible");
    plot.line([[0, 0.5], [0.5, 0.5]], "pu-x-only");
    plot.line([[0, 0.5], [1, 1]], "pu-augmented");
    const ages = grid(20, 90, 141).map((age) => sigmoid(0.1 * (age - 58)));
    const reports = grid(20, 90, 141).map((age) => sigmoid(0.05 * (age - 58)));
    plot.line(ages.map((y, i) => [labelPosterior(y, reports[i]), y]), "pu-clinic");
    plot.text(0.03, 0.93, "both say 1");
    plot.text(0.03, 0.3, "both say 0");
    plot.text(0.5, 0.63, "only x-only says 1", "middle");
    plot.text(0.97, 0.2, "s > y: impossible", "end");
    point = plot.dot(values.s.value, values.y.value, "pu-handle");
    point.setAttribute("r", 11);
  }

  function moved(which) {
    if (!which || !point) background();
    if (which === "s") values.y.value = Math.max(values.y.value, values.s.value);
    if (which === "y") values.s.value = Math.min(values.y.value, values.s.value);
    const [s, y] = [values.s.value, values.y.value];
    point.setAttribute("cx", plot.X(s));
    point.setAttribute("cy", plot.Y(y));
    const lost = Math.min(y, 1 - y) - augmentedError(y, s);
    tell?.({
      e: propensity(y, s).toFixed(3),
      "augmented-posterior": augmentedPosterior(y, s).toFixed(3),
      "x-only-says": xOnlyRule(y) ? "1" : "0",
      "augmented-says": augmentedRule(y, s) ? "1" : "0",
      "x-only": Math.min(y, 1 - y).toFixed(3),
      naive: naiveError(y, s).toFixed(3),
      augmented: augmentedError(y, s).toFixed(3),
      loses: lost.toFixed(3),
    });
    svg.setAttribute("aria-label", `The triangle s ≤ y with a point at s = ${s}, y = ${y}.`);
  }

  function drag(event) {
    const corner = svg.getBoundingClientRect();
    const inside = (v) => Math.min(1, Math.max(0, v));
    values.y.value = inside(plot.y(event.clientY - corner.top));
    values.s.value = Math.min(inside(plot.x(event.clientX - corner.left)), values.y.value);
    moved("drag");
  }
  svg.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch" && event.target !== point) return; // a finger may be scrolling
    svg.setPointerCapture(event.pointerId);
    drag(event);
  });
  svg.addEventListener("pointermove", (event) => {
    if (svg.hasPointerCapture(event.pointerId)) drag(event);
  });
  moved();
}

// Each stands where its static figure stood; without scripts, and on paper, that one is there

const FIGURES = { clinic, sigmoids, triangle };
document.addEventListener("DOMContentLoaded", () => {
  for (const box of document.querySelectorAll(".pu-play")) {
    const figure = document.getElementById(box.dataset.instead);
    const picture = figure.querySelector("img");
    picture.classList.add("pu-static");
    picture.after(box);
    FIGURES[box.dataset.figure](box);
  }
});
