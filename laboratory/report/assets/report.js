// What a reader may do beyond reading: sort tables, single out series, choose a curve, point at a
// mark. The page is whole without it; nothing is loaded, nothing is stored.
"use strict";
(() => {
  const root = document.documentElement;
  const all = (selector, from = document) => Array.from(from.querySelectorAll(selector));
  root.classList.add("js");
  for (const element of all(".needs-script")) element.hidden = false;

  // Tables: a head's button sorts by its column, numbers by data-value, the largest first; again: reversed.
  // Cells without a value stay at the end.
  function sort(table, head) {
    const column = Number(head.dataset.column);
    const key = (row) => {
      const cell = row.cells[column];
      const value = cell.dataset.value;
      if (value === undefined) return cell.textContent.trim().toLowerCase();
      return value === "" ? null : Number(value);
    };
    const numeric = table.tBodies[0].rows.length > 0 && typeof key(table.tBodies[0].rows[0]) !== "string";
    const now = head.getAttribute("aria-sort");
    const order = now === (numeric ? "descending" : "ascending") ? (numeric ? "ascending" : "descending") : numeric ? "descending" : "ascending";
    const sign = order === "ascending" ? 1 : -1;
    const rows = Array.from(table.tBodies[0].rows).map((row, index) => ({ row, index, key: key(row) }));
    rows.sort((a, b) => {
      if (a.key === null || b.key === null) return (a.key === null) - (b.key === null) || a.index - b.index;
      return sign * (a.key < b.key ? -1 : a.key > b.key ? 1 : 0) || a.index - b.index;
    });
    table.tBodies[0].append(...rows.map((item) => item.row));
    for (const other of all("th[aria-sort]", table)) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", order);
  }
  for (const table of all("table.sortable"))
    for (const head of all("th[data-column]", table)) head.querySelector("button").addEventListener("click", () => sort(table, head));

  // Legends: every button of an architecture, wherever it is, singles it out everywhere.
  const picked = new Set();
  function pick(name) {
    if (!picked.delete(name)) picked.add(name);
    root.classList.toggle("picking", picked.size > 0);
    for (const element of all("[data-series]")) {
      const on = picked.has(element.dataset.series);
      element.classList.toggle("picked", on);
      if (element.tagName === "BUTTON") element.setAttribute("aria-pressed", String(on));
    }
  }
  for (const button of all(".legend button")) button.addEventListener("click", () => pick(button.dataset.series));

  // Tabs: arrows move between them, as the pattern for tabs has it.
  for (const list of all('[role="tablist"]')) {
    const tabs = all('[role="tab"]', list);
    const choose = (tab) => {
      for (const other of tabs) {
        const on = other === tab;
        other.setAttribute("aria-selected", String(on));
        other.tabIndex = on ? 0 : -1;
        document.getElementById(other.getAttribute("aria-controls")).hidden = !on;
      }
    };
    tabs.forEach((tab, index) => {
      tab.addEventListener("click", () => choose(tab));
      tab.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const next = tabs[(index + step + tabs.length) % tabs.length];
        choose(next);
        next.focus();
      });
    });
    choose(tabs[0]);
  }

  // Learning curves: one setting at a time.
  for (const select of all("select[data-shows]")) {
    const figures = all("." + select.dataset.shows);
    const show = () => figures.forEach((figure) => (figure.hidden = figure.id !== select.value));
    select.addEventListener("change", show);
    show();
  }

  // Titles in charts, at once and also under a finger.
  const tip = document.getElementById("tip");
  function titleOf(element) {
    for (; element && element.tagName !== "svg"; element = element.parentElement) {
      if (element.dataset && element.dataset.tip) return element.dataset.tip;
      const title = element.querySelector && element.querySelector(":scope > title");
      if (title) {
        element.dataset.tip = title.textContent;
        title.remove(); // else the browser shows it a second time
        return element.dataset.tip;
      }
    }
    return "";
  }
  function point(event) {
    const svg = event.target.closest && event.target.closest("svg.chart, svg.radar");
    const text = svg ? titleOf(event.target) : "";
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    const box = tip.getBoundingClientRect();
    const left = Math.min(Math.max(4, event.clientX + 12), innerWidth - box.width - 4);
    const below = event.clientY + 16;
    tip.style.left = Math.max(4, left) + "px";
    tip.style.top = (below + box.height > innerHeight - 4 ? event.clientY - box.height - 10 : below) + "px";
  }
  document.addEventListener("pointermove", point, { passive: true });
  document.addEventListener("pointerdown", point, { passive: true });
  document.addEventListener("scroll", () => (tip.hidden = true), { passive: true, capture: true });

  // Copying the command.
  for (const button of all("button.copy"))
    button.addEventListener("click", async () => {
      const source = document.getElementById(button.dataset.copies);
      try {
        await navigator.clipboard.writeText(source.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(source); // a page from disk may not reach the clipboard
        button.textContent = "Selected";
      }
    });

  // On paper every spec is open.
  addEventListener("beforeprint", () => {
    for (const details of all("details.spec")) details.open = true;
  });
})();
