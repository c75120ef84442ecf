#!/usr/bin/env python3
"""A single flipped bit in a file never crashes, and never changes a number in silence.

  usage: bit-flips.py BIN [--flips N] [--seed S] [--jobs J]

Flips N bits, one at a time, in executables, parameter files, checkpoints and databases of studies, and runs what reads them. Each must be
refused with a reason (exit status 1 and "error:" on standard error), or print to the byte what the sound file does. Prints a table; the
exit status is 1 when anything else happened.
"""

import argparse
import concurrent.futures
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

MODEL = pathlib.Path(__file__).resolve().parents[2] / "models" / "mad" / "attention-swiglu.hyb"
SMALL = ["--set", "width=16", "--set", "heads=2", "--set", "inner=16", "--set", "blocks=A"]
TASK = ["--task", "in-context-recall:length=8"]


class Flips:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.environment = {**os.environ, "OMP_NUM_THREADS": "1", "XDG_CACHE_HOME": str(folder / "cache"), "XDG_CONFIG_HOME": str(folder / "config"),
                            "ASAN_OPTIONS": "detect_leaks=0:detect_container_overflow=0:allow_user_poisoning=0"}

    def call(self, tool, *words):
        return subprocess.run([str(self.options.binaries / tool), *map(str, words)], env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=300)

    def must(self, tool, *words):
        done = self.call(tool, *words)
        if done.returncode:
            sys.exit(f"{tool} {' '.join(map(str, words))}: {done.stderr.decode(errors='replace')}")

    def prepare(self):
        """What is flipped, and the words that read it: FILE is the flipped copy."""
        executable, run, study = self.folder / "model.hyx", self.folder / "run", self.folder / "study"
        self.must("hybridc", MODEL, "--batch", 2, "--length", 8, *SMALL, "-o", executable)
        self.must("hybrid-run", "train", executable, *TASK, "--steps", 3, "--eval-examples", 4, "--final-examples", 4, "--quiet", "--out", run)
        checkpoint, parameters = run / "checkpoints" / "step-00000003.safetensors", self.folder / "parameters.safetensors"
        tokens = "tokens=2x8xi32=" + ",".join(str(i % 8) for i in range(16))
        self.must("hybrid-run", "forward", executable, "--init-seed", 1, "--input", tokens, "--save-params", parameters, "--out", self.folder / "out")
        self.must("hybrid-run", "mad", MODEL, *SMALL, "--tasks", "in-context-recall:vocab=8,length=12", "compression:vocab=6,length=6", "--steps", 6,
                  "--batch", 4, "--test-examples", 8, "--evaluations", 3, "--lr", "1e-3", "1e-2", "--quiet", "--out", study)
        score = ["eval", executable, *TASK, "--examples", 4, "--json", "--checkpoint", "FILE"]
        return [
            ("executable", executable, ["eval", "FILE", *TASK, "--examples", 4, "--json", "--checkpoint", checkpoint]),
            ("executable, described", executable, ["info", "FILE", "--json"]),
            ("parameters", parameters, score),
            ("checkpoint", checkpoint, score),
            ("checkpoint, described", checkpoint, ["info", "FILE", "--json"]),
            ("database", study / "study.sqlite", ["mad", "--compare", "FILE", study]),
        ]

    def read(self, words, file):
        done = self.call("hybrid-run", *(file if word == "FILE" else word for word in words))
        # Where the file lies is no number.
        return done.returncode, done.stdout.replace(str(file).encode(), b"FILE"), done.stderr

    def flip(self, number, bit, sound, words, wanted, suffix):
        place = self.folder / "flipped" / str(number)
        place.mkdir(parents=True)
        damaged = bytearray(sound)
        damaged[bit // 8] ^= 1 << bit % 8
        file = place / f"flipped{suffix}"
        file.write_bytes(damaged)
        try:
            status, output, error = self.read(words, file)
        except subprocess.TimeoutExpired:
            return "hung", "no end after 300 s"
        finally:
            shutil.rmtree(place, ignore_errors=True)
        if status == 1 and b"error: " in error:
            return "refused", ""
        if status == 0:
            return ("the same", "") if output == wanted else ("changed", output.decode(errors="replace")[:400])
        return "crashed", f"exit status {status}: {error.decode(errors='replace')[-400:]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries", type=pathlib.Path, metavar="BIN")
    parser.add_argument("--flips", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", help="kinds whose name has this in it")
    options = parser.parse_args()
    random.seed(options.seed)
    faults = 0
    with tempfile.TemporaryDirectory(prefix="bit-flips-") as name, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        flips = Flips(options, pathlib.Path(name))
        readers = [reader for reader in flips.prepare() if not options.only or options.only in reader[0]]
        print(f"{'file':<24}{'bytes':>10}{'flips':>8}{'refused':>9}{'the same':>10}{'changed':>9}{'crashed':>9}{'hung':>6}")
        number = 0
        for index, (kind, path, words) in enumerate(readers):
            sound = path.read_bytes()
            copy = flips.folder / f"sound{path.suffix}"
            copy.write_bytes(sound)
            status, wanted, error = flips.read(words, copy)
            if status:
                sys.exit(f"{kind}: {error.decode(errors='replace')}")
            jobs = []
            for _ in range(options.flips * (index + 1) // len(readers) - number):
                bit = random.randrange(len(sound) * 8)
                jobs.append((bit, pool.submit(flips.flip, number, bit, sound, words, wanted, path.suffix)))
                number += 1
            counts = dict.fromkeys(("refused", "the same", "changed", "crashed", "hung"), 0)
            for bit, job in jobs:
                outcome, text = job.result()
                counts[outcome] += 1
                if outcome not in ("refused", "the same"):
                    faults += 1
                    print(f"{kind}: bit {bit % 8} of byte {bit // 8} (seed {options.seed}): {outcome}: {text}", file=sys.stderr)
            print(f"{kind:<24}{len(sound):>10}{len(jobs):>8}" + "".join(f"{count:>{width}}" for count, width in zip(counts.values(), (9, 10, 9, 9, 6))),
                  flush=True)
    sys.exit(f"{faults} flips were neither refused nor without effect" if faults else 0)


if __name__ == "__main__":
    main()
