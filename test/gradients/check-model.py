#!/usr/bin/env python3
"""Checks the gradients of a whole model against central differences, in f64.

usage: check-model.py BIN_DIR MODEL.hyb [NAME=VALUE ...] [--model NAME] [--batch B] [--length L] [--samples N]

Every floating point input and every trained parameter is drawn (parameters: their initial value and uniform noise, so that what starts at zero
is tested too), and every output gets a random weight. Then, of each tensor, the derivative along one random direction, in which N elements
weigh as much each as all others together, is compared with (f(x + h) - f(x - h)) / 2h, extrapolated from h and 2h. The error is relative to the
largest gradient of the tensor. Directions follow from the tensor's name, so that one does not change another's.

Only models whose outputs vary smoothly can be checked: a ReLU within a step of its corner, or a hard choice among experts, fails.
"""

import argparse
import math
import operator
import random
import tempfile

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from model import Model  # noqa: E402

NOISE, TOLERANCE = 0.1, 1e-6
STEPS = 1e-4, 1e-3, 1e-6  # the second where a gradient is so small that rounding shows in the first, the third where a function bends within both


def derivative(tensor, direction, step, value):
    """Of `value` along `direction`, of fourth order in `step`."""
    start = tensor.data[:]

    def at(distance):
        for i, d in enumerate(direction):
            tensor.data[i] = start[i] + distance * d
        result = value()
        tensor.data[:] = start
        return result

    wide = (at(2 * step) - at(-2 * step)) / (4 * step)
    narrow = (at(step) - at(-step)) / (2 * step)
    return (4 * narrow - wide) / 3


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binaries")
    parser.add_argument("model")
    parser.add_argument("settings", nargs="*")
    parser.add_argument("--model", dest="name", help="which model of the file")
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--length", type=int, default=7)
    parser.add_argument("--samples", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = Model(arguments.binaries, arguments.model, folder, arguments.batch, arguments.length, arguments.settings, arguments.name)
        for name in model.trained:
            tensor = model.parameters[name]
            for i in range(len(tensor.data)):
                tensor.data[i] += model.random.uniform(-NOISE, NOISE)
        weights = {name: model.drawn(shape) for name, shape in model.outputs.items()}

        def value():
            outputs = model.run()
            return math.fsum(w * y for name in weights for w, y in zip(weights[name].data, outputs[name].data))

        gradients = model.run(cotangents=weights)
        tensors = {name: t for name, t in model.inputs.items() if t.is_float} | {name: model.parameters[name] for name in model.trained}
        failed = 0
        for name, tensor in tensors.items():
            gradient = gradients[f"grad.{name}"].data
            largest = max(map(abs, gradient))
            count = len(gradient)
            draw = random.Random(name)
            length = 1 / math.sqrt(count)
            direction = [draw.choice((-length, length)) for _ in range(count)]
            heavy = sorted(draw.sample(range(count), min(arguments.samples, count)))
            for i in heavy:
                direction[i] = math.copysign(1, direction[i])
            found = math.fsum(map(operator.mul, gradient, direction))
            for step in STEPS:
                expected = derivative(tensor, direction, step, value)
                error = abs(found - expected) / largest if largest > 0 else math.inf
                if error <= TOLERANCE:
                    break
            good = error <= TOLERANCE
            failed += not good
            print(f"{'ok  ' if good else 'FAIL'} {name} {list(tensor.shape)}: error {error:.1e}"
                  + ("" if good else f"; along a direction with most of {heavy}: {found:.12g}, central difference {expected:.12g}"))
    print(f"gradients of {arguments.name or pathlib.Path(arguments.model).name}: {len(tensors) - failed} tensors agree, {failed} do not")
    sys.exit(1 if failed or not tensors else 0)


main()
