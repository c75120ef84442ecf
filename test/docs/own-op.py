#!/usr/bin/env python3
"""Checks the book's page "Add an op": its example is new files only, and the page shows them as they are.

usage: own-op.py             the page and the files
       own-op.py BUILD       also: a copy of this tree, with the example in it, is built and tested on CPU and CUDA

A block ```LANGUAGE PATH of docs/book/own-op.md shows lines of the example's file PATH, in their order; "..." on a line of its own stands
for lines left out. The copy is BUILD/own-op, and kept: the next time only what has changed is compiled. BUILD is this tree's build
folder: hybrid-run is taken from there, because a new op is nothing to it.
"""

import argparse
import filecmp
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/book/own-op.md"
EXAMPLE = ROOT / "docs/examples/exponential-moving-average"
OP = "ExponentialMovingAverage"
MNEMONIC = "exponential_moving_average"
BLOCK = re.compile(r"^```\w+ (?P<path>\S+/\S+)\n(?P<code>.*?)^```", re.MULTILINE | re.DOTALL)
PRODUCTION = {f"dialect/ops/{OP}.td", f"dialect/ops/{OP}.cpp", f"codegen/kernels/{OP}.h", f"codegen/lowering/{OP}.cpp",
              f"codegen/kernels/cpu/{OP}.cpp", f"codegen/kernels/cuda/{OP}.cuh"}
TARGETS = ["hybridc", "hybrid-opt", "GradientTests", "StateTests", "docs"]
KERNEL_TESTS = ["HybridKernelTests", "HybridCudaShimTests"]
RUNTIME = "bin/hybrid-run"
GENERATED_PAGES = ["ops.md", "operators.md"]


def example_files():
    return sorted(path.relative_to(EXAMPLE) for path in EXAMPLE.rglob("*") if path.is_file())


def shows(code, text):
    """The first piece of the block that the file does not have behind those before it; none if it has all."""
    at = 0
    for piece in re.split(r"^\.\.\.\n", code, flags=re.MULTILINE):
        found = text.find(piece, at)
        if found < 0 or (found > 0 and text[found - 1] != "\n"):
            return piece
        at = found + len(piece)
    return None


def check_page(text):
    """Complaints about the page and the example's files."""
    complaints = []
    files = set(map(str, example_files()))
    complaints += [f"{EXAMPLE / name} is missing: an op has it" for name in sorted(PRODUCTION - files)]
    for name in sorted(files):
        if (ROOT / name).exists():
            complaints.append(f"{name} is a file of the tree: the example may only add files")
        if not name.startswith("test/") and name not in PRODUCTION:
            complaints.append(f"{name} is no file of an op")
        if name not in text:
            complaints.append(f"{PAGE.name} does not speak of {name}")
    shown = set()
    for block in BLOCK.finditer(text):
        shown.add(block["path"])
        if block["path"] not in files:
            complaints.append(f"{PAGE.name} shows {block['path']}, which the example does not have")
        elif (piece := shows(block["code"], (EXAMPLE / block["path"]).read_text(encoding="utf-8"))) is not None:
            complaints.append(f"{PAGE.name}: {block['path']} does not have these lines there:\n{piece}")
    complaints += [f"{PAGE.name} does not show {name}" for name in sorted(PRODUCTION - shown)]
    return complaints


def tree_files():
    """What git tracks or would, and is there."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True,
                            text=True, check=True).stdout.split("\0")
    return {pathlib.Path(name) for name in listed if name and (ROOT / name).is_file()}


def copy_tree(tree):
    """The tree with the example in it; what is the same already keeps its time, so that it isn't compiled again."""
    sources = {name: ROOT / name for name in tree_files()}
    sources |= {name: EXAMPLE / name for name in example_files()}
    for name, source in sources.items():
        target = tree / name
        if target.is_symlink() or target.exists():
            if filecmp.cmp(source, target, shallow=False):
                continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    for path in sorted(tree.rglob("*")):
        name = path.relative_to(tree)
        if path.is_file() and name.parts[0] not in (".git", "build") and name not in sources:
            path.unlink()
    # test/structure asks git what belongs to the tree.
    if not (tree / ".git").exists():
        subprocess.run(["git", "init", "--quiet"], cwd=tree, check=True)
    subprocess.run(["git", "add", "--all"], cwd=tree, check=True)


