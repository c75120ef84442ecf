#!/usr/bin/env python3
"""Law of a model with a state: a sequence in two pieces, the second from the state after the first, is the sequence.

usage: check-state.py BIN_DIR MODEL.hyb STATE=OUTPUT ... [--model NAME] [--set NAME=VALUE] [--length L]

STATE is an input of the model, OUTPUT the output that continues it. Other inputs and outputs have positions as their second dimension. Runs a batch
of one in f64, with random parameters and a random first state.
"""

import argparse
import math
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from model import Model, npy  # noqa: E402

TOLERANCE = 1e-12


def part(tensor, begin, end, length):
    """Positions [begin, end) of [1, length, ...]."""
    inner = len(tensor.data) // length
    return npy.Tensor((1, end - begin, *tensor.shape[2:]), tensor.data[begin * inner:end * inner])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binaries")
    parser.add_argument("source")
    parser.add_argument("states", nargs="+")
    parser.add_argument("--model")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--length", type=int, default=9)
    arguments = parser.parse_args()
    states, length = dict(state.split("=", 1) for state in arguments.states), arguments.length
    cut = length // 3

    with tempfile.TemporaryDirectory() as folder:
        def model(positions):
            place = pathlib.Path(folder) / str(positions)
            place.mkdir()
            return Model(arguments.binaries, arguments.source, place, 1, positions, arguments.set, arguments.model)

        whole, first, second = model(length), model(cut), model(length - cut)
        for tensor in whole.parameters.values():
            for i in range(len(tensor.data)):
                tensor.data[i] += whole.random.uniform(-0.1, 0.1)
        for piece, begin, end in ((first, 0, cut), (second, cut, length)):
            piece.parameters = whole.parameters
            piece.inputs = {name: t if name in states else part(t, begin, end, length) for name, t in whole.inputs.items()}
        expected, before = whole.run(), first.run()
        second.inputs |= {name: before[output] for name, output in states.items()}
        after = second.run()
        failed = 0
        for name, tensor in expected.items():
            found = after[name].data if name in states.values() else before[name].data + after[name].data
            error = math.dist(found, tensor.data) / max(math.hypot(*tensor.data), 1e-300)
            failed += not error <= TOLERANCE
            print(f"{'ok  ' if error <= TOLERANCE else 'FAIL'} {name} {list(tensor.shape)}: {error:.1e}")
    print("a sequence in two pieces is the sequence" if not failed else f"outputs that differ: {failed}")
    sys.exit(1 if failed else 0)


main()
