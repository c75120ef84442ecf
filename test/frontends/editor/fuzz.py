#!/usr/bin/env python3
"""Texts that are cut off, and texts of which something is missing, with every question asked at the cut: the server stays.

usage: fuzz.py SERVER MODELS_DIR COUNT [SEED]
"""

import pathlib
import random
import sys

from session import Refused, Session


def main():
    server, models, count = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
    random.seed(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    sources = sorted(models.rglob("*.hyb"))
    refused = 0
    with Session(server, {}, ["-I", models]) as session:
        session.open("model.hyb", "")
        for _ in range(count):
            text = random.choice(sources).read_text()
            cut = random.randrange(len(text))
            if random.random() < 0.5:
                text = text[:cut]
            else:
                text = text[:cut] + text[cut + random.choice((1, 2, 10, 200)):]
            session.change("model.hyb", text)
            before = text[:cut]
            position = {"line": before.count("\n"), "character": len(before[before.rfind("\n") + 1:].encode("utf-16-le")) // 2}
            document = {"uri": session.uri("model.hyb")}
            for method in ("hover", "definition", "completion", "rename", "formatting", "inlayHint", "documentSymbol"):
                try:
                    session.ask("textDocument/" + method, {
                        "textDocument": document, "position": position, "newName": "other", "options": {},
                        "range": {"start": {"line": 0, "character": 0}, "end": position}})
                except Refused:
                    refused += 1
    print(f"{count} texts, {refused} requests refused")


if __name__ == "__main__":
    main()
