#!/usr/bin/env python3
"""Compiles one of every variant of every kernel of the library that a model of this tree launches.

The CUDA C++ of all models below is collected: gradient cases in f32, MAD's architectures and, where the references are,
the golden cases in each precision, which alone have f64. A use of a kernel is a variant by its template, element types,
the way it stores, and those constants that choose code: flags, which are 0 or 1 in all uses, and enumerators. Sizes do not make a variant. The first use of each is compiled for every architecture, and what
it takes of a multiprocessor is compared with a table; `--update` writes that anew. The table of the kernels in
codegen/kernels/cuda/X.cuh is FOLDER/X.json. Shared memory, and what the sizes that people train take, is the matter
of check-budgets.py.

It is a complaint when a variant does not compile, takes more registers or stack than the table allows (allowance.py),
spills more than the list of check-budgets.py has of it, or has accesses that do not say which memory they go to, and when a template of codegen/kernels/cuda is in no
use.

With --architecture only that one is compiled for and compared.

With --header X only the kernels of X.cuh are checked, as the gradient cases of its op launch them: for a new op, which
no model uses yet.

usage: check-variants.py HYBRIDC ROOT FOLDER [--cases DIR] [--header X] [--architecture A] [--list | --update]
"""

import argparse
import collections
import concurrent.futures
import ctypes
import functools
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from allowance import exceeds

ARCHITECTURES = ["sm_80", "sm_90a"]
TARGET = "cuda:" + ",".join(ARCHITECTURES)
# What KIND stands for in a gradient case; kinds are all alike to kernels of the library.
KINDS = {"binary": "add", "unary": "exp", "reduce": "sum"}
# What neither of the others has: chains of products, which need more shared memory than all GPUs have; work divided over
# time or keys, tensors prepared for cuDNN, heads that several blocks share, spectra by cuFFT, tokens one by one, layer norms
# behind products.
CHAINED = "--batch=128 --length=128 --precision=bf16 --target=cuda:sm_90a"
LONG = [
    ("models/mad/attention-swiglu.hyb", CHAINED),
    ("models/mad/attention-mlp.hyb", CHAINED),
    ("models/mad/rwkv.hyb", CHAINED),
    ("models/hyena/recall.hyb", CHAINED),
    ("models/mad/mamba.hyb", "--batch=1 --length=4096"),
    ("models/mad/rwkv.hyb", "--batch=1 --length=4096"),
    ("models/mad/attention-swiglu.hyb", "--batch=2 --length=256 --decode"),
    ("models/mad/gated-linear-attention-swiglu.hyb", "--batch=1 --length=4096"),
    ("benchmarks/ops/gated_convolution.hyb", "--batch=4 --length=16384 --set taps=16384 --set channels=64"),
    ("benchmarks/ops/attention.hyb", "--batch=1 --length=2048 --set heads=1 --set width=64"),
    ("test/models/Inputs/cudnn-attention.hyb",
     "--batch=8 --length=2048 --precision=bf16 --set heads=16 --set kv_heads=4 --set rotary=64 --set keys=2048"),
    ("test/models/Inputs/cudnn-attention.hyb",
     "--batch=1 --length=64 --set heads=1 --set kv_heads=1 --set size=48 --set rotary=48 --set keys=64 --precision=f64"),
    ("test/models/Inputs/cufft-transforms.hyb", "--model=spectra --set points=2048 --set channels=8"),
    ("test/models/Inputs/cufft-transforms.hyb", "--model=spectra --set points=2048 --set channels=8 --precision=f64"),
]
PART = re.compile(r"\n(?=// )")
TEMPLATE = re.compile(r"template <typename T, (\w+) \w+(?:,\s*typename \w+(?: = \w+)?)*>\s*HYBRID_DEVICE void\s+(\w+)\(\s*int64_t(?: item| index)?[,)]")
LAUNCH = re.compile(r"(?s)HYBRID_KERNEL\((\w+), (.*?),\n\s*(.*?)\(item(.*)\);\)\n")
NAME = re.compile(r"\b(?:struct|void) (\w+_\d+)\b")
FIELD = re.compile(r"\.(\w+) = ([\w:.+-]+)")
# What the assembler says of a kernel: its properties, and later its registers and the stack with all that it calls.
ENTRY = re.compile(r"Compiling entry function 'variant(\d+)_")
SPILLS = re.compile(r"Function properties for variant(\d+)_\w+\n.*?(\d+) bytes spill stores, (\d+) bytes spill loads")
# In PTX: where a kernel begins, and its loads and stores by generic addresses.
BODY = re.compile(r"\.entry variant(\d+)_")
GENERIC = re.compile(r"(?m)^\s*(?:@\S+\s+)?(?:ld|ldu|st|atom|red)\.(?!\S*\b(?:global|shared|local|param|const)\b)")
ROWS = re.compile(r"\b(\w+)Rows<(.*?\})>\(")
USED = re.compile(r"Used (\d+) registers(?:.*?(\d+) bytes cumulative stack size)?")


