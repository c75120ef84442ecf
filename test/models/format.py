#!/usr/bin/env python3
"""What `hybridc --format` promises, for every model below a folder: formatting twice changes nothing, and the formatted models are the same
programs. The models are formatted as they are and after their lines have been broken behind every comma in brackets and their indentation
removed, so that there is something to do.

usage: format.py HYBRIDC MODELS_DIR
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|.', re.DOTALL)
MODEL = re.compile(r"^model \w+\(", re.MULTILINE)
WIDTH = 160


def broken(text):
    """The same program in an odd form."""
    text = re.sub(r"(?m)^[ \t]+", "", text)
    result, depth = [], 0
    for token in TOKEN.findall(text):
        depth += (token in "([") - (token in ")]") if len(token) == 1 else 0
        result.append(token + "\n\n" if token == "," and depth else token)
    return "".join(result)


def run(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
    if result.returncode:
        sys.exit(f"{' '.join(str(part) for part in command)[:200]}\n{result.stderr}")
    return result.stdout


def too_wide(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if len(line) > WIDTH and "//" not in line:
            yield f"{path.name}:{number}: {len(line)} columns"


def main():
    compiler, models = sys.argv[1], pathlib.Path(sys.argv[2])
    faults, programs = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for name, change in (("as it is", lambda text: text), ("broken", broken)):
            once = pathlib.Path(folder, name.replace(" ", "-"))
            shutil.copytree(models, once)
            files = sorted(once.rglob("*.hyb"))
            for file in files:
                file.write_text(change(file.read_text()))
            run(compiler, "--format", "-i", *files)
            run(compiler, "--format", "--check", *files)
            faults += [fault for file in files for fault in too_wide(file)]
            for file in files:
                source = file.relative_to(once)
                if source.parts[0] != "std" and MODEL.search(file.read_text()):
                    if source not in programs:
                        programs[source] = run(compiler, models / source, "-I", models, "--emit=hybrid")
                    if run(compiler, file, "-I", once, "--emit=hybrid") != programs[source]:
                        faults.append(f"{source}: another program, formatted {name}")
            print(f"{name}: {len(files)} files")
    for fault in faults:
        print(f"FAIL {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
