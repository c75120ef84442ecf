"""Compiles what a check of a GPU needs into a folder that needs neither compiler nor LLVM there.

    manifest.json   the cases (gpu_cases.py), what could not be compiled and why, commit and target
    bin/, lib/      hybrid-run and the shared libraries it links, but for the C library
    hyx/            the executables of the benchmarks
    selftest/       cases for `hybrid-run selftest`: golden ones, and those of the installation that compare two ways to compute them
    tools/, benchmarks/  this script and its peers, so that the folder is all that must travel
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

from . import floors, gpu_cases
from .processes import ROOT, Failure, last_line

# Those of the C and C++ compilers, too: ours would ask for this machine's C library, the ones of any system with what
# `needed_versions` finds are new enough.
SYSTEM_LIBRARIES = re.compile(r"(linux-vdso|ld-linux.*|lib(c|m|dl|rt|pthread|resolv|util|stdc\+\+|gcc_s))\.so")
MOST_BYTES = 64 * 2**20


def call(command, limit):
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=limit)
    except subprocess.TimeoutExpired:
        raise Failure(f"{pathlib.Path(command[0]).name}: over {limit} s") from None
    except OSError as error:
        raise Failure(f"{command[0]}: {error}") from None
    if done.returncode != 0:
        lines = (done.stderr + done.stdout).strip().splitlines()
        line = next((line for line in lines if "error:" in line), lines[-1] if lines else f"exit status {done.returncode}")
        raise Failure(line.replace(f"{ROOT}/", ""))
    return done.stdout


def version(text):
    return tuple(int(number) for number in text.split("."))


def needed_versions(folder):
    """The newest versions of system libraries' interfaces that the programs and libraries here ask for: {"GLIBC": "2.34", ...}."""
    newest = {}
    for path in sorted([*(folder / "bin").iterdir(), *(folder / "lib").iterdir()]):
        for line in call(["objdump", "-T", path], 60).splitlines():
            found = re.search(r"\*UND\*.*\b(GLIBC|GLIBCXX|CXXABI|GCC)_([0-9.]+)\b", line)
            if found and version(found[2]) > version(newest.get(found[1], "0")):
                newest[found[1]] = found[2]
    return newest


def copy_tools(options, folder):
    """hybrid-run and what it links, and the scripts."""
    run = options.bin / "hybrid-run"
    for name in ("bin", "lib", "hyx"):
        (folder / name).mkdir(parents=True)
    shutil.copy2(run, folder / "bin")
    for name, path in re.findall(r"^\s*(\S+) => (/\S+)", call(["ldd", run], 60), re.M):
        if not SYSTEM_LIBRARIES.match(name):
            shutil.copy2(os.path.realpath(path), folder / "lib" / name)
    (folder / "tools").mkdir()
    shutil.copy2(ROOT / "tools" / "gpu-check", folder / "tools")
    for part in ("suite", "peer"):
        shutil.copytree(ROOT / "benchmarks" / part, folder / "benchmarks" / part, ignore=shutil.ignore_patterns("__pycache__"))


def compiler_arguments(case):
    words = [ROOT / case["source"], "--batch", case["batch"], "--length", case["length"], f"--precision={case['dtype']}"]
    for name, value in case["settings"].items():
        words += ["--set", f"{name}={value}"]
    return words


def compile_file(options, folder, case):
    """What every case of this executable gets: nothing, or what was found out while compiling it."""
    words, path = compiler_arguments(case), folder / "hyx" / case["file"]
    attention = [f"--attention={case['attention']}"] if "attention" in case else []
    call([options.bin / "hybridc", *words, *attention, f"--target={options.target}", "-o", path], options.limit)
    found = {"executable_bytes": path.stat().st_size}
    if case["program"] == "train":
        cost = json.loads(call([options.bin / "hybridc", *words, "--cost=json"], options.limit))
        found |= {"floor": floors.training_step(case["dtype"], cost), "parameters": cost["trainable_parameters"],
                  "memory_bytes": cost["memory"]["total_bytes"]}
    return found


def compile_cases(options, folder, cases):
    files = {}
    for case in cases:
        files.setdefault(case["file"], case)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = {name: pool.submit(compile_file, options, folder, case) for name, case in files.items()}
        for index, (name, job) in enumerate(jobs.items()):
            try:
                files[name] = job.result()
                print(f"[{index + 1}/{len(jobs)}] {name}: {files[name]['executable_bytes'] / 1024:.0f} KiB", flush=True)
            except (Failure, KeyError, ValueError) as failure:
                files[name] = {"problem": last_line(failure)}
                print(f"[{index + 1}/{len(jobs)}] {name}: not compiled: {last_line(failure)}", flush=True)
    for case in cases:
        case |= files[case["file"]]