def templates(root):
    """The kernels of the library, functions of a work item, and the stem of the header that each is in."""
    return {match[2]: header.stem for header in sorted((root / "codegen/kernels/cuda").glob("*.cuh"))
            for match in TEMPLATE.finditer(header.read_text())}


def golden_uses(root, cases):
    """Arguments for the golden cases, in each precision."""
    path = root / "test/golden/run"
    loader = importlib.machinery.SourceFileLoader("golden_run", str(path))
    golden = importlib.util.module_from_spec(importlib.util.spec_from_loader("golden_run", loader))
    loader.exec_module(golden)
    for meta in sorted(meta for folder in cases for meta in folder.glob("*/meta.json")):
        case = golden.Case(meta.parent)
        try:
            arguments = golden.model_arguments(case, case.adapter())
        except golden.Unsupported:
            continue
        for precision in ("f32", "bf16", "f64"):
            yield arguments + [f"--precision={precision}"]


def gradient_uses(root, folder, header):
    """Arguments for the gradient cases, which are written to `folder`, a file each; those of a header's op alone, where it has some."""
    paths = sorted((root / "test/gradients/cases").glob("*.mlir"))
    own = [path for path in paths if header and path.stem.replace("_", "") == header.lower()]
    for path in own or paths:
        for i, case in enumerate(path.read_text().split("// -----\n")):
            written = folder / f"{path.stem}-{i}.mlir"
            written.write_text(case.replace("KIND", KINDS.get(path.stem, "KIND")))
            yield [written]


def uses(root, cases, folder):
    """Arguments of hybridc for all models."""
    for model in sorted((root / "models/mad").glob("*.hyb")):
        for precision in ("bf16", "f32"):
            yield [model, "--batch=128", "--length=128", f"--precision={precision}"]
    yield from gradient_uses(root, folder, None)
    for model, arguments in LONG:
        yield [root / model, *arguments.split()]
    if cases:
        yield from golden_uses(root, cases)


def source_of(hybridc, arguments):
    target = [] if any(str(argument).startswith("--target=") for argument in arguments) else [f"--target={TARGET}"]
    command = [hybridc, *map(str, arguments), *target, "--emit=cuda"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    return done.stdout


class Launch:
    """A use of a kernel of the library: its text, and those of what it calls: its store, the functions of a score."""

    def __init__(self, symbol, shape, call, operands, generated):
        self.name, _, arguments = call.partition("<")
        self.shape, self.call, self.operands = shape, call, operands
        self.called = {name: generated[name] for name in re.findall(r"\b\w+_\d+\b", call + operands) if name in generated}
        self.store = any(name.startswith("store_") for name in self.called)
        self.fields = dict(FIELD.findall(arguments))
        self.rows = ROWS.search(operands)  # a function of rows that its store computes
        # Types and the parameters' kind, without the values: "float, RmsNormParams".
        self.types = re.sub(r"\{.*\}|(?<=function)_\d+", "", arguments.rstrip(">"))

    def key(self, flags):
        chosen = frozenset((name, value) for name, value in self.fields.items() if (self.name, name) in flags)
        stores = "fused" if self.store else "plain"
        if self.rows:
            norm, arguments = self.rows.groups()
            stores += " ".join([f" rows of {norm}", *(f"{name}={value}" for name, value in sorted(FIELD.findall(arguments)) if (norm, name) in flags)])
        if rounded := re.findall(r"RoundedBuffer\{[^b]*b(\d+)", self.operands):  # activations in bf16
            stores += " rounded " + ",".join(rounded)
        return self.name, self.types, stores, chosen

    def text(self, number):
        """The kernel, under names of its own."""
        own = lambda text: re.sub("|".join(rf"\b{name}\b" for name in self.called), lambda name: f"{name[0]}_{number}", text) if self.called else text
        before = "".join(own(text) for text in self.called.values())
        return f"{before}HYBRID_KERNEL(variant{number}_{self.name}, {self.shape},\n  {own(self.call)}(item{own(self.operands)});)\n"


def launches_of(source, library):
    generated, found = {}, []
    for part in PART.split(source):
        part = part.partition("\n")[2]  # the comment
        if match := NAME.match(part.replace("HYBRID_DEVICE ", "")):
            generated[match[1]] = part
        elif (match := LAUNCH.match(part)) and match[3].partition("<")[0] in library:
            found.append(Launch(*match.groups(), generated))
    return found


def flags_of(launches):
    """(kernel, field) for the fields that choose code; a field that is 0 is not written."""
    values = collections.defaultdict(set)
    for launch in launches:
        for name, value in launch.fields.items():
            values[launch.name, name].add(value)
    return {field for field, seen in values.items() if seen == {"1"} or any("::" in value for value in seen)}


def nvrtc():
    """The library, found as hybridc finds it."""
    if chosen := os.environ.get("HYBRID_NVRTC"):
        return ctypes.CDLL(chosen)
    nvcc = shutil.which("nvcc")
    homes = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT")]
    homes.append(str(pathlib.Path(nvcc).resolve().parent.parent) if nvcc else None)
    for folder in ["", *(home + "/lib64/" for home in homes if home), *(home + "/lib/" for home in homes if home)]:
        for name in ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"):
            try:
                return ctypes.CDLL(folder + name)
            except OSError:
                continue
    sys.exit("NVRTC was not found: put the toolkit's nvcc on the PATH, or set CUDA_HOME")


@functools.cache
def headers_of(root):
    """Name in an include -> text of the kernels' headers, given as hybridc gives them."""
    cstdint = re.search(r'R"\((.*?)\)"', (root / "codegen/cuda/KernelHeaders.cpp.in").read_text(), re.S)[1]
    patterns = ("executable/*.h", "codegen/kernels/*.h", "codegen/kernels/cuda/*.h", "codegen/kernels/cuda/*.cuh")
    found = {str(path.relative_to(root)): path.read_text() for pattern in patterns for path in sorted(root.glob(pattern))}
    return {"cstdint": cstdint, **found}


def compile_text(library, headers, text, architecture):
    """What the compiler says, the PTX, and whether it compiled."""
    program = ctypes.c_void_p()
    strings = lambda texts: (ctypes.c_char_p * len(headers))(*(text.encode() for text in texts))
    options = [f"--gpu-architecture={architecture}", "--std=c++20", "--device-as-default-execution-space", "--ptxas-options=-v"]
    if library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"variants.cu", len(headers), strings(headers.values()), strings(headers)):
        sys.exit("NVRTC cannot start")
    status = library.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*(o.encode() for o in options)))
    texts = []
    for size_of, get in ((library.nvrtcGetProgramLogSize, library.nvrtcGetProgramLog), (library.nvrtcGetPTXSize, library.nvrtcGetPTX)):
        size = ctypes.c_size_t()
        size_of(program, ctypes.byref(size))
        text = ctypes.create_string_buffer(max(size.value, 1))
        get(program, text)
        texts.append(text.value.decode())
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return *texts, status == 0


