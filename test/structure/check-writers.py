#!/usr/bin/env python3
"""Files are written in one way: fails with file:line for whatever else opens one to write, makes or renames one.

  usage: test/structure/check-writers.py [ROOT]

The writers are executable/OutputFile.h and what it stands on, and runtime/files/AppendFile.h for what grows record by record. Others that
have a reason stand in REASONS; one that nothing needs is an error too.
"""

import re
import sys

import checks

WRITERS = ("executable/OutputFile.cpp", "executable/TemporaryOutput.cpp", "runtime/files/AppendFile.cpp")
REASONS = {
    "codegen/cpu/LinkObject.cpp": "what the linker reads, under a name of LLVM's in the temporary folder; removed when it is linked",
    "codegen/cuda/CompileForShim.cpp": "what a compiler reads, as above; for the tests' driver alone",
}
FOLDERS = ("executable", "dialect", "passes", "frontends", "codegen", "runtime", "training", "laboratory", "tools")
WRITES = re.compile(r"(?<![.>])\b(?:o?fstream\b(?!>)|O_WRONLY|O_RDWR|O_CREAT|f(?:re)?open\s*\(|creat\s*\(|mk[od]?s?temp\s*\(|mkdtemp\s*\(|rename\s*\("
                    r"|copy_file\s*\(|resize_file\s*\(|f?truncate\s*\(|raw_fd_(?:o)?stream\b|ToolOutputFile\b|openFileForWrite\b)")


def code_of(text):
    """Without strings and comments, lines kept."""
    blank = lambda match: re.sub(r"[^\n]", " ", match[0])
    return re.sub(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', blank, text, flags=re.S)


def sources(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix in (".c", ".cpp", ".h") and name not in WRITERS and not name.startswith("codegen/kernels/"):
                yield name


def faults(root):
    needed = set()
    for name in sources(root):
        for number, line in enumerate(code_of((root / name).read_text()).splitlines(), 1):
            if WRITES.search(line) and name in REASONS:
                needed.add(name)
            elif WRITES.search(line) and not line.lstrip().startswith("#"):
                yield f"{name}:{number}: writes a file by itself: use executable/OutputFile.h or runtime/files/AppendFile.h"
    for name in REASONS.keys() - needed:
        yield f"{name}:1: writes no file any more: take it out of check-writers.py"


if __name__ == "__main__":
    sys.exit(checks.run(faults, sources))
