// What every kind of report is made of: elements, numbers as people read them, tables that sort and are saved.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const root = document.documentElement;

/// An element. Attributes that begin with "on" are listeners; children are elements or text, and text stays text.
function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (value === undefined || value === null || value === false) continue;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, each] of Object.entries(value)) element.style.setProperty(key, each);
    else element.setAttribute(name, value === true ? "" : value);
  element.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false));
  return element;
}

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
const dash = "–";
/// A share as percent: 0.9984 is "99.8".
const percent = (share) => (isNumber(share) ? (share * 100).toFixed(1) : dash);
/// A difference of shares with its sign.
const points = (difference) => {
  if (!isNumber(difference)) return dash;
  const digits = Math.abs(difference * 100).toFixed(1);
  return (digits === "0.0" ? "±" : difference < 0 ? "−" : "+") + digits;
};
/// Every digit, in groups of three.
const grouped = (value) => (isNumber(value) ? Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, "\u202f") : dash);
/// The shortest text of a number.
const plain = (value) => (isNumber(value) ? String(value) : dash);
/// Three significant digits and a unit: 12800 is "12.8k".
function compact(value) {
  if (!isNumber(value)) return dash;
  let size = Math.abs(value), unit = 0;
  while (size >= 999.5 && unit < 5) { size /= 1000; ++unit; }
  if (unit === 1 && Math.abs(value) < 9999.5 && Number.isInteger(value)) return String(value);
  return (value < 0 ? "−" : "") + Number(size.toPrecision(3)) + ["", "k", "M", "G", "T", "P"][unit];
}
const fixed = (value, digits) => (isNumber(value) ? value.toFixed(digits) : dash);
const counted = (count, noun) => `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
function duration(seconds) {
  if (!isNumber(seconds) || seconds < 0) return dash;
  if (seconds < 9.95) return seconds.toFixed(1) + " s";
  const whole = Math.round(seconds);
  if (whole < 60) return whole + " s";
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  if (whole < 172800) return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
  return `${Math.floor(whole / 86400)} d ${Math.floor((whole % 86400) / 3600)} h`;
}

function save(name, type, content) {
  const link = h("a", { download: name, href: URL.createObjectURL(new Blob([content], { type })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
const fileName = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60) || "report";

/// A cell: what is shown and, where it is a number, its value.
const number = (value, text, more = {}) => ({ value: isNumber(value) ? value : null, text, number: true, ...more });
const share = (value, more = {}) => number(value, percent(value), isNumber(value) ? { heat: value, ...more } : more);

/// The text of a table as CSV: heads of groups and columns joined, numbers with every digit.
function csvOf({ groups, columns, rows }) {
  const quoted = (value) => (/[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  const group = (groups || []).flatMap((each) => Array(each.span).fill(each.text));
  const heads = columns.map((column, i) => [group[i], column.text].filter(Boolean).join(" "));
  const lines = rows.map((row) => row.cells.map((cell) => (cell.number ? (cell.value === null ? "" : String(cell.value)) : cell.text)));
  return [heads, ...lines].map((line) => line.map((value) => quoted(String(value))).join(",")).join("\n") + "\n";
}

/// A table that scrolls inside itself: `columns` are {text, number, sorted, first}, `rows` {cells, series}; a cell is {text, value, number,
/// heat, best, node, title}. A head sorts by its column, numbers the largest first; again: reversed. Cells without a value stay at the end.
function table(description) {
  const { name, caption, groups, columns, rows } = description;
  const body = h("tbody");
  const order = rows.map((row, index) => ({ ...row, index }));
  const heads = columns.map((column, i) =>
    h("th", { scope: "col", class: [column.number && "number", column.first && "first", i === 0 && "corner"].filter(Boolean).join(" "), title: column.title,
      "aria-sort": column.sorted && "descending" }, h("button", { type: "button", onclick: () => sort(i) }, column.text)));
  const cellOf = (cell, i) => {
    const classes = [cell.number && "number", columns[i].first && "first", cell.heat !== undefined && "heat", cell.best && "best", cell.class].filter(Boolean);
    return h(i === 0 ? "th" : "td", { scope: i === 0 && "row", class: classes.join(" "), title: cell.title,
      style: cell.heat === undefined ? undefined : { "--v": Math.min(1, Math.max(0, cell.heat)).toFixed(3) } }, cell.node ? cell.node() : cell.text);
  };
  const fill = () => body.replaceChildren(...order.map((row) => h("tr", { "data-series": row.series }, row.cells.map(cellOf))));
  function sort(column) {
    const key = (row) => { const cell = row.cells[column]; return cell.number ? cell.value : String(cell.text).toLowerCase(); };
    const numeric = order.length > 0 && order[0].cells[column].number;
    const [first, second] = numeric ? ["descending", "ascending"] : ["ascending", "descending"];
    const now = heads[column].getAttribute("aria-sort") === first ? second : first;
    const sign = now === "ascending" ? 1 : -1;
    order.sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      if (x === null || y === null) return (x === null) - (y === null) || a.index - b.index;
      return sign * (x < y ? -1 : x > y ? 1 : 0) || a.index - b.index;
    });
    for (const head of heads) head.removeAttribute("aria-sort");
    heads[column].setAttribute("aria-sort", now);
    fill();
  }
  fill();
  const groupRow = groups && h("tr", {}, groups.map((each) => h("th", { colspan: each.span, scope: "colgroup", class: each.text ? "group first" : "", title: each.title }, each.text)));
  return h("div", { class: "table" },
    h("div", { class: "wide", role: "region", tabindex: 0, "aria-label": caption || name },
      h("table", { class: "sortable" }, caption && h("caption", {}, caption), h("thead", {}, groupRow, h("tr", {}, heads)), body)),
    h("p", { class: "save" }, h("button", { type: "button", "data-csv": name, onclick: () => save(fileName(name) + ".csv", "text/csv", csvOf(description)) }, "CSV")));
}

const section = (id, title, ...children) => h("section", { id }, h("h2", {}, title), ...children);
const note = (...children) => h("p", { class: "soft" }, ...children);
const facts = (pairs) => h("dl", { class: "facts" }, pairs.filter(([, value]) => value !== "" && value !== dash && value !== undefined)
  .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
const details = (summary, ...children) => h("details", {}, h("summary", {}, summary), ...children);
const warnings = (list) => h("ul", { class: "warnings" }, list.map((each) => h("li", {}, each)));
const source = (title, path, text) => details([title, " ", h("small", {}, h("code", {}, path))], h("pre", { tabindex: 0 }, h("code", {}, text)));

/// A command that can be copied; from disk a page may not reach the clipboard, then it is selected.
function command(text) {
  const code = h("code", {}, text);
  const button = h("button", { type: "button", class: "copy", onclick: async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = "Selected";
    }
  } }, "Copy");
  return [h("pre", { class: "command" }, code), button];
}

/// Panels of which one is shown; arrows move between their tabs.
function tabs(label, panels) {
  const buttons = panels.map(([title], i) => h("button", { type: "button", role: "tab", id: `tab-${i}`, "aria-controls": `panel-${i}`,
    onclick: () => choose(i), onkeydown: (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = (i + step + panels.length) % panels.length;
      choose(next);
      buttons[next].focus();
    } }, title));
  const bodies = panels.map(([, content], i) => h("div", { role: "tabpanel", id: `panel-${i}`, "aria-labelledby": `tab-${i}`, class: "panel" }, content));
  function choose(chosen) {
    buttons.forEach((button, i) => { button.setAttribute("aria-selected", String(i === chosen)); button.tabIndex = i === chosen ? 0 : -1; });
    bodies.forEach((body, i) => (body.hidden = i !== chosen));
  }
  choose(0);
  return [h("div", { class: "tabs", role: "tablist", "aria-label": label }, buttons), bodies];
}

/// Sections in order, with the links to them at the head.
function show(eyebrow, head, sections, foot) {
  const there = sections.filter(Boolean);
  document.getElementById("eyebrow").textContent = eyebrow;
  document.getElementById("head").append(...head.flat().filter(Boolean),
    h("nav", { "aria-label": "Sections" }, h("ul", {}, there.filter((each) => each.querySelector("h2")).map((each) =>
      h("li", {}, h("a", { href: "#" + each.id }, each.querySelector("h2").textContent))))));
  document.getElementById("main").append(...there);
  document.getElementById("footer").append(foot);
}

// On paper everything is open.
addEventListener("beforeprint", () => { for (const each of document.querySelectorAll("details")) each.open = true; });