def golden_cases(options, folder, names):
    """Of an independent implementation, into a new folder: a line about all, and the lines about those that could not be prepared."""
    words = [sys.executable, ROOT / "test" / "golden" / "run", "--prepare", folder, "--target", options.target, "--bin", options.bin,
             "--jobs", options.jobs, "--precision", "f32,f64,bf16"]
    for name in names:
        words += ["--case", name]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return last_line(done.stdout or done.stderr), [line.strip().replace(f"{ROOT}/", "") for line in done.stdout.splitlines() if line.startswith("FAIL")]


def case_beside(options, folder, path):
    """A case of the installation that is compared with another way to compute it: both compiled, as there is no compiler where they run."""
    case = json.loads((path / "case.json").read_text(encoding="utf-8"))
    model, reference, to = case.pop("model"), case["reference"], folder / path.name
    to.mkdir(parents=True)
    words = [options.bin / "hybridc", ROOT / "test" / "golden" / "adapters" / pathlib.Path(model["file"]).name, f"--target={options.target}",
             "--batch", model["batch"], "--length", model["length"], *(word for value in model["set"] for word in ("--set", value))]

    def compile_to(name, flags):
        call([*words, *(f"--{flag}={value}" for flag, value in flags.items()), "-o", to / name], options.limit)

    usual = {"precision": model["precision"]}
    compile_to("model.hyx", usual | ({"transforms": "own"} if "transforms" in reference else {}))
    compile_to("reference.hyx", usual | reference)
    case["executable"], reference["executable"] = "model.hyx", "reference.hyx"
    (to / "case.json").write_text(json.dumps(case, indent=1) + "\n", encoding="utf-8")


def selftest(options, folder):
    """Cases for `hybrid-run selftest`; those that could not be prepared are named."""
    beside = {path.parent.name: path.parent for path in sorted((ROOT / "laboratory" / "selftest").glob("*_beside_*/case.json"))}
    to, names, summary, problems = folder / "selftest", [name for name in options.golden if name not in beside], "no golden case", []
    if names or not options.golden:
        summary, problems = golden_cases(options, to, names)
    chosen = [name for name in beside if not options.golden or name in options.golden]
    for name in chosen:
        try:
            case_beside(options, to, beside[name])
        except Failure as failure:
            problems.append(f"FAIL {name}: {last_line(failure)}")
    if chosen:
        summary += f"; {len(chosen)} beside another way to compute them"
    print(summary, flush=True)
    return {"folder": "selftest", "summary": summary, "problems": problems} if to.is_dir() else {"problem": summary}


def prepare(options):
    folder = options.out.resolve()
    if folder.exists() and any(folder.iterdir()):
        if not (folder / "manifest.json").exists():
            raise Failure(f"{folder} is not empty, and not of an earlier run of this script: choose another folder")
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    copy_tools(options, folder)
    cases = [case for case in gpu_cases.every_case(options.quick) if options.takes(case)]
    if options.predicted:
        expected = {case["name"]: case["predicted"] for case in json.loads(options.predicted.read_text(encoding="utf-8"))["cases"]}
        for case in cases:
            case["predicted"] = {device: at["ms"] for device, at in expected.get(case["name"], {}).items()}
    compile_cases(options, folder, cases)
    toolkit = None if "shim" in options.target else json.loads(call([options.bin / "hybridc", "--toolkit"], 60))
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()
    manifest = {"needs": needed_versions(folder), "target": options.target, "quick": options.quick, "commit": commit,
                "toolkit": toolkit,
                "compiler": call([options.bin / "hybridc", "--version"], 60).splitlines()[0], "floor_device": floors.DEVICE,
                "rates_per_second": floors.RATES, "selftest": selftest(options, folder) if "selftest" in options.only else {}, "cases": cases}
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    problems = sum("problem" in case for case in cases)
    print("needs " + ", ".join(f"{name} {number}" for name, number in manifest["needs"].items()) + " of the system it runs on")
    print(f"{folder}: {len(cases) - problems} of {len(cases)} cases compiled, {size / 2**20:.1f} MiB")
    if options.archive:
        with tarfile.open(options.archive, "w:xz") as archive:
            archive.add(folder, arcname="gpu-check")
        size = options.archive.stat().st_size
        print(f"{options.archive}: {size / 2**20:.1f} MiB")
    if size > MOST_BYTES:
        print(f"more than {MOST_BYTES / 2**20:.0f} MiB: pack it with --archive, or prepare less with --only and --case")
    return 0 if problems < len(cases) or not cases else 1
