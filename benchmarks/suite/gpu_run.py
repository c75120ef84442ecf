"""Checks and times a bundle (gpu_bundle.py) on a machine with a GPU.

Every row is written as soon as it is there. What fails is a row's `..._failure` or a line of `failures`; what there was no
time for is in `left_out`.
"""

import concurrent.futures
import contextlib
import datetime
import itertools
import json
import os
import pathlib
import platform
import shlex
import subprocess
import sys
import tarfile
import tempfile
import time

from . import gpu_machine, gpu_report, report
from .ops import PeerOps
from .processes import Executable, Failure, last_line, median, median_ratio, take_turns
from .training import start_peer

TABLES = {"mad": "mad_step", "ops": "op", "lm": "lm_step"}
LANGUAGE_VOCABULARY = 50257
PEER_SETUP_SECONDS = 300


def unpack(archive, folder):
    """Files and folders of the archive, and nothing outside `folder`, also by a Python that has no filters (before 3.11.4)."""
    filters = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    for member in archive.getmembers():
        parts = pathlib.PurePosixPath(member.name).parts
        if not (member.isfile() or member.isdir()) or member.name.startswith("/") or ".." in parts:
            raise Failure(f"{archive.name}: '{member.name}' is no file or folder below the archive's own: not one that prepare made")
        member.mode &= 0o755
        archive.extract(member, folder, **filters)


def fits(manifest):
    """Raises when this system's C library is older than the one the bundle asks for."""
    library, here = platform.libc_ver()
    needed = manifest.get("needs", {}).get("GLIBC")
    if library == "glibc" and needed and [int(n) for n in here.split(".")] < [int(n) for n in needed.split(".")]:
        raise Failure(f"the bundle needs glibc {needed}, this system has {here}: prepare it on a system that is as old")


@contextlib.contextmanager
def opened(bundle):
    """The folder of the bundle, unpacked if it is an archive."""
    if bundle.is_dir():
        yield bundle.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="gpu-check-") as folder, tarfile.open(bundle) as archive:
        unpack(archive, folder)
        yield pathlib.Path(folder) / "gpu-check"


