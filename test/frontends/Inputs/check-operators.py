#!/usr/bin/env python3
"""Every op whose definition offers it to the language can be called there: no other list is asked.

usage: check-operators.py HYBRIDC docs/dialect/operators.md
"""

import re
import subprocess
import sys

compiler, page = sys.argv[1:]
rows = re.findall(r"^\| `(\w+)\((.*)\)` \| ", open(page, encoding="utf-8").read(), re.MULTILINE)
assert len(rows) > 20, f"{page} lists {len(rows)} operators"
for name, parameters in rows:
    names = [re.split(r"[ ?]", parameter)[0] for parameter in parameters.split(", ")]
    source = f"model m() {{\n  input x: [B, L, 8]\n  output y = op.{name}()\n}}\n"
    result = subprocess.run([compiler, "-", "--emit=hybrid"], input=source, capture_output=True, text=True, timeout=60)
    wanted = f"'{name}' needs '{names[0]}'"
    assert result.returncode == 1 and wanted in result.stderr, f"{name}: expected {wanted}, found\n{result.stderr}"
    help_text = subprocess.run([compiler, "--help-op", name], capture_output=True, text=True, check=True).stdout
    missing = [parameter for parameter in names if f"\n  {parameter}: " not in help_text]
    assert not missing, f"--help-op {name} does not tell {missing}"
