#!/usr/bin/env python3
"""Fails unless a trace has the phases of training in each of the steps given, with operations that lie within the programs' time, and none
of other steps. usage: check-trace.py TRACE STEP..."""
import json
import sys

events = [event for event in json.load(open(sys.argv[1]))["traceEvents"] if event["ph"] == "X"]
steps = set(map(int, sys.argv[2:]))
names = {event["name"] for event in events}
if missing := {"data", "forward and backward", "update", "evaluation", "checkpoint"} - names:
    sys.exit(f"the trace has no {missing}")
operations = [event for event in events if event["cat"] == "operation"]
if {event["args"]["step"] for event in operations} != steps:
    sys.exit(f"operations are of steps {sorted({event['args']['step'] for event in operations})}, expected {sorted(steps)}")
for step in steps:
    own = [event for event in operations if event["args"]["step"] == step]
    if not {"attention", "adamw"} <= {event["name"].split("(")[0] for event in own} or not any("mixers.hyb" in event["args"]["location"] for event in own):
        sys.exit(f"step {step} has the operations {sorted({event['name'] for event in own})}")
    whole = sum(event["dur"] for event in events if event["args"]["step"] == step and event["name"] in ("forward and backward", "update"))
    if not 0 < sum(event["dur"] for event in own) <= whole:
        sys.exit(f"the operations of step {step} take longer than its programs")
if any(event["dur"] < 0 or event["ts"] < 0 for event in events):
    sys.exit("a time is negative")
