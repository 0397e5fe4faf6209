// The results explorer: choose metric, data set, label frequency and methods; published numbers and
// ours appear side by side with intervals of two standard errors. It draws with `add` of figures.js;
// its data stand in the page as JSON.

function explorer(box) {
  const data = JSON.parse(box.querySelector("script").textContent);
  const sources = Object.entries(data.sources);
  const rowsAt = (metric, set, c) =>
    data.rows.filter(([m, name, frequency]) => m === metric && name === set && frequency === c);
  const having = (column, test) => [...new Set(data.rows.filter(test).map((row) => row[column]))];
  box.replaceChildren();

  const controls = add(box, "div", { class: "pu-controls" });
  const choices = {};
  for (const [name, label] of [["metric", "metric"], ["set", "data set"], ["c", "label frequency c"]]) {
    const line = add(controls, "label", { class: "pu-choice" });
    add(line, "span", {}, label);
    choices[name] = add(line, "select", { name });
    choices[name].addEventListener("change", () => { offer(); show(); });
  }
  const methods = add(box, "fieldset", { class: "pu-methods" });
  add(methods, "legend", {}, "methods");
  const hidden = new Set();
  const picture = add(box, "div");
  const key = add(box, "ul", { class: "pu-legend" });
  sources.forEach(([source, text]) => {
    const entry = add(key, "li");
    mark(add(entry, "svg", { viewBox: "0 0 26 10", "aria-hidden": "true" }), source, 1, 25, 13, 5);
    add(entry, "span", {}, text);
  });
  const table = add(box, "table", { class: "pu-readings" });

  function fill(select, entries, wanted) {
    const before = select.value || wanted;
    select.replaceChildren();
    for (const [value, text] of entries) add(select, "option", { value }, text);
    const values = entries.map(([value]) => `${value}`);
    select.value = values.includes(`${before}`) ? before : values[0];
  }

  // Only what there is: Table 1 has no synthetic sets
  function offer() {
    const [metric, set, c] = data.first;
    fill(choices.metric, Object.entries(data.metrics), metric);
    const sets = having(1, (row) => row[0] === choices.metric.value);
    fill(choices.set, Object.entries(data.sets).filter(([name]) => sets.includes(name)), set);
    const frequencies = having(2, (row) => row[0] === choices.metric.value && row[1] === choices.set.value);
    fill(choices.c, frequencies.map((value) => [value, value]), c);
    methods.querySelectorAll("label").forEach((label) => label.remove());
    for (const [, , , method] of chosen()) {
      const label = add(methods, "label");
      const tick = add(label, "input", { type: "checkbox", name: method });
      tick.checked = !hidden.has(method);
      tick.addEventListener("change", () => {
        hidden[tick.checked ? "delete" : "add"](method);
        show();
      });
      add(label, "span", {}, method);
    }
  }

  const chosen = () => rowsAt(choices.metric.value, choices.set.value, Number(choices.c.value));
  const visible = () => chosen().filter((row) => !hidden.has(row[3]));
  const text = ([mean, error]) => (error === null ? mean.toFixed(2) : `${mean.toFixed(2)} ± ${error.toFixed(2)}`);

  function mark(svg, source, low, high, at, y) {
    add(svg, "path", { d: `M${low} ${y}H${high}`, class: `pu-${source}` });
    add(svg, "circle", { cx: at, cy: y, r: 4, class: `pu-${source}` });
  }

  function draw(rows) {
    picture.replaceChildren();
    const width = Math.max(260, box.clientWidth);
    const [left, right, high, step] = [Math.min(150, 0.36 * width), 14, 30, 13];
    const ends = rows.flatMap((row) =>
      row[4].filter(Boolean).flatMap(([mean, error]) => [mean - 2 * error, mean + 2 * error]));
    if (!ends.length) return;
    const low = Math.max(0, Math.floor(Math.min(...ends) / 5) * 5);
    const top = Math.min(100, Math.ceil(Math.max(...ends) / 5) * 5);
    const X = (v) => left + ((v - low) / (top - low || 1)) * (width - left - right);
    const used = sources.map((_, j) => j).filter((j) => rows.some((row) => row[4][j]));
    const line = step * used.length + 10;
    const height = rows.length * line + high + 24;
    const name = `${data.metrics[choices.metric.value]} on ${data.sets[choices.set.value]} at c = ${choices.c.value}`;
    const svg = add(picture, "svg", { role: "img", width: "100%", height, viewBox: `0 0 ${width} ${height}` });
    svg.setAttribute("aria-label", `${name}: published numbers and ours, with intervals; the table below lists them.`);
    for (let v = low; v <= top; v += top - low > 40 ? 10 : 5) {
      add(svg, "path", { d: `M${X(v)} 4V${height - 40}`, class: "pu-grid" });
      add(svg, "text", { x: X(v), y: height - 24, "text-anchor": "middle" }, `${v}`);
    }
    add(svg, "text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, `${data.metrics[choices.metric.value]}, per cent`);
    rows.forEach(([, , , method, numbers], k) => {
      const y = 12 + k * line;
      add(svg, "text", { x: 0, y: y + (step * (used.length - 1)) / 2 + 4 }, method);
      used.forEach((j, place) => {
        if (!numbers[j]) return;
        const [mean, error] = numbers[j];
        const ends = [Math.max(low, mean - 2 * error), Math.min(top, mean + 2 * error)].map(X);
        mark(svg, sources[j][0], ...ends, X(mean), y + place * step);
      });
    });
  }

  function tell(rows) {
    table.replaceChildren();
    add(table, "caption", {}, "Mean ± standard error over the seeds, in per cent; in brackets, the number of seeds");
    const used = sources.map((_, j) => rows.some((row) => row[4][j]));
    const heads = add(add(table, "thead"), "tr");
    add(heads, "th", { scope: "col" }, "method");
    sources.forEach(([, name], j) => used[j] && add(heads, "th", { scope: "col" }, name));
    const body = add(table, "tbody");
    for (const [, , , method, numbers] of rows) {
      const row = add(body, "tr");
      add(row, "th", { scope: "row" }, method);
      numbers.forEach((number, j) => {
        if (used[j]) add(row, "td", { "data-source": sources[j][0] }, number ? `${text(number)} (${number[2]})` : "–");
      });
    }
    key.querySelectorAll("li").forEach((entry, j) => (entry.hidden = !used[j]));
  }

  function show() {
    const rows = visible();
    draw(rows);
    tell(rows);
  }
  offer();
  show();
  new ResizeObserver(() => draw(visible())).observe(box);
}

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll(".pu-explorer").forEach(explorer);
});
