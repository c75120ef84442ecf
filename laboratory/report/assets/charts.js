// Charts by Chart.js, in the page's colours, with one legend for all of them, saved as PNG or SVG; on paper they are SVG.

const palette = () => {
  const style = getComputedStyle(root);
  const of = (name) => style.getPropertyValue("--" + name).trim();
  return { series: Array.from({ length: 8 }, (_, i) => of("series" + i)), ink: of("ink"), soft: of("soft"), rule: of("rule"), page: of("page"), sans: of("sans") };
};
let colours = palette();
const picked = new Set();
const marks = ["circle", "rect", "triangle", "rectRot", "crossRot", "star", "cross", "rectRounded"];
const dashes = [[], [6, 3], [2, 2.5], [8, 2, 2, 2]];
const styleOf = (i) => ({ mark: marks[(i + Math.floor(i / 8)) % 8], dash: dashes[Math.floor(i / 8) % 4] });
/// A series' colour, faint while others are singled out; one without a number is the reference.
const colourOf = (i) => (i === undefined ? colours.soft : colours.series[i % 8] + (picked.size && !picked.has(i) ? "26" : ""));
const ofData = (context) => colourOf(context.dataset.seriesOf ? context.dataset.seriesOf[context.dataIndex] : context.dataset.series);

/// Drawn over bars: intervals, marks, values; `options` is {intervals: [[low, high]], marks: [x], values: [text]} by bar.
const overBars = {
  id: "overBars",
  afterDatasetsDraw(chart, _, options) {
    const bars = chart.getDatasetMeta(0).data, x = chart.scales.x, context = chart.ctx;
    if (!options.values) return;
    context.save();
    context.font = `11px ${colours.sans}`;
    context.textBaseline = "middle";
    context.textAlign = "right";
    bars.forEach((bar, i) => {
      const line = (value, half, dash = []) => {
        context.setLineDash(dash);
        context.beginPath();
        context.moveTo(x.getPixelForValue(value), bar.y - half);
        context.lineTo(x.getPixelForValue(value), bar.y + half);
        context.stroke();
      };
      context.strokeStyle = colours.ink;
      context.lineWidth = 1.4;
      const interval = options.intervals && options.intervals[i];
      if (interval) {
        context.beginPath();
        context.moveTo(x.getPixelForValue(interval[0]), bar.y);
        context.lineTo(x.getPixelForValue(interval[1]), bar.y);
        context.stroke();
        for (const end of interval) line(end, 3);
      }
      if (options.marks && isNumber(options.marks[i])) line(options.marks[i], bar.height / 2 + 2, options.dotted ? [1.5, 2] : []);
      context.setLineDash([]);
      context.fillStyle = colours.ink;
      context.fillText(options.values[i], chart.width - 2, bar.y);
    });
    context.restore();
  },
};
Chart.register(overBars);
Object.assign(Chart.defaults, { animation: false, maintainAspectRatio: false });
Chart.defaults.font.size = 11;
Chart.defaults.plugins.legend.display = false;
Chart.defaults.plugins.tooltip.usePointStyle = true;
Chart.defaults.elements.line.borderWidth = 1.8;
const useColours = () => {
  colours = palette();
  Chart.defaults.font.family = colours.sans;
  Chart.defaults.color = colours.soft;
  Chart.defaults.borderColor = colours.rule;
};
useColours();

const scale = (title, more = {}) => ({ title: { display: Boolean(title), text: title, color: () => colours.ink }, grid: { color: () => colours.rule }, ticks: { color: () => colours.soft }, ...more });
const shareScale = (title) => scale(title, { min: 0, max: 1, ticks: { color: () => colours.soft, stepSize: 0.25, callback: (value) => Math.round(value * 100) } });
const tip = (title, label) => ({ callbacks: { title: (items) => items.length ? title(items[0]) : "", label: (item) => label(item) } });

/// A line of {x, y} points; those with y null interrupt it. Options: reference (dotted), marked (which points have a marker).
function line(series, name, values, { reference = false, marked = () => true } = {}) {
  const style = styleOf(series || 0);
  return { label: name, series, data: values, spanGaps: false, clip: 6, borderColor: ofData, backgroundColor: ofData, pointStyle: style.mark,
    pointRadius: values.map((value) => (!reference && marked(value) ? 3.5 : 0)), pointHitRadius: 6, borderDash: reference ? [1.5, 3] : style.dash,
    borderWidth: reference ? 1.2 : 1.8 };
}

