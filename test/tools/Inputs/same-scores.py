#!/usr/bin/env python3
"""Whether two scores of hybrid-run eval --json are the same: counts exactly, losses to the noise of f32.

usage: same-scores.py A.json B.json
"""

import json
import sys

a, b = (json.load(open(path)) for path in sys.argv[1:])
assert a.keys() == b.keys(), (a, b)
for key in a:
    tolerance = 2e-5 if key == "eval_loss" else 0
    assert abs(a[key] - b[key]) <= tolerance, (key, a, b)
