#!/usr/bin/env python3
"""Finds out how many blocks of a kernel can share a multiprocessor without spills: codegen/cuda/ResidentBlocks.inc.

Every use of a kernel of the library in the f32 and bf16 models of check-budgets.py is compiled, first as it likes. Where registers leave room for fewer blocks than shared memory and threads do, it is compiled for one block more
at a time, until it spills or 16 warps are there: four for each scheduler, which hide memory's latency from kernels that
have several loads in flight. Blocks of 8 warps and more wait for their own at barriers, too, and get up to 32 warps: an H200 issued in
38 to 51 % of its cycles with four to five a scheduler, and took 3 % less for a step with attention with six. A kernel with a store that has its
blocks by a few registers is compiled for them, too, so that a region that is not among these does not cost one. What holds for all architectures and all uses of a template with the same `has...` fields,
activations in f32 or `rounded`, so many threads and so much shared memory is a row of the table. check-budgets.py and check-variants.py find out whether
other fields make a kernel spill.

usage: resident-blocks.py HYBRIDC ROOT [--update]
"""

import collections
import concurrent.futures
import importlib.machinery
import importlib.util
import pathlib
import re
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
TABLE = "codegen/cuda/ResidentBlocks.inc"
# Of a multiprocessor of compute capability 8.0, 9.0 and 10.0, from the CUDA programming guide; shared memory of 9.0.
REGISTERS, WARPS, SHARED_BYTES, RESERVED_BYTES = 65536, 64, 228 << 10, 1 << 10
ENOUGH_WARPS, ENOUGH_WITH_BARRIERS = 16, 32
REGION_REGISTERS = 8  # that another region behind a kernel may take
SHARED = re.compile(r", (\d+) bytes of shared memory\n")


def load(name):
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(HERE / f"{name}.py"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


budgets, variants = load("check-budgets"), load("check-variants")


class Use:
    """A launch of a kernel of the library: what the table knows it by, and its text."""

    def __init__(self, launch, shared):
        threads, _, self.parameters = launch.shape.split(", ", 2)
        self.launch = launch
        has = " ".join([name for name, value in launch.fields.items() if name.startswith("has") and value == "1"]
                       + ["rounded"] * ("RoundedBuffer" in launch.operands) + ["rows"] * bool(launch.rows))
        self.row = launch.name, launch.types.split(",")[0], has, int(threads), shared

    def text(self, number, blocks):
        self.launch.shape = f"{self.row[3]}, {blocks}, {self.parameters}"
        return self.launch.text(number)


def collect(hybridc, root, library):
    """Row -> its uses."""
    found = collections.defaultdict(dict)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        arguments = [[root / model, *words.split()] for model, words in budgets.MODELS + budgets.WIDE]
        for source in pool.map(lambda words: variants.source_of(hybridc, words), arguments):
            generated = {}
            for part in variants.PART.split(source):
                body = part.partition("\n")[2]
                if match := variants.NAME.match(body.replace("HYBRID_DEVICE ", "")):
                    generated[match[1]] = body
                elif (match := variants.LAUNCH.match(body)) and match[3].partition("<")[0] in library:
                    shared = SHARED.search(part)
                    use = Use(variants.Launch(*match.groups(), generated), int(shared[1]) if shared else 0)
                    found[use.row].setdefault((use.launch.call, use.launch.store), use)
    return found


def compile_uses(compiler, root, library, uses, blocks):
    """What each of the uses takes, the most over all architectures: registers, stack and spilled bytes."""
    headers = {library[name] for use in uses for name in (use.launch.name, use.launch.rows and use.launch.rows[1]) if name}
    text = "".join(f'#include "codegen/kernels/cuda/{header}.cuh"\n' for header in sorted(headers))
    text += "using namespace hybrid;\nusing namespace hybrid::cuda;\n"
    text += "".join(use.text(number, blocks) for number, use in enumerate(uses))
    most = [[0, 0, 0] for _ in uses]
    for architecture in budgets.ARCHITECTURES:
        log, _, compiled = variants.compile_text(compiler, variants.headers_of(root), text, architecture)
        if not compiled:
            sys.exit(f"{', '.join(headers)}: {log}")
        for number, (takes, spilled) in variants.resources_of(log).items():
            most[number] = [max(pair) for pair in zip(most[number], (takes["registers"], takes["stack_bytes"], spilled))]
    return most


def worst(taken):
    return [max(column) for column in zip(*taken)]


def resident(threads, registers):
    """Blocks that the registers leave room for: a warp has them in units of 256."""
    return REGISTERS // (-(-registers * 32 // 256) * 256 * (threads // 32))


def choose(compiler, root, library, found):
    """Row -> blocks, where that is more than there would be."""
    chosen = {}
    for row, uses in sorted(found.items()):
        name, _, _, threads, shared = row
        warps, uses = threads // 32, list(uses.values())
        enough = ENOUGH_WITH_BARRIERS if warps >= 8 else ENOUGH_WARPS
        most = min(SHARED_BYTES // (shared + RESERVED_BYTES), WARPS // warps, -(-enough // warps))
        if most == 1:
            continue
        registers, stack, spilled = worst(compile_uses(compiler, root, library, uses, 1))
        have = resident(threads, registers)
        if any(use.launch.store for use in uses) and have <= most and resident(threads, registers + REGION_REGISTERS) < have:
            chosen[row] = have
            print(f"{row}: {registers} registers, {have} blocks, and less with a longer region", flush=True)
        for blocks in range(have + 1, most + 1):
            takes = worst(compile_uses(compiler, root, library, uses, blocks))
            if takes[1] > stack or takes[2] > spilled:
                print(f"{row}: {registers} registers, {have} blocks; {blocks} spill {takes[2]} bytes", flush=True)
                break
            chosen[row] = blocks
            print(f"{row}: {registers} registers, {have} blocks; {blocks} take {takes[0]}", flush=True)
    return chosen


def main():
    hybridc, root = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    library = variants.templates(root)
    chosen = choose(variants.nvrtc(), root, library, collect(hybridc, root, library))
    text = "// Written by test/cuda/resident-blocks.py --update: kernel, element, fields, threads, bytes of shared memory, blocks.\n"
    text += "".join(f'{{"{kernel}", "{element}", "{has}", {threads}, {shared}, {blocks}}},\n'
                    for (kernel, element, has, threads, shared), blocks in chosen.items())
    if "--update" in sys.argv:
        (root / TABLE).write_text(text)
    elif text != (root / TABLE).read_text():
        sys.exit(f"{TABLE} is not what the assembler says: test/cuda/resident-blocks.py HYBRIDC ROOT --update writes it anew")
    print(f"{len(chosen)} rows")


if __name__ == "__main__":
    main()
