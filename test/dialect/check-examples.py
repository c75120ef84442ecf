"""Runs the MLIR examples of the dialect's documentation through hybrid-opt.

usage: check-examples.py HYBRID_OPT FILE.td...

An example is a ```mlir block inside the description of an op. Values that it uses but does not define become arguments of a
function around it; their types are read from the op that uses them: an op of the dialect prints the types of its plain operands
after " : " in order, and those of keyword operands beside them, as in "bias(%b : tensor<4xf32>)". Fails when an example does not
parse and verify, when an op is not used in its own description's example, or when an op has no summary or description.
"""

import re
import subprocess
import sys

VALUE = re.compile(r"%[\w-]+")
TYPE = r"tensor<[^>]*>"
# Ops that describe themselves in the example of another op.
SHOWN_ELSEWHERE = {"hybrid.yield", "schedule.yield"}


def op_definitions(text):
    """Yields (name, body) of every op of a .td file."""
    starts = [m.start() for m in re.finditer(r"^def ", text, re.M)] + [len(text)]
    for start, end in zip(starts, starts[1:]):
        body = text[start:end]
        match = re.match(r'def \w+\s*:\s*(Hybrid|Schedule)_(?:Pure)?(?:Op|Step)<"(\w+)"', body)
        if match:
            yield f"{match.group(1).lower()}.{match.group(2)}", body


def operand_types(line):
    """Maps the operands of one printed op to their types."""
    types = {}
    if " = hybrid." in line:
        line = line.split(" = ", 1)[1]

    def keyword(match):
        names = VALUE.findall(match.group(0))
        types.update(zip(names, re.findall(TYPE, match.group(0))))
        return ""

    line = re.sub(r"\w+\((?:%[\w-]+(?:, )?)+ : [^()]*\)", keyword, line)
    # rmsnorm prints its weight's type right after the weight.
    line = re.sub(r", (%[\w-]+ : " + TYPE + r")(?= .* : )", keyword, line)
    if " : " in line:
        operands, signature = line.rsplit(" : ", 1)
        types.update(zip(VALUE.findall(operands), re.findall(TYPE, signature.split("->")[0])))
    return types


def wrap(example):
    """A module in which the example's free values are function arguments."""
    if example.lstrip().startswith(("schedule.program", "schedule.function", "schedule.kernel_source")):
        return example
    defined, arguments = set(), {}
    for line in example.splitlines():
        if line.lstrip().startswith("^"):
            defined.update(VALUE.findall(line))
            continue
        results = line.split(" = hybrid.")[0] if " = hybrid." in line else ""
        for name, kind in operand_types(line).items():
            if name not in defined:
                arguments.setdefault(name, kind)
        defined.update(VALUE.findall(results))
    signature = ", ".join(f"{name}: {kind}" for name, kind in arguments.items())
    return f"func.func @example({signature}) {{\n{example}\nreturn\n}}\n"


def check(hybrid_opt, path):
    """The number of examples and the list of complaints of one file."""
    complaints, count = [], 0
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for mnemonic, body in op_definitions(text):
        where = f"{path}: {mnemonic}"
        for field in ("summary", "description"):
            if f"let {field} =" not in body:
                complaints.append(f"{where} has no {field}")
        examples = re.findall(r"```mlir\n(.*?)```", body, re.S)
        if mnemonic in SHOWN_ELSEWHERE:
            continue
        if not any(mnemonic in example for example in examples):
            complaints.append(f"{where} has no example that uses it")
        for example in examples:
            count += 1
            result = subprocess.run([hybrid_opt, "-"], input=wrap(example), capture_output=True, text=True, check=False)
            if result.returncode != 0:
                complaints.append(f"{where}: {result.stderr}\nin:\n{wrap(example)}")
    return count, complaints


def main(arguments):
    if len(arguments) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    count, complaints = 0, []
    for path in arguments[2:]:
        examples, found = check(arguments[1], path)
        count += examples
        complaints += found
    for complaint in complaints:
        print(f"error: {complaint}", file=sys.stderr)
    print(f"{count} examples, {len(complaints)} complaints")
    return 1 if complaints or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
