#!/usr/bin/env python3
"""Opens reports in a headless browser: nothing goes wrong, nothing is loaded, the numbers of the data are on the page, charts are drawn and
can be saved, what is there to be clicked works, and a phone needs no scrolling sideways.

usage: browser.py REPORT_WRITER
Exit status 77 (skipped) without a browser: chromium, chromium-browser or google-chrome, or $HYBRID_BROWSER.

One browser is started for all pages and spoken to by pipes, in the DevTools protocol (https://chromedevtools.github.io/devtools-protocol).
"""

import html.parser
import json
import os
import pathlib
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

# Runs in the page behind the page's own script, with the number of a column to sort by in the place of COLUMN.
PROBE = r"""
(async () => {
const found = {};
const all = (selector, from = document) => Array.from(from.querySelectorAll(selector));
const texts = (table, i) => Array.from(table.tBodies[0].rows).map((row) => row.cells[i].textContent.trim());
const frame = () => new Promise((done) => requestAnimationFrame(done));
  found.title = document.title;
  found.shown = document.body.innerText;
  for (const details of all("details")) details.open = true;
  const table = all("table.sortable").find((each) => each.tBodies[0].rows.length > 2 && each.querySelectorAll("thead tr:last-child th")[COLUMN]);
  const heads = () => all("thead tr:last-child th", table);
  const click = (i) => heads()[i].querySelector("button").click();
  const numbers = () => texts(table, COLUMN).map((text) => Number(text.replace("−", "-").replace("±", "").replace(/\u202f/g, "").replace(/, final/, ""))).filter((value) => !Number.isNaN(value));
  heads()[COLUMN].removeAttribute("aria-sort");
  click(COLUMN);
  found.descending = numbers();
  found.ariaDescending = heads()[COLUMN].getAttribute("aria-sort");
  click(COLUMN);
  found.ascending = numbers();
  found.ariaAscending = heads()[COLUMN].getAttribute("aria-sort");
  click(0);
  found.names = texts(table, 0);
  found.sortedHeads = table.querySelectorAll("th[aria-sort]").length;
  found.buttonsReachable = all("th button").every((button) => button.tabIndex === 0);

  const chip = all(".legend button")[0];
  if (chip) {
    chip.click();
    found.pressed = chip.getAttribute("aria-pressed");
    found.faint = figures.flatMap((each) => each.chart.data.datasets.map((_, i) => each.chart.getDatasetMeta(i).dataset?.options?.borderColor || "")).filter((colour) => String(colour).endsWith("26")).length;
    chip.click();
    found.released = !document.documentElement.classList.contains("picking");
  }

  const tabList = all('[role="tab"]');
  const panels = () => all('[role="tabpanel"]').map((panel) => !panel.hidden);
  found.panels = [panels()];
  if (tabList.length) {
    tabList[0].dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
    found.panels.push(panels());
  }

  const select = document.getElementById("curve-choice");
  if (select) {
    found.curves = [all(".curve").length];
    for (const i of [select.options.length - 1, 1]) {
      select.selectedIndex = i;
      select.dispatchEvent(new Event("change"));
      found.curves.push(all(".curve").length);
    }
    found.figures = figures.every((each) => each.canvas.isConnected);
  }

  // A pointer on the first mark of a line shows its value.
  const lined = figures.find((each) => each.chart.config.type === "line");
  if (lined) {
    const chart = lined.chart, place = chart.getDatasetMeta(0).data.find((point) => !Number.isNaN(point.y)), box = lined.canvas.getBoundingClientRect();
    lined.canvas.dispatchEvent(new MouseEvent("mousemove", { bubbles: true, clientX: box.left + place.x, clientY: box.top + place.y }));
    await frame(); // events are answered a frame at a time
    await frame();
    found.tip = chart.tooltip.getActiveElements().length && chart.tooltip.body.flatMap((each) => each.lines).join(" ");
  }

  // Every chart has drawn something, in an area that one can read.
  found.charts = figures.length;
  found.blank = figures.filter((each) => {
    const pixels = each.canvas.getContext("2d").getImageData(0, 0, each.canvas.width, each.canvas.height).data;
    return !pixels.some((value) => value !== 0);
  }).length;
  found.cramped = figures.filter((each) => { const area = each.chart.chartArea; return area.right - area.left < 100 || area.bottom - area.top < 10; })
    .map((each) => [each.canvas.getAttribute("aria-label").slice(0, 60), each.chart.chartArea]);
  // As SVG: the numbers are in it, and no label lies on another.
  found.overlaps = [];
  found.svgFaults = [];
  for (const each of figures) {
    const text = each.svg(), parsed = new DOMParser().parseFromString(text, "image/svg+xml");
    if (parsed.querySelector("parsererror") || !parsed.querySelector("path") || /NaN|undefined/.test(text)) found.svgFaults.push(text.slice(0, 200));
    const holder = document.body.appendChild(document.createElement("div"));
    holder.append(document.importNode(parsed.documentElement, true));
    const boxes = all("text", holder).map((label) => [label.textContent, label.getBoundingClientRect()]).filter(([, b]) => b.width);
    for (let i = 0; i < boxes.length; ++i)
      for (let k = 0; k < i; ++k)
        if (Math.min(boxes[i][1].right, boxes[k][1].right) - Math.max(boxes[i][1].left, boxes[k][1].left) > 1.5 &&
            Math.min(boxes[i][1].bottom, boxes[k][1].bottom) - Math.max(boxes[i][1].top, boxes[k][1].top) > 3.5)
          found.overlaps.push([each.canvas.getAttribute("aria-label").slice(0, 60), boxes[i][0], boxes[k][0]]);
    holder.remove();
  }
  if (figures.length) {
    found.svgText = all("text", new DOMParser().parseFromString(figures[0].svg(), "image/svg+xml")).map((label) => label.textContent);
    found.png = figures[0].png().length;
  }
  // What is saved as CSV: heads and every digit.
  let saved = "";
  const make = URL.createObjectURL;
  URL.createObjectURL = (blob) => { saved = blob; return "#"; };
  all("[data-csv]")[0].click();
  URL.createObjectURL = make;
  found.csvType = saved.type;
  found.csvRows = csvProbe();
  function csvProbe() { return table.tBodies[0].rows.length; }

  dispatchEvent(new Event("beforeprint"));
  found.printed = figures.filter((each) => each.plot.querySelector("svg")).length;
  dispatchEvent(new Event("afterprint"));
  found.unprinted = document.querySelectorAll(".plot > svg").length;

  found.width = innerWidth;
  found.scrollWidth = document.documentElement.scrollWidth;
  found.wide = all("body *").filter((element) => element.getBoundingClientRect().right > innerWidth + 0.5 &&
    !element.closest(".wide, pre, .legend, select, .skip, svg")).map((element) => element.outerHTML.slice(0, 120));
  found.resources = performance.getEntriesByType("resource").map((entry) => entry.name).filter((name) => !name.startsWith("data:"));
  found.unlabelled = all("canvas:not([aria-label]), button:empty, select:not([id])").length;
  found.dark = getComputedStyle(document.body).backgroundColor;
  found.titleAfter = document.title;
return found;
})()
"""

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