def generic_accesses(ptx):
    """Number of a variant -> how many."""
    parts = BODY.split(ptx)
    return {int(number): len(GENERIC.findall(body)) for number, body in zip(parts[1::2], parts[2::2])}


def resources_of(log):
    """Number of a variant -> registers, stack and spilled bytes."""
    found, number = {}, None
    spilled = {int(match[1]): int(match[2]) + int(match[3]) for match in SPILLS.finditer(log)}
    for line in log.splitlines():
        if match := ENTRY.search(line):
            number = int(match[1])
        elif (match := USED.search(line)) and number is not None:
            found[number] = {"registers": int(match[1]), "stack_bytes": int(match[2] or 0)}, spilled[number]
            number = None
    return found


def measure(root, variants, architectures):
    """Architecture -> name of a variant -> what it takes; the kernels that spill; and complaints."""
    headers = sorted(path.relative_to(root) for path in (root / "codegen/kernels/cuda").glob("*.cuh"))
    prefix = "".join(f'#include "{header}"\n' for header in headers) + "using namespace hybrid;\nusing namespace hybrid::cuda;\n"
    names, parts = [], collections.defaultdict(str)  # a family of kernels at a time, which bounds memory
    for number, (key, launch) in enumerate(variants.items()):
        names.append(name_of(key))
        parts[key[0]] += launch.text(number)
    compiler, texts, table, complaints, spilling = nvrtc(), headers_of(root), {}, [], set()
    spills = {entry["kernel"]: entry["most"] for entry in listed_spills(root)}
    for architecture in architectures:
        taken = {}
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            outcomes = list(pool.map(lambda text: compile_text(compiler, texts, prefix + text, architecture), parts.values()))
        for log, ptx, compiled in outcomes:
            if not compiled:
                complaints.append(f"{architecture}: {log}")
                continue
            for number, (takes, spilled) in resources_of(log).items():
                taken[names[number]] = takes
                if spilled:
                    spilling.add(kernel_of(names[number]))
                if spilled > spills.get(kernel_of(names[number]), 0):
                    complaints.append(f"{architecture}: {names[number]} spills {spilled} bytes")
            complaints += [f"{architecture}: {names[number]} has {count} generic accesses"
                           for number, count in generic_accesses(ptx).items() if count]
        if not complaints:
            complaints += [f"{architecture}: the compiler says nothing of {name}" for name in names if name not in taken]
        table[architecture] = dict(sorted(taken.items()))
    return table, spilling, complaints


