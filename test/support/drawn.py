"""Models of the tree with drawn sizes. Kernels are chosen by sizes, so that no list of cases has all ways through them."""

import pathlib
import re
import subprocess
import sys

# Ends of tiles, warps, chunks and segments, one more and one less; primes; tiles that do not divide a block's threads.
LENGTHS = (1, 2, 3, 5, 16, 17, 31, 32, 33, 40, 63, 64, 65, 80, 96, 97, 128, 130, 192, 200)
BATCHES = (1, 2, 3, 5, 8, 16)
SIZES = {"width": (8, 12, 16, 24, 32, 40, 48, 64), "heads": (1, 2, 3, 4, 8), "inner": (8, 16, 20, 32, 64), "vocab": (7, 16, 33), "head_size": (4, 8, 12, 16, 32),
         "state": (1, 2, 4, 5, 8, 16), "states": (1, 2, 4, 5, 8, 16), "experts": (2, 3, 4, 8), "active": (1, 2), "groups": (1, 2), "decays": (1, 2, 8),
         "channels": (8, 12, 16, 24, 32, 40, 64), "inputs": (3, 8, 20, 64), "outputs": (3, 8, 20, 64), "classes": (7, 16, 100), "size": (4, 8, 16, 32)}
OF_LENGTH = ("l_max", "taps")


def sources(folder):
    """Files below it that have a model."""
    return sorted(path for path in pathlib.Path(folder).rglob("*.hyb") if "std" not in path.parts and "model " in path.read_text(encoding="utf-8"))


def parameters(source):
    """Names of the whole numbers that its last model has as parameters."""
    found = re.findall(r"^model\s+\w+\((.*?)\)\s*\{", source.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return re.findall(r"(\w+): int\b", found[-1]) if found else []


def sizes(rng, source):
    """A batch, a length and settings."""
    length = rng.choice(LENGTHS)
    settings = [f"{name}={length if name in OF_LENGTH else rng.choice(SIZES[name])}" for name in parameters(source) if name in OF_LENGTH or name in SIZES]
    return rng.choice(BATCHES), length, settings


def is_model(binaries, source, batch, length, settings):
    """Whether such sizes go together. hybridc says what is wrong with them, or it has crashed."""
    command = [binaries / "hybridc", source, f"--batch={batch}", f"--length={length}", "--emit=hybrid", *(f"--set={setting}" for setting in settings)]
    result = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
    if result.returncode not in (0, 1) or (result.returncode == 1 and "error: " not in result.stderr):
        sys.exit(f"{' '.join(map(str, command))}: exit status {result.returncode}\n{result.stderr}")
    return result.returncode == 0


def models(rng, binaries, files, rounds):
    """`rounds` of them: source, batch, length, settings."""
    while rounds:
        source = rng.choice(files)
        drawn = sizes(rng, source)
        if is_model(binaries, source, *drawn):
            yield source, *drawn
            rounds -= 1