/// The upper end of an axis that begins at 0: a few numbers that explode must not flatten all others.
function topOf(datasets, descends) {
  const all = datasets.flatMap((each) => each.data.map((point) => point.y)).filter(isNumber).sort((a, b) => a - b);
  const starts = datasets.map((each) => each.data.find((point) => isNumber(point.y))).filter(Boolean).map((point) => point.y).sort((a, b) => a - b);
  if (!all.length) return undefined;
  const sound = 1.5 * (descends ? starts[Math.floor(starts.length / 2)] : all[Math.floor(((all.length - 1) * 98) / 100)]);
  return sound > 0 && sound < all[all.length - 1] ? sound : undefined;
}

/// Leaves of a logarithmic axis' marks those whose numbers do not touch: it knows no distances itself.
function spreadTicks(axis) {
  const room = (axis.chart.width - 70) / Math.log(axis.max / axis.min);
  let last = -Infinity;
  axis.ticks = axis.ticks.filter(({ value }) => {
    const at = Math.log(value / axis.min) * room;
    if (at - last < 48) return false;
    last = at;
    return true;
  });
}

/// What every line chart has: axes {title, type, ticks, reverse, format} and y as a share or as it is, from 0 or where it begins.
function lineChart({ datasets, x, y, yType = "linear", shares = true, descends = false, fromZero = true, title, label }) {
  const powers = x.ticks && x.ticks.length ? { afterBuildTicks: (axis) => (axis.ticks = x.ticks.map((value) => ({ value }))) } : x.type === "logarithmic" ? { afterBuildTicks: spreadTicks } : {};
  const bounds = x.ticks && x.ticks.length ? { min: Math.min(...x.ticks), max: Math.max(...x.ticks) } : {};
  return { type: "line", data: { datasets }, options: {
    interaction: { mode: "nearest", intersect: false },
    scales: { x: scale(x.title, { type: x.type || "linear", reverse: x.reverse, ...bounds, ...powers, ticks: { color: () => colours.soft, maxRotation: 0, callback: x.format || compact } }),
      y: shares ? shareScale(y) : scale(y, { type: yType, beginAtZero: fromZero, max: fromZero ? topOf(datasets, descends) : undefined, ticks: { color: () => colours.soft, maxTicksLimit: 6, ...(yType === "logarithmic" ? { callback: compact } : {}) } }) },
    plugins: { tooltip: tip(title || ((item) => item.dataset.label), label || ((item) => `${x.title} ${(x.format || compact)(item.parsed.x)}: ${shares ? percent(item.parsed.y) + " %" : Number(item.parsed.y.toPrecision(4))}`)) } } };
}

/// Bars to the right, a series each: rows are {series, name, value, interval, mark}.
function barChart(rows, { dotted = false, format = percent, room = 46, markTitle = "" } = {}) {
  const most = () => (innerWidth < 544 ? 14 : 32);
  const cut = (text) => (text.length > most() ? text.slice(0, most() - 1) + "…" : text);
  return { type: "bar", data: { labels: rows.map((row) => row.name), datasets: [{ seriesOf: rows.map((row) => row.series), data: rows.map((row) => (isNumber(row.value) ? row.value : null)),
    backgroundColor: ofData, barPercentage: 0.8, categoryPercentage: 0.9, maxBarThickness: 18 }] }, options: {
    indexAxis: "y", layout: { padding: { right: room } },
    scales: { x: shareScale(""), y: scale("", { grid: { display: false }, ticks: { color: () => colours.ink, autoSkip: false, callback: (_, i) => cut(rows[i].name) } }) },
    plugins: { overBars: { values: rows.map((row) => format(row.text ?? row.value)), intervals: rows.map((row) => row.interval), marks: rows.map((row) => row.mark), dotted },
      tooltip: tip((item) => rows[item.dataIndex].name, (item) => {
        const row = rows[item.dataIndex];
        return [`${percent(row.value)} %`, row.interval && `${percent(row.interval[0])} to ${percent(row.interval[1])} %`, isNumber(row.mark) && markTitle && `${markTitle}: ${percent(row.mark)} %`].filter(Boolean);
      }) } } };
}

