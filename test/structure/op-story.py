#!/usr/bin/env python3
"""Checks that all of an op lies in files of its own name, and prints the table.

usage: op-story.py [--op NAME]

An op family is a file dialect/ops/NAME.td: an op with its gradient or adjoint. Its own files are those called NAME.*, six at most. No
other production file (what git tracks outside of models, docs, tests and benchmarks) may name it: its C++ classes, its mnemonic as an
operator's name in a string, its kernels. What is about several ops (the vocabulary of gradients and passes, a fusion pattern, a pass
that is about an op) stands in op-story.json with its reason; an entry that nothing needs is an error too. Comments and descriptions may
name every op.

With --op only that family is shown, with the lines that name it.
"""

import argparse
import collections
import fnmatch
import json
import os
import re
import subprocess
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(FOLDER))
MOST_FILES = 6
SOURCES = re.compile(r"\.(cpp|h|hpp|cc|cu|cuh|c|td|inc|fbs|py|sh|cmake|txt)$")
# The runtime, what stands on it (the Python package, too) and the tools link no graph; a task, a sampler or an optimizer of theirs may share a word with an op.
OUTSIDE = re.compile(r"^(models|docs|test|benchmarks|papers|executable|runtime|training|laboratory|python|tools)/")
# Names that are words of their own: they mean the op wherever they occur, in kernels and file names too.
# Of the others (linear, take, split, ...) only the class and the quoted name mean it.
WORDS = re.compile(r"_|conv$|norm$|fft$|^adamw$")


def tracked():
    """Production sources, as paths from the root."""
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    return [file for file in files if SOURCES.search(file) and not OUTSIDE.search(file) and os.path.exists(os.path.join(ROOT, file))]


def code_of(path):
    """The lines of a file without comments and, in TableGen, without descriptions."""
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as file:
        text = file.read()
    blank = lambda match: re.sub(r"[^\n]", " ", match.group(0))
    if path.endswith(".td"):
        text = re.sub(r"(description|summary) = (\[\{.*?\}\]|\"[^\"\n]*\")", blank, text, flags=re.S)
    if path.endswith((".py", ".sh", ".cmake", ".txt")):
        text = re.sub(r"\"\"\".*?\"\"\"", blank, text, flags=re.S)
        text = re.sub(r"(^|\s)#.*", blank, text)
    else:
        # A string may hold // and a comment a quote: whichever starts first.
        text = re.sub(r"\"(?:\\.|[^\"\\\n])*\"|//[^\n]*|/\*.*?\*/",
                      lambda match: match.group(0) if match.group(0).startswith('"') else blank(match), text, flags=re.S)
    return text.splitlines()


def families():
    """Name of each family -> mnemonics by class of its ops."""
    found = collections.OrderedDict()
    folder = os.path.join(ROOT, "dialect", "ops")
    for file in sorted(os.listdir(folder)):
        if file.endswith(".td"):
            with open(os.path.join(folder, file), encoding="utf-8") as text:
                found[file[:-3]] = dict(re.findall(r'^def Hybrid_(\w+Op)\s*:\s*\w+<"(\w+)"', text.read(), re.M))
    return found


def pattern_of(ops, path):
    """What means one of the ops in the code of a file."""
    parts = []
    for name, mnemonic in ops.items():
        parts.append(rf"\b{name}(Adaptor)?\b|\bhybrid\.{mnemonic}\b")
        if not path.endswith(".td"):  # where a quoted word names an attribute, an enum's case, a statistic
            parts.append(rf'"(?:hybrid\.)?{mnemonic}"')
        if WORDS.search(mnemonic):
            parts.append(rf"(?i:(?<![a-z]){mnemonic.replace('_', '_?')}(?![a-z]*ing))")
    return re.compile("|".join(parts))


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--op", help="show one family, with the lines that name it")
    options = parser.parse_args(arguments)
    with open(os.path.join(FOLDER, "op-story.json"), encoding="utf-8") as file:
        allowed = json.load(file)
    needed = [{"ops": set(), "files": set()} for _ in allowed]
    sources = {file: code_of(file) for file in tracked()}
    errors, rows = [], []
    for family, ops in families().items():
        own = [file for file in sources if os.path.splitext(os.path.basename(file))[0] == family]
        patterns = {ending: pattern_of(ops, ending) for ending in (".td", ".cpp")}
        elsewhere, excused = [], 0
        for file, lines in sources.items():
            pattern = patterns[".td" if file.endswith(".td") else ".cpp"]
            where = [i for i, line in enumerate(lines, 1) if pattern.search(line)]
            if file in own or not where:
                continue
            reasons = [(entry, glob) for entry, rule in enumerate(allowed) if family in rule["ops"]
                       for glob in rule["files"] if fnmatch.fnmatch(file, glob)]
            for entry, glob in reasons:
                needed[entry]["ops"].add(family)
                needed[entry]["files"].add(glob)
            excused += bool(reasons)
            if not reasons:
                elsewhere.append(file)
            if options.op == family:
                for i in where:
                    print(f"{file}:{i}: {lines[i - 1].strip()}")
        rows.append((family, len(own), excused, len(elsewhere)))
        if options.op not in (None, family):
            continue
        errors += [f"{family} is named in {file}" for file in elsewhere]
        if len(own) > MOST_FILES:
            errors.append(f"{family} has {len(own)} files, expected at most {MOST_FILES}: {' '.join(own)}")
    for rule, use in zip(allowed, needed):
        unused = [name for key in ("ops", "files") for name in rule[key] if name not in use[key]]
        if unused and not options.op:
            errors.append(f"op-story.json: nothing needs {', '.join(unused)} of the entry '{rule['reason']}'")
    print(f"{'op':<16}{'own files':>10}{'with reason':>13}{'elsewhere':>11}")
    for row in rows:
        if options.op in (None, row[0]):
            print(f"{row[0]:<16}{row[1]:>10}{row[2]:>13}{row[3]:>11}")
    for error in errors:
        print(f"error: {error}", file=sys.stderr)
    print(f"{len(rows)} op families, {len(errors)} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
