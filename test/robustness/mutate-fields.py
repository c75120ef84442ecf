#!/usr/bin/env python3
"""No changed field of an executable crashes the runtime, even where the seal is right.

Compiles small models that have every kind of step, and gives each to MutateFields. All changes are some hundred thousand: --one-of N
tries each N-th.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

SMALL = ["--set", "width=16", "--batch", "2", "--length", "8", "--target", "cpu:x86-64-v3"]
CASES = {
    "attention": ["mad/attention-swiglu.hyb", *SMALL, "--set", "heads=2", "--set", "inner=16"],
    "hyena": ["mad/hyena-swiglu.hyb", *SMALL, "--set", "inner=16"],
    "mamba": ["mad/mamba.hyb", *SMALL],
    "experts": ["mad/attention-moe.hyb", *SMALL, "--set", "heads=2"],
    "rwkv": ["mad/rwkv.hyb", *SMALL],
    "decoding": ["lm/byte-striped.hyb", *SMALL, "--decode", "--set", "heads=2", "--set", "inner=16", "--set", "blocks=HA"],
    "parts": ["mad/striped-mamba-swiglu.hyb", *SMALL, "--set", "heads=2", "--sequence-parallel", "2"],
    "shares": ["mad/mamba.hyb", *SMALL, "--shard-optimizer=parameters"],
    "wide": ["mad/gated-linear-attention-swiglu.hyb", "--batch", "8", "--length", "128", "--target", "cpu:x86-64-v3"],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries", type=pathlib.Path, metavar="BIN")
    parser.add_argument("models", type=pathlib.Path)
    parser.add_argument("schema", type=pathlib.Path)
    parser.add_argument("--one-of", type=int, default=3001, metavar="N")
    options = parser.parse_args()
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "ASAN_OPTIONS": "detect_leaks=0:detect_container_overflow=0:allow_user_poisoning=0:exitcode=99"}
    failed = []
    with tempfile.TemporaryDirectory(prefix="mutate-fields-") as folder:
        for name, (model, *arguments) in CASES.items():
            executable = pathlib.Path(folder) / f"{name}.hyx"
            subprocess.run([options.binaries / "hybridc", options.models / model, *arguments, "-o", executable], env=environment, check=True)
            done = subprocess.run([options.binaries / "MutateFields", options.schema, executable, "0", str(options.one_of)], env=environment, capture_output=True, text=True)
            print("\n".join(done.stdout.splitlines()[-40:]), done.stderr[-2000:] if done.returncode else "", flush=True)
            if done.returncode:
                failed.append(name)
    sys.exit(f"crashed: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
