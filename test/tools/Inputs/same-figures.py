"""usage: same-figures.py A.json B.json TOLERANCE - two evaluations have the same figures up to a relative difference."""
import json
import sys

first, second = ({(task["name"], name): figure["value"] for task in json.load(open(path))["tasks"] for name, figure in task["figures"].items()}
                 for path in sys.argv[1:3])
assert first.keys() == second.keys() and len(first) > 10, (first, second)
for key, value in first.items():
    assert abs(value - second[key]) <= float(sys.argv[3]) * max(1, abs(value)), (key, value, second[key])