def listed_spills(root):
    """What check-budgets.py has of kernels that may spill."""
    return json.loads((root / "test/cuda/budgets.json").read_text())["spills"]


def compare(measured, allowed, whole):
    """Complaints; `whole`: all that launches the kernels was there, so that the rows of the table are those of the variants."""
    complaints = []
    for architecture, taken in measured.items():
        rows = allowed.get(architecture, {})
        for name, takes in taken.items():
            if name in rows:
                complaints += [f"{architecture}: {name} takes {takes[field]} {field}, the table allows {rows[name][field]}"
                               for field in takes if exceeds(field, takes[field], rows[name][field])]
        if whole:
            complaints += [f"{architecture}: {name} is not in the table" for name in taken if name not in rows]
            complaints += [f"{architecture}: {name} is in the table, but no model here launches it" for name in rows if name not in taken]
    return complaints


def kernel_of(name):
    return name.partition("<")[0]


def read_tables(folder, header):
    """Architecture -> name of a variant -> what it may take."""
    table = collections.defaultdict(dict)
    for path in sorted(folder.glob(f"{header or '*'}.json")):
        for architecture, rows in json.loads(path.read_text()).items():
            table[architecture].update(rows)
    return table


def write_tables(folder, table, library, whole):
    """A file for each header; those of headers that are gone go, too, if the table is of all headers."""
    files = collections.defaultdict(lambda: {architecture: {} for architecture in table})
    for architecture, rows in table.items():
        for name, takes in rows.items():
            files[library[kernel_of(name)]][architecture][name] = takes
    folder.mkdir(exist_ok=True)
    for path in folder.glob("*.json"):
        if whole and path.stem not in files:
            path.unlink()
    for stem, part in files.items():
        (folder / f"{stem}.json").write_text(text_of(part))


def text_of(table):
    """JSON with a line a variant."""
    parts = [f' "{architecture}": {{\n' + ",\n".join(f"  {json.dumps(name)}: {json.dumps(takes)}" for name, takes in rows.items()) + "\n }"
             for architecture, rows in table.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def name_of(key):
    name, types, stores, chosen = key
    return " ".join([f"{name}<{types}>", stores, *sorted(f"{field}={value}" for field, value in chosen)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("hybridc")
    parser.add_argument("root", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("tables", type=pathlib.Path, help="folder of what each variant may take, a file for each header")
    parser.add_argument("--cases", type=pathlib.Path, action="append", help="a folder of golden cases (may be repeated)")
    parser.add_argument("--architecture", choices=ARCHITECTURES, help="compile for this one only")
    parser.add_argument("--header", help="only kernels of this header, in gradient cases")
    parser.add_argument("--list", action="store_true", help="print the variants, compile nothing")
    parser.add_argument("--update", action="store_true", help="write the tables anew")
    options = parser.parse_args()
    library = templates(options.root)
    if options.header:
        library = {name: header for name, header in library.items() if header == options.header}
    sys.dont_write_bytecode = True
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        commands = list(gradient_uses(options.root, pathlib.Path(folder), options.header) if options.header else
                        uses(options.root, options.cases, pathlib.Path(folder)))
        sources = list(pool.map(lambda arguments: source_of(options.hybridc, arguments), commands))
    launches = [launch for source in sources for launch in launches_of(source, library)]
    flags = flags_of(launches)
    variants = {}
    for launch in launches:
        variants.setdefault(launch.key(flags), launch)
    complaints = [f"{name} is a kernel that no model here launches" for name in sorted(library.keys() - {key[0] for key in variants})]
    if options.list:
        print(*sorted(map(name_of, variants)), sep="\n")
    else:
        measured, spilling, said = measure(options.root, variants, [options.architecture] if options.architecture else ARCHITECTURES)
        complaints += said
        if options.cases and not options.architecture and not options.header:
            complaints += [f"spills: {entry['kernel']} is listed for variants, and none spills" for entry in listed_spills(options.root)
                           if entry.get("of") == "variants" and entry["kernel"] not in spilling]
        if options.update and options.architecture:
            sys.exit("--update writes the tables of all architectures: leave --architecture out")
        if options.update and not said:
            write_tables(options.tables, measured, library, not options.header)
        elif not said:
            complaints += compare(measured, read_tables(options.tables, options.header), options.header is not None or options.cases is not None)
    for complaint in complaints:
        print(complaint)
    print(f"{len(commands)} programs, {len(launches)} launches, {len(library)} kernels, {len(variants)} variants, {len(complaints)} complaints")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
