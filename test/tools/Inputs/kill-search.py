"""Kills a search after random times and starts it again until it ends: kill-search.py SEED COMMAND..."""

import os
import random
import signal
import subprocess
import sys

rng = random.Random(int(sys.argv[1]))
kills, longest = 0, 1.0
while True:
    process = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        _, error = process.communicate(timeout=rng.uniform(0.3, longest))
    except subprocess.TimeoutExpired:
        # The leader alone: what it started must notice.
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        kills += 1
        longest *= 1.3  # so that it ends on a slow machine too
        continue
    print(error, end="", file=sys.stderr)
    print(f"{kills} kills")
    sys.exit(process.returncode)