/// Draws a configuration on a canvas whose context writes down what it draws; returns SVG.
function svgOf(build, width, height) {
  const canvas = document.createElement("canvas");
  const real = canvas.getContext("2d"), body = [], clips = [];
  let path = "", clip = "", count = 0;
  const n = (value) => Number(value.toFixed(2));
  const escape = (text) => String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
  const at = (x, y) => { const p = new DOMPoint(x, y).matrixTransform(real.getTransform()); return `${n(p.x)} ${n(p.y)}`; };
  const rect = (x, y, w, h) => `M${at(x, y)}L${at(x + w, y)}L${at(x + w, y + h)}L${at(x, y + h)}Z`;
  const alpha = () => (real.globalAlpha < 1 ? ` opacity="${n(real.globalAlpha)}"` : "");
  const add = (element) => body.push(clip ? `<g clip-path="url(#${clip})">${element}</g>` : element);
  const filled = (d) => d && add(`<path d="${d}" fill="${real.fillStyle}"${alpha()}/>`);
  const stroked = (d) => d && add(`<path d="${d}" fill="none" stroke="${real.strokeStyle}" stroke-width="${n(real.lineWidth)}" stroke-dasharray="${real.getLineDash().map(n).join(" ")}" stroke-linejoin="round"${alpha()}/>`);
  const write = {
    beginPath: () => (path = ""),
    moveTo: (x, y) => (path += "M" + at(x, y)),
    lineTo: (x, y) => (path += (path ? "L" : "M") + at(x, y)),
    bezierCurveTo: (a, b, c, d, x, y) => (path += `C${at(a, b)} ${at(c, d)} ${at(x, y)}`),
    quadraticCurveTo: (a, b, x, y) => (path += `Q${at(a, b)} ${at(x, y)}`),
    rect: (x, y, w, h) => (path += rect(x, y, w, h)),
    arc: (x, y, r, from, to, back = false) => {
      const turn = 2 * Math.PI, point = (angle) => at(x + r * Math.cos(angle), y + r * Math.sin(angle));
      const arc = (angle, large) => `A${n(r)} ${n(r)} 0 ${large} ${back ? 0 : 1} ${point(angle)}`;
      path += (path && !path.endsWith("Z") ? "L" : "M") + point(from);
      if (Math.abs(to - from) >= turn - 1e-6) path += arc(from + Math.PI, 0) + arc(from, 0);
      else path += arc(to, (back ? (from - to + turn) % turn : (to - from + turn) % turn) > Math.PI ? 1 : 0);
    },
    closePath: () => (path += path ? "Z" : ""),
    fill: () => filled(path),
    stroke: () => stroked(path),
    fillRect: (x, y, w, h) => filled(rect(x, y, w, h)),
    strokeRect: (x, y, w, h) => stroked(rect(x, y, w, h)),
    clearRect: () => {},
    save: () => clips.push(clip),
    restore: () => (clip = clips.pop() || ""),
    clip: () => {
      const id = `clip-${(svgOf.count = (svgOf.count || 0) + 1)}-${count++}`;
      body.push(`<clipPath id="${id}"><path d="${path}"/></clipPath>`);
      clip = id;
    },
    fillText: (text, x, y) => {
      const m = real.getTransform(), anchor = { center: "middle", right: "end", end: "end" }[real.textAlign] || "start";
      const down = { middle: 0.35, top: 0.8, hanging: 0.8, bottom: -0.2 }[real.textBaseline] || 0;
      const turned = m.b || m.c ? ` transform="rotate(${n((Math.atan2(m.b, m.a) * 180) / Math.PI)} ${at(x, y)})"` : "";
      const [px, py] = at(x, y).split(" ");
      add(`<text x="${px}" y="${py}" dy="${down}em" text-anchor="${anchor}" fill="${real.fillStyle}" style="font:${escape(real.font)}"${turned}${alpha()}>${escape(text)}</text>`);
    },
    strokeText: () => {},
  };
  const context = new Proxy(real, {
    get: (target, key) => {
      const value = target[key];
      if (typeof value !== "function") return value;
      return (...values) => {
        if (write[key] && key !== "restore") write[key](...values);
        const result = value.apply(target, values);
        if (key === "restore") write.restore();
        return result;
      };
    },
    set: (target, key, value) => { target[key] = value; return true; },
  });
  canvas.getContext = () => context;
  canvas.width = width;
  canvas.height = height;
  const configuration = build();
  configuration.options = { ...configuration.options, responsive: false, devicePixelRatio: 1, events: [] };
  const chart = new Chart(canvas, configuration);
  body.length = 0;
  chart.draw();
  chart.destroy();
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">${body.join("")}</svg>`;
}

