"""Training steps beside processes that keep cores busy, as on a machine that others use, too."""

import contextlib
import subprocess

from .processes import Compiled, Failure, median, take_turns
from .training import BASELINE, model_files, settings_of, start_peer

MODELS = ("hyena-swiglu", "mamba", "attention-swiglu")
BUSY = (0, 1, 2)


@contextlib.contextmanager
def busy(count):
    """`count` processes that compute and never wait."""
    processes = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def names(options):
    return [name for name in MODELS if not options.model or name in options.model]


def measure(options, name):
    """A row a model: milliseconds of a step by the number of busy processes, ours and the peer's."""
    path = model_files()[name]
    sides = {"ours": Compiled(options, path, "f32", *BASELINE, settings_of(path, BASELINE[1])), "eager": None}
    problem = None
    try:
        sides["eager"], problem = start_peer(options, name, "f32", *BASELINE, "eager", options.limit)
        found = {}
        for count in BUSY:
            with busy(count):
                found[count], failed = take_turns(sides, options.rounds, lambda side: side.steps(options.steps))
            if "ours" in failed:
                raise Failure(failed["ours"])
    finally:
        for side in sides.values():
            if side:
                side.close()
    row = {"model": name, "batch": BASELINE[0], "length": BASELINE[1], "threads": options.threads, "rounds": options.rounds,
           "steps_a_round": options.steps}
    if problem:
        row["eager_failure"] = problem
    for count, times in found.items():
        row[f"ms_{count}"], row[f"eager_ms_{count}"] = median(times["ours"]), median(times["eager"])
    return row


def run(options):
    for name in names(options):
        try:
            row = measure(options, name)
        except (Failure, OSError, KeyError, ValueError) as failure:
            options.failures.append(f"neighbours of {name}: {failure}")
            print(f"benchmarks/run: {name} with neighbours: {failure}", flush=True)
            continue
        times = ", ".join(f"{row[f'ms_{count}'] / row['ms_0']:.2f}" for count in BUSY[1:])
        print(f"{name}: {row['ms_0']:.1f} ms; beside 1 and 2 busy processes {times} times that", flush=True)
        yield row
