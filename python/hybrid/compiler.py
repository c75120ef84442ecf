"""Compiling by hybrid-run compile: hybridc in a process of its own, and the cache of what was compiled before."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import _files
from .errors import CompileError

def setting_text(value: object) -> str:
    """As `--set NAME=` takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def is_text(source: str | os.PathLike[str]) -> bool:
    """A model's text, and not the path of one: it has a block."""
    return isinstance(source, str) and "{" in source


def _cache_folder() -> Path:
    """That of hybrid-run."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(given) if os.path.isabs(given) else Path.home() / ".cache") / "hybrid" / "python"


def page_of(source: str | os.PathLike[str]) -> Path:
    """The file of a model; of a text one that is named by it, so that what was compiled from it is found again."""
    if not is_text(source):
        if not Path(source).exists():
            raise CompileError(f"{source} is not there: expected a model's file, or its text")
        return Path(source)
    text = str(source)
    path = _cache_folder() / (hashlib.sha256(text.encode()).hexdigest()[:32] + ".hyb")
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, suffix=".tmp", delete=False, encoding="utf-8") as file:
            file.write(text)
        os.replace(file.name, path)
    return path


def compile_to_file(source: str | os.PathLike[str], settings: Mapping[str, object], flags: Sequence[str]) -> str:
    """The executable's path. `flags` are hybrid-run compile's."""
    path = page_of(source)
    return _run("hybrid-run", ["compile", str(path), *flags, *_set(settings)], "<text>" if is_text(source) else str(path), path).strip("\n")


def describe_positions(source: str | os.PathLike[str], settings: Mapping[str, object], flags: Sequence[str]) -> dict[str, Any]:
    """What hybridc --causality=json says of a model."""
    path = page_of(source)
    said = _run("hybridc", [str(path), "--causality=json", *flags, *_set(settings)], "<text>" if is_text(source) else str(path), path)
    return dict(json.loads(said))


def _set(settings: Mapping[str, object]) -> list[str]:
    return [f"--set={name}={setting_text(value)}" for name, value in settings.items()]


def _run(program: str, words: list[str], shown: str, path: Path) -> str:
    """What a program prints; its complaints name the model as `shown`."""
    done = subprocess.run([str(_files.program(program)), *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, errors="replace")
    if done.returncode != 0:
        raise CompileError(done.stderr.strip().replace(str(path), shown) or f"{program} ended with status {done.returncode}")
    return done.stdout
