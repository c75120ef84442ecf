#!/usr/bin/env python3
"""Opens reports in a headless browser: nothing goes wrong, nothing is loaded, what is there to be clicked works, and a
phone needs no scrolling sideways.

usage: browser.py REPORT_WRITER
Exit status 77 (skipped) without a browser: chromium, chromium-browser or google-chrome, or $HYBRID_BROWSER.
"""

import html
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

# Runs in a copy of the page, behind the page's own script. What it finds goes into the page, or to the page around it.
PROBE = r"""
const found = { errors: window.failures };
const all = (selector) => Array.from(document.querySelectorAll(selector));
const column = (table, i) => Array.from(table.tBodies[0].rows).map((row) => row.cells[i].dataset.value ?? row.cells[i].textContent.trim());
const settle = () => document.documentElement.getBoundingClientRect();
try {
  const table = all("table.sortable")[0];
  const head = (i) => table.querySelector(`th[data-column="${i}"]`);
  found.before = column(table, 1);
  const second = COLUMN;
  head(second).querySelector("button").click();
  found.descending = column(table, second).filter((value) => value !== "").map(Number);
  found.ariaDescending = head(second).getAttribute("aria-sort");
  head(second).querySelector("button").click();
  found.ascending = column(table, second).filter((value) => value !== "").map(Number);
  found.ariaAscending = head(second).getAttribute("aria-sort");
  head(0).querySelector("button").click();
  found.names = column(table, 0);
  found.sortedHeads = table.querySelectorAll("th[aria-sort]").length;
  found.buttonsReachable = all("th button").every((button) => button.tabIndex === 0);

  const chip = all(".legend button")[0];
  if (chip) {
    chip.click();
    found.pressed = chip.getAttribute("aria-pressed");
    found.others = all(`[data-series]:not(.picked)`).length;
    chip.click();
    found.released = !document.documentElement.classList.contains("picking");
  }

  const tabs = all('[role="tab"]');
  const panels = () => all('[role="tabpanel"]').map((panel) => !panel.hidden);
  found.panels = [panels()];
  if (tabs.length) {
    tabs[0].dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
    found.panels.push(panels());
  }

  const select = all("select[data-shows]")[0];
  const shown = () => all(".curve").filter((figure) => !figure.hidden).map((figure) => figure.id);
  if (select) {
    found.curves = [shown()];
    select.selectedIndex = select.options.length - 1;
    select.dispatchEvent(new Event("change"));
    found.curves.push(shown());
    found.chosen = select.value;
  }

  const mark = document.querySelector("svg.chart .mark path, svg.chart .mark circle");
  if (mark) {
    mark.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX: innerWidth - 3, clientY: 20 }));
    const tip = document.getElementById("tip");
    const box = tip.getBoundingClientRect();
    found.tip = tip.textContent;
    found.tipInside = box.left >= 0 && box.right <= innerWidth;
    tip.hidden = true;
  }

  for (const details of all("details")) details.open = true;
  settle();
  found.width = innerWidth;
  found.scrollWidth = document.documentElement.scrollWidth;
  found.wide = all("body *").filter((element) => element.getBoundingClientRect().right > innerWidth + 0.5 &&
    !element.closest(".wide, pre, .legend, select, .skip, svg")).map((element) => element.outerHTML.slice(0, 120));
  // Labels of a chart must not lie on one another.
  found.overlaps = [];
  for (const svg of all("svg.chart, svg.radar")) {
    const boxes = Array.from(svg.querySelectorAll("text")).map((text) => text.getBoundingClientRect()).filter((b) => b.width);
    for (let i = 0; i < boxes.length; ++i)
      for (let k = 0; k < i; ++k)
        if (Math.min(boxes[i].right, boxes[k].right) - Math.max(boxes[i].left, boxes[k].left) > 1 &&
            Math.min(boxes[i].bottom, boxes[k].bottom) - Math.max(boxes[i].top, boxes[k].top) > 3)
          found.overlaps.push(svg.getAttribute("aria-label").slice(0, 80));
  }
  found.resources = performance.getEntriesByType("resource").map((entry) => entry.name);
  found.unlabelled = all("svg:not([aria-hidden]):not([aria-label]), button:empty, select:not([id])").length;
  found.title = document.title;
} catch (error) {
  found.errors.push(String(error.stack || error));
}
const text = JSON.stringify(found);
if (parent !== window) parent.postMessage(text, "*");
const result = document.createElement("pre");
result.id = "probe-result";
result.textContent = text;
document.body.append(result);
"""

AROUND = """<!doctype html><meta charset="utf-8"><body style="margin:0">
<script>addEventListener("message", (event) => { const pre = document.createElement("pre"); pre.id = "probe-result";
pre.textContent = event.data; document.body.append(pre); });</script>
<iframe src="%s" style="border:0;width:360px;height:800px"></iframe>"""

failed = []


class References(html.parser.HTMLParser):
    """What a page refers to outside itself."""

    def __init__(self):
        super().__init__()
        self.outside = []

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("src", "href", "xlink:href", "srcset", "action", "data", "poster", "background") and not re.match("#|data:,$", value or ""):
                self.outside.append(f"{tag} {name}={value}")
            expect(not name.startswith("on"), f"an attribute {name} on {tag}")


