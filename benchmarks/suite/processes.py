"""The two sides that are timed: hybrid-run on compiled models, and PyTorch processes that answer requests."""

import json
import os
import pathlib
import selectors
import statistics
import subprocess
import sys
import tempfile

BENCHMARKS = pathlib.Path(__file__).resolve().parent.parent
ROOT = BENCHMARKS.parent
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "hybrid"


class Failure(RuntimeError):
    """Why a cell of a table is empty."""


class Unsupported(Failure):
    """What hybridc was asked for and does not have."""


def last_line(text):
    lines = [line.strip() for line in str(text).splitlines() if line.strip()]
    return lines[-1] if lines else "no message"


def peer_python(options):
    """An interpreter that has torch: the one given, or a virtual environment outside the tree."""
    if options.python:
        return options.python
    folder = CACHE / "bench-venv"
    python = folder / "bin" / "python"
    probe = [python, "-c", "import torch"]
    if python.exists() and subprocess.run(probe, capture_output=True).returncode == 0:
        return python
    print(f"installing PyTorch in {folder} (once; several GB, as its wheel carries CUDA libraries)", flush=True)
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "torch", "numpy"], check=True)
    return python


class Peer:
    """A PyTorch process: a line of a request, a line of JSON back, within `limit` seconds or it is ended."""

    def __init__(self, options, script, *arguments, limit=600):
        command = [str(options.python), str(BENCHMARKS / "peer" / script), "--threads", str(options.threads), "--device", options.device,
                   *["--cpu-time"] * options.cpu_time, *map(str, arguments)]
        # Compiled kernels are kept, so that a second run is shorter.
        environment = {**os.environ, "OMP_NUM_THREADS": str(options.threads), "TORCHINDUCTOR_CACHE_DIR": str(CACHE / "torchinductor")}
        if options.device == "cuda":  # several peers compile at a time
            environment["TORCHINDUCTOR_COMPILE_THREADS"] = str(max(1, (os.cpu_count() or 1) // 8))
        self.limit = limit
        self.log = tempfile.TemporaryFile(mode="w+")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
                                        text=True, bufsize=1, env=environment)
        self.peak_bytes = 0
        self.about = self.answer()

    def answer(self):
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            ready = selector.select(self.limit)
        if not ready:
            self.close()
            raise Failure(f"over {self.limit} s")
        line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        status = self.process.wait()
        self.log.seek(0)
        message = last_line(self.log.read()) if status >= 0 else f"ended by signal {-status}" + " (out of memory?)" * (status == -9)
        raise Failure(message)

    def ask(self, line):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the answer says why
        return self.answer()

    def steps(self, count):
        """Milliseconds of a training step: the median of `count`."""
        reply = self.ask(f"steps {count}")
        self.peak_bytes = reply["peak_bytes"]
        return statistics.median(reply["ms"])

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            try:
                stream.close()
            except BrokenPipeError:
                pass


class Executable:
    """A compiled model, timed by hybrid-run bench. `options.environment` is added to this process's."""

    trust = ["--trust"]  # it may have been compiled elsewhere

    def __init__(self, options, executable, limit=600):
        self.options, self.executable, self.limit = options, executable, limit
        self.peak_bytes = 0

    def call(self, tool, *arguments):
        command = [str(self.options.bin / tool), *map(str, arguments)]
        environment = {**os.environ, "OMP_NUM_THREADS": str(self.options.threads), **self.options.environment}
        try:
            done = subprocess.run(command, capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL, timeout=self.limit)
        except subprocess.TimeoutExpired:
            raise Failure(f"{tool}: over {self.limit:.0f} s") from None
        if done.returncode != 0:
            if tool == "hybridc" and "--precision" in done.stderr:
                raise Unsupported(done.stderr.strip().splitlines()[0])
            raise Failure(f"exit status {done.returncode} from {' '.join(command)}\n{done.stderr[-3000:]}")
        return done.stdout

    def trained_parameters(self):
        return json.loads(self.call("hybrid-run", "info", self.executable, "--json"))["trained_count"]

    def bench(self, program, count, warmup=2, profile=False):
        reply = json.loads(self.call("hybrid-run", "bench", self.executable, *self.trust, f"--program={program}", "--steps", count, "--warmup", warmup,
                                     "--threads", self.options.threads, "--json", *["--profile"] * profile))
        self.peak_bytes = max(self.peak_bytes, reply["peak_bytes"])
        return reply

    def milliseconds(self, program, count):
        """A step's, by the clock or of CPU time."""
        return self.bench(program, count)["cpu_ms_per_step" if self.options.cpu_time else "ms_per_step"]

    def steps(self, count):
        # The program `train` is timed with the optimizer's update, as the peer's step is.
        return self.milliseconds("train", count)

    def close(self):
        pass


class Compiled(Executable):
    """One that hybridc compiles for this, and that goes away again."""

    trust = []

    def __init__(self, options, source, dtype, batch, length, settings=(), limit=600):
        super().__init__(options, options.work / f"{source.stem}-{dtype}-{batch}x{length}.hyx", limit)
        arguments = [source, "-o", self.executable, "--batch", batch, "--length", length, f"--precision={dtype}"]
        for name, value in dict(settings).items():
            arguments += ["--set", f"{name}={value}"]
        self.call("hybridc", *arguments)

    def close(self):
        self.executable.unlink(missing_ok=True)


def take_turns(sides, rounds, turn):
    """`turn(side)` gives milliseconds; sides take turns, so that a machine that slows down slows all. A dictionary of name
    -> times. A side that fails is left out from then on, and `failures` says why; a None among the sides is not run."""
    times, failures = {name: [] for name in sides}, {}
    for _ in range(rounds):
        for name, side in sides.items():
            if side is None or name in failures:
                continue
            try:
                times[name].append(turn(side))
            except Failure as failure:
                failures[name] = last_line(failure)
    for name in failures:
        times[name] = []
    return times, failures


def median(values):
    return statistics.median(values) if values else None


def median_ratio(times, name):
    """How many times longer `name` took than `ours`, turn by turn."""
    return median([a / b for a, b in zip(times[name], times["ours"])])
