#!/usr/bin/env python3
"""How long hybrid-lsp takes for each request of an editor: on the longest file of the library, on the longest model, and on the model that takes
longest to elaborate (a change of a text is answered by its diagnostics). Prints the median and the longest of some repetitions in milliseconds.

usage: latency.py SERVER MODELS_DIR [REPETITIONS]
"""

import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "test" / "frontends" / "editor"))
from session import Refused, Session


def seconds(action):
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def changed(session, name, text):
    """A change, and the answer to it."""
    session.change(name, text)
    while session.receive().get("method") != "textDocument/publishDiagnostics":
        pass


def measure(session, path, repetitions):
    text = path.read_text()
    session.open("text.hyb", text)
    session.messages("text.hyb")
    word = "linear(" if "linear(" in text else "let "

    def rename():
        try:
            session.at("rename", "text.hyb", "let ", 4, newName="quite_another")
        except Refused:
            pass

    actions = {
        "change": lambda: changed(session, "text.hyb", text),
        "hover": lambda: session.at("hover", "text.hyb", word),
        "definition": lambda: session.at("definition", "text.hyb", word),
        "completion": lambda: session.at("completion", "text.hyb", word, 2),
        "rename": rename,
        "formatting": lambda: session.format("text.hyb"),
        "hints": lambda: session.hints("text.hyb"),
    }
    times = {name: [1000 * seconds(action) for _ in range(repetitions)] for name, action in actions.items()}
    session.close("text.hyb")
    return {name: (statistics.median(each), max(each)) for name, each in times.items()}


def main():
    server, models = sys.argv[1], pathlib.Path(sys.argv[2])
    repetitions = int(sys.argv[3]) if len(sys.argv) > 3 else 21
    library = sorted((models / "std").glob("*.hyb"))
    whole = sorted(path for path in models.rglob("*.hyb") if path.parent.name != "std" and "\nmodel " in "\n" + path.read_text())
    with Session(server, {}, ["-I", models]) as session:
        slowest = {}
        for path in whole:
            session.open("text.hyb", path.read_text())
            session.messages("text.hyb")
            slowest[path] = seconds(lambda: changed(session, "text.hyb", path.read_text()))
            session.close("text.hyb")
        for what, path in (("longest file", max(library + whole, key=lambda path: path.stat().st_size)),
                           ("longest model", max(whole, key=lambda path: path.stat().st_size)),
                           ("slowest model", max(slowest, key=slowest.get))):
            print(f"{what}: {path.relative_to(models)}, {path.stat().st_size} bytes")
            for name, (median, longest) in measure(session, path, repetitions).items():
                print(f"  {name:<11} {median:7.1f} ms  at most {longest:7.1f} ms")


if __name__ == "__main__":
    main()