class Browser:
    """A headless browser without a network."""

    def __init__(self, program, folder):
        (reads, self.commands), (self.answers, writes) = os.pipe(), os.pipe()
        command = [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-extensions", "--disable-background-networking",
                   "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={folder}/profile", "--remote-debugging-pipe"]
        # It reads commands from file 3 and answers to file 4.
        self.process = subprocess.Popen(["bash", "-c", f'exec "$@" 3<&{reads} 4>&{writes}', "browser", *command], pass_fds=(reads, writes),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        env={**os.environ, "HOME": str(folder)})
        os.close(reads)
        os.close(writes)
        self.number, self.rest, self.events = 0, b"", []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def receive(self, deadline):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.answers], [], [], max(0, deadline - time.monotonic()))
            part = os.read(self.answers, 1 << 16) if ready else b""
            if not part:
                sys.exit(f"the browser {'has ended' if ready else 'does not answer'}")
            self.rest += part
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        """The result of a command; what happens until then is kept in `events`."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + 120
        while True:
            answer = self.receive(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit(f"the browser refuses {method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait(self, method):
        deadline = time.monotonic() + 120
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.receive(deadline))

    def probe(self, page, script, width, scheme):
        """What the script gives in the page, in a window of that width; and all errors, and what the console said."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.events = []
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable", session)
        self.call("Emulation.setDeviceMetricsOverride", session, width=width, height=1000, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", session, features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", session, url=page.as_uri())
        self.wait("Page.loadEventFired")
        answer = self.call("Runtime.evaluate", session, expression=script, awaitPromise=True, returnByValue=True)
        self.call("Target.closeTarget", targetId=target)
        said = [event["params"] for event in self.events
                if event.get("method") in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")]
        if "exceptionDetails" in answer:
            said.append(answer["exceptionDetails"])
        return answer["result"].get("value"), said


def percent(value):
    return f"{value * 100:.1f}"


def numbers_of(data):
    """Texts that a page of these data must show."""
    if data["kind"] == "study":
        for each in data["verdict"]["standing"]:
            yield percent(each["score"])
        for each in data["architectures"]:
            yield f"{each['cost']['parameters']:,}".replace(",", "\u202f")
            yield from (percent(task["mad_accuracy"]) for task in each["tasks"].values())
    elif data["kind"] == "comparison":
        for each in data["architectures"]:
            yield from (percent(value) for value in each["overall"] if value is not None)
    elif data["kind"] == "scaling-study":
        for each in data["groups"]:
            yield from (f"{each['parametric'][name]['low']:.4g}" for name in ("alpha", "beta"))
            yield from (warning["text"] for warning in each["warnings"])
        yield from (f"{each['rise']:.4g}" for each in data["overtrain"])
        assert len(data["ratios"]) == 3 and len(data["batches"]) == 4 and any(each["sweep"] for each in data["overtrain"]), data["kind"]
    elif data["kind"] == "scaling-correlation":
        for each in data["correlations"]:
            yield from (f"{each[kind][end]:.4g}" for kind in ("linear", "rank") for end in ("value", "low"))
    else:
        yield percent(data["summary"]["eval_accuracy"])
    yield data["title"]


def check_probe(name, kind, data, found):
    for number in numbers_of(data):
        expect(number in found["shown"], f"{name}: does not show {number[:80]}")
    descending = found["descending"]
    expect(len(descending) > 2 and descending == sorted(descending, reverse=True), f"{name}: a click does not sort: {descending}")
    expect(found["ascending"] == sorted(descending), f"{name}: a second click does not turn the order: {found['ascending']}")
    expect((found["ariaDescending"], found["ariaAscending"]) == ("descending", "ascending"), f"{name}: aria-sort")
    if kind != "training":
        names = [each.lower() for each in found["names"]]
        expect(names and names == sorted(names), f"{name}: names are not sorted: {names}")
    expect(found["sortedHeads"] == 1, f"{name}: one column is the sorted one")
    expect(found["buttonsReachable"], f"{name}: heads that the keyboard does not reach")
    expect(found["charts"] > 0 and found["blank"] == 0, f"{name}: {found['blank']} of {found['charts']} charts are blank")
    expect(not found["cramped"], f"{name}: charts without room: {found['cramped']}")
    expect(not found["svgFaults"], f"{name}: SVG: {found['svgFaults'][:2]}")
    expect(not found["overlaps"], f"{name}: labels overlap: {found['overlaps'][:4]}")
    expect(found["png"] > 5000, f"{name}: a PNG of {found['png']} characters")
    expect(found["csvType"] == "text/csv", f"{name}: CSV is {found['csvType']}")
    expect(found["printed"] == found["charts"] and found["unprinted"] == 0, f"{name}: {found['printed']} of {found['charts']} charts on paper")
    if kind != "comparison":
        expect(found["pressed"] == "true" and found["faint"] > 0 and found["released"], f"{name}: the legend singles nothing out")
        expect(found["tip"] and re.search(r"\d", found["tip"]), f"{name}: no value at a mark: {found['tip']}")
    if kind in ("study", "hostile"):
        expect(found["panels"] == [[True, False], [False, True]], f"{name}: tabs: {found['panels']}")
        expect(found["curves"] == [6, 7, 7] and found["figures"], f"{name}: curves: {found['curves']}")
        expect(percent(data["verdict"]["standing"][0]["score"]) in found["svgText"], f"{name}: the first figure lacks its number: {found['svgText']}")
    expect(found["scrollWidth"] <= found["width"], f"{name}: {found['scrollWidth']} wide in a window of {found['width']}: {found['wide']}")
    expect(found["resources"] == [], f"{name}: loads {found['resources']}")
    expect(found["unlabelled"] == 0, f"{name}: {found['unlabelled']} things without a name")
    expect("owned" not in (found["title"], found["titleAfter"]), f"{name}: a name ran as a script")


def main():
    program = browser()
    if not program:
        print(f"skipped: no browser found ({', '.join(BROWSERS)}, or name one in HYBRID_BROWSER)")
        return 77
    with tempfile.TemporaryDirectory() as name, Browser(program, pathlib.Path(name)) as window:
        folder = pathlib.Path(name)
        for kind in ("study", "hostile", "comparison", "training", "scaling", "correlation"):
            page = folder / f"{kind}.html"
            subprocess.run([sys.argv[1], str(page), kind], check=True, stdout=subprocess.DEVNULL)
            text = page.read_text(encoding="utf-8")
            data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])
            references = References()
            references.feed(text)
            expect(not references.outside, f"{page.name}: refers to {references.outside[:3]}")
            script = PROBE.replace("COLUMN", {"training": "1", "scaling": "2"}.get(kind, "3"))
            grounds = []
            for width, scheme in ((1280, "light"), (360, "light"), (1280, "dark")):
                where = f"{page.name}, {width} wide, {scheme}"
                found, said = window.probe(page, script, width, scheme)
                expect(not said, f"{where}: errors or words on the console: {json.dumps(said)[:2000]}")
                if found:
                    check_probe(where, kind, data, found)
                    expect(found["width"] == width, f"{where}: shown {found['width']} wide")
                    grounds.append(found["dark"])
            expect(len(set(grounds)) == 2, f"{kind}: light and dark look alike: {grounds}")
    for each in failed:
        print("FAILED", each)
    print(f"report in {pathlib.Path(program).name}: {'FAILED' if failed else 'ok'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
