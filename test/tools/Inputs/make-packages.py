"""Small stand-ins for the packages that papers/sources.json names, made with dpkg-deb: the same files, with little in them.

usage: make-packages.py SOURCES.json FOLDER
"""

import gzip
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import zlib

sources, out = json.load(open(sys.argv[1], encoding="utf-8"))["sources"], pathlib.Path(sys.argv[2])
draw = random.Random(1)


def string(text):
    return struct.pack(">ii", 0x00040009, len(text)) + text


def strings(texts):
    return struct.pack(">ii", 16, len(texts)) + b"".join(map(string, texts))


def named(items):
    """A list with names: its attribute is a list of one pair, whose tag is the symbol `names`."""
    names = struct.pack(">ii", 0x402, 1) + string(b"names") + strings(list(items)) + struct.pack(">i", 254)
    return struct.pack(">ii", 0x200 | 19, len(items)) + b"".join(items.values()) + names


def serialized(item):
    return b"X\n" + struct.pack(">iii", 2, 0x40300, 0x20300) + item


def novels():
    data, places = b"", {}
    for name in (b"emma", b"mansfieldpark", b"northangerabbey", b"persuasion", b"prideprejudice", b"sensesensibility"):
        lines = [name.upper(), b""] + [b" ".join(draw.choices([b"it", b"is", b"a", b"truth", b"that", b"she", b"had", name], k=9)) for _ in range(120)]
        plain = serialized(strings(lines))
        object = struct.pack(">i", len(plain)) + zlib.compress(plain)
        places[name] = struct.pack(">iiii", 13, 2, len(data), len(object))
        data += object
    index = serialized(named({b"variables": named(places), b"compressed": struct.pack(">iii", 13, 1, 1)}))
    return {"": data, "x": gzip.compress(index)}


def fasta(letters, lines):
    return gzip.compress(b">chromosome of tests\n" + b"".join(bytes(draw.choices(letters, k=60)) + b"\n" for _ in range(lines)))


def idx(count, pixels):
    header = struct.pack(">iiii", 0x803, count, 28, 28) if pixels else struct.pack(">ii", 0x801, count)
    body = bytes(draw.randrange(256) for _ in range(count * 784)) if pixels else bytes(i % 10 for i in range(count))
    return gzip.compress(header + body)


packages = {}
for source in sources:
    for file in source.get("files", []):
        path = file["path"]
        if file.get("read") == "r-texts":
            for end, content in novels().items():
                packages.setdefault(file["package"], {})[path[:-1] + (end or "b")] = content
        elif "idx" in path:
            packages.setdefault(file["package"], {})[path] = idx(40, "images" in path)
        else:
            # The chromosome is long, as a thousandth of it is tested.
            letters, lines = b"ACGT" + 3 * b"AG"[len(path) % 2 :][:1], 1400 if "chrX" in path else 80
            packages.setdefault(file["package"], {})[path] = fasta(letters, lines)
out.mkdir(parents=True)
for name, files in packages.items():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, content in {**files, "DEBIAN/control": f"Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: nobody <n@example.org>\nDescription: data\n".encode()}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(content)
        root.chmod(0o755)
        subprocess.run(["dpkg-deb", "--build", "-Znone", "--root-owner-group", folder, out / f"{name}_1_all.deb"], check=True, stdout=subprocess.DEVNULL)