class Run:
    def __init__(self, options, bundle, manifest):
        self.options, self.bundle, self.manifest = options, bundle, manifest
        self.end = time.monotonic() + options.limit_seconds if options.limit_seconds else None
        machine = gpu_machine.describe(gpu_machine.nvidia_smi())
        date = datetime.date.today().isoformat()
        self.path = options.out / f"{gpu_machine.slug(machine['gpu'])}-{date}.json"
        self.result = {"gpu": machine["gpu"], "date": date, "commit": manifest["commit"], "target": manifest["target"], "quick": manifest["quick"],
                       "compiler": manifest["compiler"], "command": shlex.join(["tools/gpu-check", *sys.argv[1:]]), "machine": machine,
                       "floor_device": manifest["floor_device"], "rates_per_second": manifest["rates_per_second"], "rounds": options.rounds,
                       "seconds": 0, "doctor": None, "selftest": None, "ceilings": {}, "summary": {}, "failures": [], "left_out": [],
                       "mad_step": [], "op": [], "lm_step": []}
        if options.resume and self.path.exists():
            before = json.loads(self.path.read_text(encoding="utf-8"))
            if before["commit"] != manifest["commit"]:
                raise Failure(f"{self.path} is of commit {before['commit'][:10]}, the bundle of {manifest['commit'][:10]}: --resume would mix them")
            self.result |= {key: before[key] for key in ("doctor", "selftest", "ceilings", "failures", *TABLES.values())}
        self.start = time.monotonic()

    def predicted(self, case):
        """What the bundle expects of a case on this device, in ms, or nothing."""
        gpu = self.result["gpu"].lower()
        return next((ms for device, ms in case.get("predicted", {}).items() if device in gpu), None)

    def save(self):
        self.result["seconds"] = time.monotonic() - self.start
        self.result["summary"] = report.summary(self.result["mad_step"], ("eager", "compile", "graph", "compile_graph"))
        text = json.dumps(self.result, indent=1) + "\n"
        partial = self.path.with_suffix(".partial")
        partial.write_text(text, encoding="utf-8")
        partial.replace(self.path)  # a run that is ended here leaves the file before it whole
        self.path.with_suffix(".md").write_text(gpu_report.write(self.result), encoding="utf-8")

    def left(self):
        return float("inf") if self.end is None else self.end - time.monotonic()

    def fail(self, text):
        self.result["failures"].append(text)
        print(f"FAIL  {text}", flush=True)

    def hybrid_run(self, *arguments, limit):
        environment = {**os.environ, **self.options.environment}
        try:
            done = subprocess.run([str(self.options.bin / "hybrid-run"), *map(str, arguments)], capture_output=True, text=True, errors="replace",
                                  env=environment, stdin=subprocess.DEVNULL, timeout=min(limit, max(self.left(), 1)))
        except subprocess.TimeoutExpired as late:
            text = late.stdout or b""
            return 124, (text if isinstance(text, str) else text.decode(errors="replace")) + f"\nended after {late.timeout:.0f} s"
        except OSError as error:
            return 127, str(error)
        return done.returncode, done.stdout + done.stderr

    def doctor(self):
        status, text = self.hybrid_run("doctor", "--json", limit=120)
        with contextlib.suppress(ValueError):
            self.compare_driver(json.loads(text)["cuda"]["driver_version"])
        status, text = self.hybrid_run("doctor", limit=120)
        self.result["doctor"] = text.strip()
        print(text.strip(), flush=True)
        if status:
            self.fail(f"hybrid-run doctor: exit status {status}: {last_line(text)}")

    def compare_driver(self, driver):
        """One sentence in place of a failure for each case."""
        toolkit = self.manifest.get("toolkit")
        needed = toolkit and toolkit["least_driver"] / 1000
        if needed and driver and float(driver.split(".")[0]) < needed:
            raise Failure(f"the bundle was compiled with the toolkit of CUDA {toolkit['nvrtc']} for drivers of CUDA {needed:.1f} or later, this one is "
                          f"of {driver}: update the driver, or prepare it with an NVRTC of CUDA {driver.split('.')[0]} (--nvrtc)")

    def selftest(self):
        about = self.manifest["selftest"]
        if "folder" not in about:
            self.fail(f"selftest: not prepared: {about.get('problem', 'left out')}")
            return
        for problem in about["problems"]:
            self.fail(f"selftest: not prepared: {problem}")
        began = time.monotonic()
        status, text = self.hybrid_run("selftest", "--trust", "--device", "cuda", "--cases", self.bundle / about["folder"], limit=1800)
        self.path.with_suffix(".selftest.log").write_text(text, encoding="utf-8")
        self.result["selftest"] = {"status": status, "summary": last_line(text), "seconds": time.monotonic() - began,
                                   "failed": [line.strip() for line in text.splitlines() if line.startswith("FAIL")]}
        print(f"selftest: {last_line(text)} (exit status {status})", flush=True)
        if status:
            self.fail(f"selftest: exit status {status}: {last_line(text)}")

    def paced(self, measure):
        """A turn of as many steps as fit the time of a turn; the first tells how many."""
        count = None

        def turn():
            nonlocal count
            if count is None:
                count = max(3, min(1000, int(self.options.milliseconds / max(measure(3), 1e-3))))
            return measure(count)

        return turn

    def ours(self, case):
        """A process a turn, so that nothing of ours is on the device in the peers' turns. How many steps fit a turn is guessed."""
        executable = Executable(self.options, self.bundle / "hyx" / case["file"], limit=min(self.options.limit, max(self.left(), 1)))
        guess = 5 * case["floor"]["ms"] + 0.02
        count = 3 if self.manifest["quick"] else max(5, min(1000, int(self.options.milliseconds / guess)))
        return lambda: executable.bench(case["program"], count)["ms_per_step"]

    def ceilings(self, peers):
        """What the device reaches in this run: the floors are of the manifest's rates, not of these."""
        for name, request, amount in (("copy", {"op": "copy", "sizes": {"numbers": 2**30}}, 8 * 2**30),
                                      ("products_bf16", {"op": "matmul", "dtype": "bf16",
                                                         "sizes": {"batch": 1, "length": 8192, "inputs_": 8192, "outputs": 8192}}, 2 * 8192**3)):
            try:
                reply = peers.ask({"dtype": "f32", "backward": False, "milliseconds": 500, **request})
                self.result["ceilings"][name] = 1000 * amount / median(reply["ms"])
            except Failure as failure:
                self.fail(f"ceiling {name}: {last_line(failure)}")
        print("ceilings:", ", ".join(f"{name} {rate / 1e12:.2f} T/s" for name, rate in self.result["ceilings"].items()), flush=True)

    # Operations.

    def op(self, case, peers):
        sides, seen = {"ours": self.ours(case)}, {}

        def peer(form):
            def turn():
                reply = peers.ask({"op": case["op"], "form": form, "dtype": case["dtype"], "backward": case["gradient"], "sizes": case["sizes"],
                                   "milliseconds": self.options.milliseconds})
                stream, graph = median(reply["ms"]), median(reply["graph_ms"])
                about = seen.setdefault(form, {"stream": [], "graph": []})
                about["stream"].append(stream)
                if graph is not None:
                    about["graph"].append(graph)
                if "graph_failure" in reply:
                    about["graph_failure"] = reply["graph_failure"]
                return stream if graph is None else min(stream, graph)

            return turn

        sides |= {form: peer(form) for form in case["peers"] if peers}
        times, problems = take_turns(sides, self.options.rounds, lambda side: side())
        ms = median(times["ours"])
        row = {"case": case["name"], "op": case["op"], "dtype": case["dtype"], "program": case["program"], "backward": case["gradient"],
               "sizes": case["sizes"], "attention": case.get("attention"), "ms": ms, "floor_ms": case["floor"]["ms"], "floor_bound": case["floor"]["bound"],
               "times_floor": ms and ms / case["floor"]["ms"], "predicted_ms": self.predicted(case),
               "bytes_per_second": ms and case["floor"].get("memory", 0) / ms * 1000, "peers": {}}
        for form in list(sides)[1:]:
            about = seen.get(form, {"stream": [], "graph": []})
            row["peers"][form] = {"ms": median(about["stream"]), "graph_ms": median(about["graph"]), "ratio": median_ratio(times, form)}
            row["peers"][form] |= {"failure": problems[form]} if form in problems else {}
            row["peers"][form] |= {"graph_failure": about["graph_failure"]} if "graph_failure" in about else {}
        ratios = {form: entry["ratio"] for form, entry in row["peers"].items() if entry["ratio"]}
        best = min(ratios, key=ratios.get, default=None)
        row |= {"best_peer": best, "peer_best_ms": best and median(times[best]), "ratio_best": best and ratios[best]}
        if "ours" in problems:
            row["failure"] = problems["ours"]
        return row

    def ops(self, cases):
        options = self.options
        peers = PeerOps(options) if options.peers == "torch" else None
        try:
            if peers and not self.result["ceilings"]:
                self.ceilings(peers)
                self.save()
            for case in self.within_time(cases):
                yield case, self.op(case, peers)
        finally:
            if peers:
                peers.close()

    # Training steps.

    def peers_of(self, cases):
        """Starts the peers of several cases at a time, as compiling takes longer than measuring. {(case, mode): (process, problem)}"""
        if self.options.peers == "none":
            return {}
        wanted = [(case["name"], mode, case) for case in cases for mode in case["peers"]]
        limit = min(PEER_SETUP_SECONDS, max(self.left(), 1))
        with concurrent.futures.ThreadPoolExecutor(max(1, len(wanted))) as pool:
            started = [pool.submit(start_peer, self.options, case["model"], case["dtype"], case["batch"], case["length"], mode, limit,
                                   case["settings"].get("vocab", LANGUAGE_VOCABULARY)) for _, mode, case in wanted]
            return {(name, mode): job.result() for (name, mode, _), job in zip(wanted, started)}

    def step(self, case, started):
        sides, problems, processes = {"ours": self.ours(case)}, {}, {}
        for mode in case["peers"]:
            process, problem = started.get((case["name"], mode), (None, None))
            if process and process.about["parameters"] != case["parameters"]:
                problem = f"{process.about['parameters']} parameters and ours {case['parameters']}: not the same model"
            if problem:
                problems[mode] = problem
            elif process:
                processes[mode] = process
                sides[mode] = self.paced(process.steps)
        times, failed = take_turns(sides, self.options.rounds, lambda side: side())
        problems |= failed
        ms, tokens = median(times["ours"]), case["batch"] * case["length"]
        row = {"case": case["name"], "model": case["model"], "dtype": case["dtype"], "batch": case["batch"], "length": case["length"],
               "attention": case.get("attention"), "parameters": case["parameters"], "ms": ms, "tokens_per_second": ms and 1000 * tokens / ms, "floor_ms": case["floor"]["ms"],
               "floor_bound": case["floor"]["bound"], "times_floor": ms and ms / case["floor"]["ms"], "predicted_ms": self.predicted(case),
               "memory_bytes": case["memory_bytes"]}
        for mode in ("eager", "compile", "graph", "compile-graph"):
            key = mode.replace("-", "_")
            row |= {f"peer_{key}_ms": median(times.get(mode, [])), f"ratio_{key}": median_ratio(times, mode) if mode in times else None}
            if mode in problems:
                row[f"{key}_failure"] = problems[mode]
            if mode in processes:
                row[f"peer_{key}_bytes"] = processes[mode].peak_bytes
                row[f"peer_{key}_setup_seconds"] = processes[mode].about["warm_up_seconds"]
        if "ours" in problems:
            row["failure"] = problems["ours"]
        return row

    def steps(self, cases):
        cases = iter(cases)
        while group := list(itertools.islice(cases, self.options.parallel)):
            if not any(True for _ in self.within_time(group[:1])):
                self.result["left_out"] += [case["name"] for case in group[1:]]
                continue
            started = self.peers_of(group)
            try:
                for case in self.within_time(group):
                    yield case, self.step(case, started)
            finally:
                for process, _ in started.values():
                    if process:
                        process.close()

    def within_time(self, cases):
        for case in cases:
            if self.left() < 1:
                self.result["left_out"].append(case["name"])
            else:
                yield case

    def suite(self, name):
        cases, rows = [], self.result[TABLES[name]]
        done = {row["case"] for row in rows}
        for case in self.manifest["cases"]:
            if case["suite"] != name or not self.options.takes(case) or case["name"] in done:
                continue
            if "problem" in case:
                self.fail(f"{case['name']}: not compiled: {case['problem']}")
            else:
                cases.append(case)
        measure = self.ops if name == "ops" else self.steps
        for index, (case, row) in enumerate(measure(cases)):
            if "failure" in row and self.left() < 1:  # it was the limit that ended it
                self.result["left_out"].append(case["name"])
                continue
            rows.append(row)
            if "failure" in row:
                self.fail(f"{case['name']}: {row['failure']}")
            print(f"[{index + 1}/{len(cases)}] {case['name']}: {gpu_report.line(row)}", flush=True)
            self.save()


def run(options):
    with opened(options.bundle) as bundle:
        manifest = json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))
        fits(manifest)
        options.out.mkdir(parents=True, exist_ok=True)
        options.bin, options.device, options.cpu_time = bundle / "bin", "cuda", False
        options.environment = gpu_machine.environment(bundle, options.python)
        check = Run(options, bundle, manifest)
        check.doctor()
        check.save()
        for name in options.only:
            began = time.monotonic()
            if check.left() < 1:
                check.result["left_out"].append(name)
                continue
            if name == "selftest":
                check.selftest()
            else:
                check.suite(name)
            check.save()
            print(f"{name}: {(time.monotonic() - began) / 60:.1f} minutes", flush=True)
        check.save()
        result = check.result
        print(check.path.with_suffix(".md").read_text(encoding="utf-8") if options.print else f"written to {check.path}")
        print(f"gpu-check: {len(result['mad_step']) + len(result['op']) + len(result['lm_step'])} rows, {len(result['failures'])} failures, "
              f"{len(result['left_out'])} left out for time")
        return 1 if result["failures"] else 0
