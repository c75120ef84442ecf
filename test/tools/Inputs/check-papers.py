"""The index of the papers names every captioned table and figure of the documents it was made from, each with one state.

usage: check-papers.py LIST.json
"""

import json
import sys

# Captions of the documents, by paper.
EXPECTED = {
    "hyena": [f"Table 4.{i}" for i in range(1, 8)] + [f"Figure 4.{i}" for i in range(1, 4)] + [f"Table A.{i}" for i in range(1, 6)] + ["Table C.1", "Figure C.1"],
    "mad": ["Figure 1.1", "Table 2.1"] + [f"Figure 3.{i}" for i in range(1, 8)] + ["Figure 4.1", "Table B.1"] + [f"Figure B.{i}" for i in range(1, 10)]
    + [f"Table C.{i}" for i in range(1, 6)] + ["Figure C.1", "Figure D.1", "Figure D.2"] + [f"Table D.{i}" for i in range(1, 6)] + ["Table E.1"]
    + [f"Figure E.{i}" for i in range(1, 9)] + [f"Finding {i}" for i in (1, 2, 3, 5, 6, 7, 8, 9)],
    "mamba": ["Table 11", "Table 12", "Figure 9", "Table 13"],
}

listed = {}
for each in json.load(open(sys.argv[1], encoding="utf-8")):
    listed.setdefault(each["paper"], {})[each["item"]] = each["state"]
for paper, items in EXPECTED.items():
    for item in items:
        state = listed.get(paper, {}).get(item)
        assert state, f"{paper}: {item} is not listed"
        assert state.startswith(("runnable", "reproduced: ", "needs ", "nothing to measure: ")), (item, state)
