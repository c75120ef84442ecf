#!/usr/bin/env python3
"""Law: a language model's outputs before position t do not depend on token t, and those at t do.

Every model in models/mad and models/lm runs on a sequence and on the same with one token changed. Long convolutions go through the frequency
domain, so "do not depend" means up to round-off. The compiler is to say the same of each without running it.

usage: causality.py BIN_DIR MODELS_DIR [--one-of N]

With --one-of only every Nth model is run; of the others the compiler is asked alone.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "golden"))
import npy  # noqa: E402

LENGTH, CHANGED = 24, 13


def logits(binaries, executable, folder, tokens):
    text = ",".join(str(token) for token in tokens)
    out = folder / "out"
    subprocess.run([binaries / "hybrid-run", "forward", executable, "--init-seed", "5", "--input", f"tokens=1x{LENGTH}xi32={text}", "--out", out],
                   check=True)
    array = npy.read_npy(out / "output.logits.npy")
    classes = array.shape[-1]
    return [array.data[t * classes:(t + 1) * classes] for t in range(LENGTH)]


def main():
    binaries, models = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    failed, one_of = 0, int(sys.argv[4]) if sys.argv[3:4] == ["--one-of"] else 1
    sources = sorted(models.glob("mad/*.hyb")) + sorted(models.glob("lm/*.hyb"))
    if not sources:
        sys.exit(f"no models in {models}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for number, source in enumerate(sources):
            said = json.loads(subprocess.run([binaries / "hybridc", source, "--length", str(LENGTH), "--causality=json"], capture_output=True, check=True).stdout)
            if number % one_of:
                failed += said["causal"] is not True
                print(f"{'ok  ' if said['causal'] is True else 'FAIL'} {source.name}: hybridc says {said}")
                continue
            executable = folder / "model.hyx"
            subprocess.run([binaries / "hybridc", source, "-o", executable, "--batch", "1", "--length", str(LENGTH), "--precision", "f64"], check=True)
            tokens = [(5 * i + 3) % 16 for i in range(LENGTH)]
            before = logits(binaries, executable, folder, tokens)
            tokens[CHANGED] = (tokens[CHANGED] + 7) % 16
            after = logits(binaries, executable, folder, tokens)
            change = [max(abs(a - b) for a, b in zip(x, y)) for x, y in zip(before, after)]
            scale = max(abs(a) for row in before for a in row)
            leak, effect = max(change[:CHANGED]), change[CHANGED]
            good = leak <= 1e-12 * scale and effect > 1e-6 * scale and said["causal"] is True
            failed += not good
            print(f"{'ok  ' if good else 'FAIL'} {source.name}: change before {leak:.1e}, at {effect:.1e}, outputs up to {scale:.1e}; hybridc says {said}")
    print(f"causality: {len(sources) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