def expect(condition, text):
    if not condition:
        failed.append(text)


def browser():
    named = os.environ.get("HYBRID_BROWSER")
    return shutil.which(named) if named else next(filter(None, map(shutil.which, BROWSERS)), None)


def load(program, folder, page):
    """The document after its scripts, and what the console said."""
    command = [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-extensions", "--disable-background-networking",
               "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={folder}/profile", "--window-size=1280,1000",
               "--virtual-time-budget=20000", "--enable-logging=stderr", "--dump-dom", page.as_uri()]
    result = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=300, stdin=subprocess.DEVNULL,
                            env={**os.environ, "HOME": str(folder)})
    return result.stdout, [line for line in result.stderr.splitlines() if "CONSOLE" in line]


def probed(program, folder, page):
    document, _ = load(program, folder, page)
    match = re.search(r'<pre id="probe-result">(.*?)</pre>', document, re.DOTALL)
    expect(match, f"{page.name}: the probe did not run")
    return json.loads(html.unescape(match[1])) if match else None


def with_probe(text, kind):
    # The copy's policy must let the probe run; the page as it was is loaded too.
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    early = ("<script>window.failures = []; addEventListener('error', (e) => failures.push(String(e.message)), true);"
             "addEventListener('unhandledrejection', (e) => failures.push(String(e.reason)));</script>")
    probe = PROBE.replace("COLUMN", "1" if kind == "training" else "5")
    return text.replace("<head>", "<head>" + early, 1).replace("</body>", f"<script>{probe}</script></body>")


def check_probe(name, kind, found):
    expect(not found["errors"], f"{name}: errors {found['errors']}")
    descending = found.get("descending", [])
    expect(len(descending) > 2 and descending == sorted(descending, reverse=True), f"{name}: a click does not sort: {descending}")
    expect(found.get("ascending") == sorted(descending), f"{name}: a second click does not turn the order: {found.get('ascending')}")
    expect((found.get("ariaDescending"), found.get("ariaAscending")) == ("descending", "ascending"), f"{name}: aria-sort")
    if kind != "training":
        names = [each.lower() for each in found.get("names", [])]
        expect(names and names == sorted(names), f"{name}: names are not sorted: {names}")
    expect(found.get("sortedHeads") == 1, f"{name}: one column is the sorted one")
    expect(found.get("buttonsReachable"), f"{name}: heads that the keyboard does not reach")
    if kind != "compare":
        expect(found.get("pressed") == "true" and found.get("others", 0) > 0 and found.get("released"), f"{name}: the legend singles nothing out")
        expect(found.get("tip"), f"{name}: no tip at a mark")
        expect(found.get("tipInside"), f"{name}: the tip leaves the window")
    if kind in ("study", "hostile"):
        expect(found.get("panels") == [[True, False], [False, True]], f"{name}: tabs: {found.get('panels')}")
        curves = found.get("curves", [])
        expect([len(each) for each in curves] == [1, 1] and curves[0] != curves[1] and curves[1] == [found.get("chosen")], f"{name}: curves: {curves}")
    expect(found.get("scrollWidth", 1e9) <= found.get("width", 0), f"{name}: {found.get('scrollWidth')} wide in a window of {found.get('width')}: {found.get('wide')}")
    expect(not found.get("overlaps"), f"{name}: labels overlap in {found.get('overlaps')}")
    expect(found.get("resources") == [], f"{name}: loads {found.get('resources')}")
    expect(found.get("unlabelled") == 0, f"{name}: {found.get('unlabelled')} things without a name")
    expect(found.get("title") != "owned", f"{name}: a name ran as a script")


def main():
    program = browser()
    if not program:
        print(f"skipped: no browser found ({', '.join(BROWSERS)}, or name one in HYBRID_BROWSER)")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for kind in ("study", "hostile", "compare", "training"):
            page = folder / f"{kind}.html"
            subprocess.run([sys.argv[1], str(page), kind], check=True, stdout=subprocess.DEVNULL)
            text = page.read_text(encoding="utf-8")
            references = References()
            references.feed(text)
            expect(not references.outside, f"{page.name}: refers to {references.outside[:3]}")
            document, console = load(program, folder, page)
            expect(re.search(r'<html[^>]*class="js"', document), f"{page.name}: its script did not run under its policy")
            expect(not console, f"{page.name}: the console says {console}")
            expect("<title>owned" not in document, f"{page.name}: a name ran as a script")
            copy = folder / f"probe-{kind}.html"
            copy.write_text(with_probe(text, kind), encoding="utf-8")
            phone = folder / f"phone-{kind}.html"
            phone.write_text(AROUND % copy.name, encoding="utf-8")
            for each, width in ((copy, 1280), (phone, 360)):
                if found := probed(program, folder, each):
                    check_probe(each.name, kind, found)
                    expect(found.get("width") == width, f"{each.name}: shown {found.get('width')} wide")
    for each in failed:
        print("FAILED", each)
    print(f"report in {pathlib.Path(program).name}: {'FAILED' if failed else 'ok'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