class Steps:
    def __init__(self, tree):
        self.tree, self.build, self.failed = tree, tree / "build", []

    def run(self, name, *command, expect="", **environment):
        """Whether the command ended with 0, having printed what is expected."""
        done = subprocess.run(list(map(str, command)), cwd=self.tree, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        good = done.returncode == 0 and expect in done.stdout
        print(f"{'ok  ' if good else 'FAIL'} {name}", flush=True)
        if not good:
            print(f"$ {' '.join(map(str, command))}\n{done.stdout[-6000:]}", flush=True)
            self.failed.append(name)
        return good

    def must(self, *arguments, **keywords):
        if not self.run(*arguments, **keywords):
            sys.exit(1)


def build_example(folder, jobs):
    """The steps so far, of a copy of the tree in which the tools are built."""
    if not (folder / RUNTIME).exists():
        sys.exit(f"own-op: {folder / RUNTIME} must be built first")
    tree = folder / "own-op"
    tree.mkdir(exist_ok=True)
    copy_tree(tree)
    steps = Steps(tree)
    build = steps.build
    # A release, but not optimised: what takes long is to compile the compiler.
    steps.must("configure", "cmake", "-S", tree, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O0 -DNDEBUG",
               f"-DHYBRID_KERNEL_TESTS={tree}/test/kernels/{OP}Test.cpp", "-DCMAKE_C_COMPILER=clang-22", "-DCMAKE_CXX_COMPILER=clang++-22",
               "--log-level=WARNING")
    steps.must("build", "ninja", "-C", build, "-j", jobs, *TARGETS, *KERNEL_TESTS)
    if not (build / RUNTIME).is_symlink():
        (build / RUNTIME).symlink_to(folder / RUNTIME)
    return steps


def test_example(steps):
    """Names of what failed."""
    tree, build, tests = steps.tree, steps.build, steps.tree / "test"
    for page in GENERATED_PAGES:
        steps.run(f"docs/dialect/{page} has the op", "grep", "-q", MNEMONIC, tree / "docs/dialect" / page)

    python, binaries, shim = sys.executable, build / "bin", build / "lib/libhybrid-cuda-shim.so"
    cuda = dict(HYBRID_TEST_TARGET="cuda:shim", HYBRID_CUDA_DRIVER=str(shim), HYBRID_CUBLASLT=str(shim), HYBRID_CUDNN=str(shim), HYBRID_CUFFT=str(shim))
    steps.run("hybridc --help-op", binaries / "hybridc", "--help-op", MNEMONIC, expect="initial_state")
    steps.run("structure: ops", python, tests / "structure/op-story.py", "--op", OP)
    steps.run("structure: includes", python, tests / "structure/check-includes.py", tree)
    lit = [path for path in example_files() if path.suffix in (".mlir", ".hyb", ".test") and path.parts[1] in ("dialect", "models", "passes")]
    tools = subprocess.run(["llvm-config-22", "--bindir"], capture_output=True, text=True, check=True).stdout.strip()
    steps.run("lit", pathlib.Path(tools) / "lit", "-v",
              *(build / path for path in lit), build / "test/dialect/constraints.test", build / "test/dialect/examples.test")
    for target, device in zip(KERNEL_TESTS, ("cpu", "cuda:shim")):
        steps.run(f"kernels on {device}", binaries / target, f"--gtest_filter={OP}*", expect="[  PASSED  ]")
    for device, environment in ("cpu", {}), ("cuda:shim", cuda):
        steps.run(f"gradients on {device}", binaries / "GradientTests", f"--gtest_filter=*.{MNEMONIC}", expect="[  PASSED  ] 1 test", **environment)
        steps.run(f"states on {device}", binaries / "StateTests", f"--gtest_filter=*.{MNEMONIC}", expect="[  PASSED  ] 1 test", **environment)
        steps.run(f"golden cases on {device}", python, tests / "golden/variants.py", "--bin", binaries, "--op", MNEMONIC, "--target", device,
                  expect=", 0 failed, 0 not supported", **environment)
    if "HYBRID_NVCC:FILEPATH=/" in (build / "CMakeCache.txt").read_text(encoding="utf-8"):
        steps.run("variants of the CUDA kernels", python, tests / "cuda/check-variants.py", binaries / "hybridc", tree, tests / "cuda/variants",
                  "--header", OP)
        steps.run("gradients on the PTX machine", binaries / "GradientTests", f"--gtest_filter=*.{MNEMONIC}", expect="[  PASSED  ] 1 test",
                  **{**cuda, "HYBRID_TEST_TARGET": "cuda:compute_90", "HYBRID_SHIM_DEVICE": "9.0"})
    return steps.failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build", nargs="?", type=pathlib.Path, help="where the copy is built and tested")
    parser.add_argument("--jobs", default=str(os.cpu_count()), help="compile so many files at a time")
    options = parser.parse_args()
    complaints = check_page(PAGE.read_text(encoding="utf-8"))
    for complaint in complaints:
        print(f"error: {complaint}")
    print(f"{len(example_files())} files, {len(complaints)} complaints")
    if complaints:
        return 1
    return 1 if options.build and test_example(build_example(options.build.resolve(), options.jobs)) else 0


if __name__ == "__main__":
    sys.exit(main())
