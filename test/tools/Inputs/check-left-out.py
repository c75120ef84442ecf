#!/usr/bin/env python3
"""Fails unless a run's parameters and moments stay as they are in exactly those steps whose updates were left out, by its metrics of every
step and its checkpoints of every step, and there are some of both kinds. usage: check-left-out.py RUN"""
import json
import pathlib
import struct
import sys

run = pathlib.Path(sys.argv[1])


def tensors(step):
    data = (run / "checkpoints" / f"step-{step:08}.safetensors").read_bytes()
    return data[8 + struct.unpack("<Q", data[:8])[0]:]


counts = [row["updates_left_out"] for row in map(json.loads, (run / "metrics.jsonl").read_text().splitlines()) if row["split"] == "train"]
left_out = {step for step in range(2, len(counts) + 1) if counts[step - 1] > counts[step - 2]}
stayed = {step for step in range(2, len(counts) + 1) if tensors(step) == tensors(step - 1)}
if stayed != left_out or not left_out or min(left_out) < 128 or len(left_out) > 20:
    sys.exit(f"left out {sorted(left_out)}, but {sorted(stayed)} stayed")
summary = json.loads((run / "summary.json").read_text())
if summary["updates_left_out"] != len(left_out):
    sys.exit(f"the summary says {summary['updates_left_out']}")