/// What is saved and printed is as on paper, whatever the screen is like.
function onPaper(work) {
  root.classList.add("paper");
  useColours();
  try {
    return work();
  } finally {
    root.classList.remove("paper");
    useColours();
  }
}

const figures = []; // {build, chart, plot, size}
/// A chart with its title and what it shows in words; build() gives its configuration.
function figure({ title, subtitle, label, build, height = 220, kind = "" }) {
  const canvas = h("canvas", { role: "img", "aria-label": label });
  const plot = h("div", { class: "plot", style: { height: height + "px" } }, canvas);
  const each = { build, plot, canvas, height };
  const name = fileName(title || label);
  const size = () => [Math.max(320, Math.round(plot.clientWidth) || 0), height];
  each.svg = () => onPaper(() => svgOf(build, ...size()));
  each.png = () => onPaper(() => {
    const [width, tall] = size(), copy = h("canvas", { width, height: tall });
    const white = { id: "white", beforeDraw: (chart) => { chart.ctx.fillStyle = "#fff"; chart.ctx.fillRect(0, 0, chart.width, chart.height); } };
    const configuration = build();
    configuration.options = { ...configuration.options, responsive: false, devicePixelRatio: 3 };
    configuration.plugins = [white];
    const chart = new Chart(copy, configuration), url = copy.toDataURL("image/png");
    chart.destroy();
    return url;
  });
  each.start = () => (each.chart = new Chart(canvas, build()));
  each.restart = () => { each.chart.destroy(); each.start(); };
  figures.push(each);
  return h("figure", { class: kind }, (title || subtitle) && h("figcaption", {}, title && h("strong", {}, title), subtitle && h("small", {}, h("code", {}, subtitle))), plot,
    h("p", { class: "save" }, h("button", { type: "button", "data-svg": name, onclick: () => save(name + ".svg", "image/svg+xml", each.svg()) }, "SVG"),
      h("button", { type: "button", "data-png": name, onclick: () => h("a", { download: name + ".png", href: each.png() }).click() }, "PNG")));
}

/// The mark of a series with a piece of its line, for legends and tables; its name stands beside it.
function key(i) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [name, value] of Object.entries({ class: `key c${i % 8}`, viewBox: "0 0 26 12", "aria-hidden": "true" })) svg.setAttribute(name, value);
  const shapes = { circle: "M9.4 6a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0", rect: "M10 3h6v6h-6z", rectRounded: "M10 3h6v6h-6z", triangle: "M13 2l4 7h-8z", rectRot: "M13 2l4 4l-4 4l-4 -4z",
    crossRot: "M10 3l6 6M16 3l-6 6", cross: "M13 2v8M9 6h8", star: "M13 2v8M9 6h8M10 3l6 6M16 3l-6 6" };
  const style = styleOf(i);
  for (const [d, dash] of [["M1 6H25", style.dash.join(" ")], [shapes[style.mark], ""]]) {
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", d);
    if (dash) path.setAttribute("stroke-dasharray", dash);
    svg.append(path);
  }
  return svg;
}
const who = (i, name) => h("span", { class: "who" }, key(i), h("span", { class: "name", title: name }, name));

function pick(i) {
  if (!picked.delete(i)) picked.add(i);
  root.classList.toggle("picking", picked.size > 0);
  for (const element of document.querySelectorAll("[data-series]")) {
    const on = picked.has(Number(element.dataset.series));
    element.classList.toggle("picked", on);
    if (element.tagName === "BUTTON") element.setAttribute("aria-pressed", String(on));
  }
  for (const each of figures) each.chart.update("none");
}
/// Names with their keys; a name singles out its series everywhere. `names` are [series, name].
const legend = (names) => h("div", { class: "legend", role: "group", "aria-label": "Single out a series" }, names.map(([i, name]) =>
  h("button", { type: "button", class: `c${i % 8}`, "data-series": i, "aria-pressed": "false", title: name, onclick: () => pick(i) }, key(i), h("span", { class: "name" }, name))));

/// Called when the page stands: a chart takes its size from where it is.
function drawAll() {
  for (const each of figures) each.start();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    useColours();
    for (const each of figures) each.restart();
  });
  addEventListener("beforeprint", () => {
    for (const each of figures) {
      each.plot.querySelector("svg")?.remove();
      each.plot.append(document.importNode(new DOMParser().parseFromString(each.svg(), "image/svg+xml").documentElement, true));
    }
  });
  addEventListener("afterprint", () => { for (const each of figures) each.plot.querySelector("svg")?.remove(); });
}
