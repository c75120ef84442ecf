"""What a search wrote: check-search.py HYBRIDC SPACE FOLDER."""

import json
import pathlib
import re
import subprocess
import sys

compiler, space, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
search = json.loads((folder / "search.json").read_text(encoding="utf-8"))
points = {point["name"]: point for point in search["points"]}


def program(path, *settings):
    words = [compiler, str(path), "--cost=json", "--length", "16"]
    for setting in settings:
        words += ["--set", setting]
    return json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)["program"]


# The front is what no other point beats, at the longest length that both were trained for.
def beats(a, b):
    both = [(x, y) for x, y in zip(a["scores"], b["scores"]) if x is not None and y is not None]
    if not both:
        return False
    left, right = both[-1]
    costs = [(a[key], b[key]) for key in ("flops_per_token", "counted_state_elements")]
    return left >= right and all(x <= y for x, y in costs) and (left > right or any(x < y for x, y in costs))


front = {name for name, point in points.items() if not any(beats(other, point) for other in points.values())}
assert front == {entry["name"] for entry in search["front"]}, (front, search["front"])
assert front == {name for name, point in points.items() if point["front"]}
for rung in search["rungs"]:
    assert set(rung["promoted"]) <= set(rung["points"])

comments = re.findall(r"//.*", space.read_text(encoding="utf-8"))
for entry in search["front"]:
    path = folder / entry["file"]
    text = path.read_text(encoding="utf-8")
    assert text.startswith("// Found by hybrid-run search in ")
    assert "one_of" not in text and all(comment in text for comment in comments), text
    settings = [f"{key}={value}" for key, value in {**points[entry["name"]]["settings"], **search["settings"]}.items()]
    assert program(path) == program(space, *settings), path
assert "<html" in (folder / "report.html").read_text(encoding="utf-8")
