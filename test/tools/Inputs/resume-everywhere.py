#!/usr/bin/env python3
"""Lets a run that is done go on from each of the steps given, as if it had been stopped there, and fails unless its last checkpoint and
its metrics but for times are the same again. usage: resume-everywhere.py HYBRID-RUN RUN STEP..."""
import json
import pathlib
import shutil
import subprocess
import sys

program, run, steps = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]


def outcome(folder):
    last = sorted((folder / "checkpoints").glob("step-*"))[-1]
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return last.name, last.read_bytes(), [{k: v for k, v in row.items() if k not in ("seconds", "tokens_per_second")} for row in rows]


for step in map(int, steps):
    again = run.with_name(f"{run.name}-from-{step}")
    shutil.rmtree(again, ignore_errors=True)
    shutil.copytree(run, again)
    kept = f"step-{step:08}.safetensors"
    if not (again / "checkpoints" / kept).exists():
        sys.exit(f"there is no {kept}")
    for checkpoint in (again / "checkpoints").glob("step-*"):
        if checkpoint.name > kept:
            checkpoint.unlink()
    done = subprocess.run([program, "train", "--resume", "--out", again, "--quiet"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"from step {step}: {done.stderr}")
    for what, now, then in zip(("last step", "last checkpoint", "metrics"), outcome(again), outcome(run)):
        if now != then:
            sys.exit(f"from step {step} the {what} differs")
