"""Compiles every ```hyb block of a page alone: compile-blocks.py HYBRIDC PAGE FOLDER."""

import pathlib
import re
import subprocess
import sys

compiler, page, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
folder.mkdir(parents=True, exist_ok=True)
blocks = re.findall(r"^```hyb\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)
failed = 0
for number, block in enumerate(blocks, 1):
    path = folder / f"block-{number}.hyb"
    path.write_text(block, encoding="utf-8")
    run = subprocess.run([compiler, path, "--emit=fused"], capture_output=True, text=True)
    if run.returncode != 0:
        failed += 1
        print(f"{page.name}, block {number}:\n{block}\n{run.stderr}")
print(f"{len(blocks)} blocks, {failed} failed")
sys.exit(1 if failed or not blocks else 0)
