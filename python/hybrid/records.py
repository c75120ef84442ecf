"""What runs and studies left on disk, as records: lists of dicts, which pandas.DataFrame, a csv.DictWriter or a loop takes."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import RunError

Record = dict[str, Any]

# The layouts of a study's database that are read: laboratory/database/Schema.h.
_LAYOUTS = range(1, 4)
_APPLICATION = 0x48594C42


@dataclass(frozen=True)
class Run:
    """A folder of `hybrid-run train --out`. `summary` is empty while the run is not through."""

    folder: Path
    config: Record
    summary: Record
    metrics: list[Record]

    def curve(self, split: str = "train") -> list[Record]:
        """The reports of one split, "train" or "eval", in order of their steps; without that of the end."""
        return [line for line in self.metrics if line.get("split") == split and "final" not in line]


@dataclass(frozen=True)
class Study:
    """A folder of `hybrid-run mad` or `scale`, also of one that is under way.

    `runs` has a record a training, `curves` one an evaluation of a training (their "run" is the training's "id"), `architectures` one a model. `report`
    is study.json, the scores; empty while there is none."""

    folder: Path
    options: dict[str, str]
    architectures: list[Record]
    runs: list[Record]
    curves: list[Record]
    report: Record


def columns(records: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Records as columns by name, in the order of their first use; None where a record has no such value."""
    names = dict.fromkeys(name for record in records for name in record)
    return {name: [record.get(name) for record in records] for name in names}


def read_run(folder: str | os.PathLike[str]) -> Run:
    """Reads a run's folder. A last line that is being written is left out; anything else that is no record is a RunError that names it."""
    place = _folder(folder, "config.json", "a run of hybrid-run train --out")
    metrics = []
    file = place / "metrics.jsonl"
    if file.exists():
        text = file.read_text(encoding="utf-8")
        lines = text.split("\n")[:-1]  # behind the last end of a line there is nothing, or a line that is not whole
        metrics = [_object(line, f"{file}:{number}") for number, line in enumerate(lines, 1)]
    summary = place / "summary.json"
    return Run(place, _json(place / "config.json"), _json(summary) if summary.exists() else {}, metrics)


def read_study(folder: str | os.PathLike[str]) -> Study:
    """Reads a study's folder; its database may be in use meanwhile."""
    place = _folder(folder, "study.sqlite", "a study of hybrid-run mad or scale --out")
    with _database(place / "study.sqlite") as database:
        options = {str(row["name"]): str(row["value"]) for row in database.execute("SELECT name, value FROM study")}
        architectures = _rows(database, "SELECT * FROM architecture ORDER BY id")
        names = {each["id"]: each["name"] for each in architectures}
        runs = [{**run, "architecture": names[run["architecture"]], "diverged": bool(run["diverged"])} for run in _rows(database, "SELECT * FROM run ORDER BY id")]
        curves = _rows(database, "SELECT * FROM curve ORDER BY run, step")
    report = place / "study.json"
    return Study(place, options, architectures, runs, curves, _json(report) if report.exists() else {})


def _folder(folder: str | os.PathLike[str], file: str, what: str) -> Path:
    place = Path(folder)
    if not (place / file).is_file():
        raise RunError(f"'{place}' is no folder of {what}: it has no {file}")
    return place


def _json(path: Path) -> Record:
    return _object(path.read_text(encoding="utf-8"), str(path))


def _object(text: str, where: str) -> Record:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise RunError(f"{where} is no JSON: {error}") from error
    if not isinstance(value, dict):
        raise RunError(f"{where} is {type(value).__name__}, expected an object")
    return value


@contextmanager
def _database(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            database.row_factory = sqlite3.Row
            # Rows have hashes of theirs, which hybrid-run checks; to read a table, SQLite wants the function to be there.
            database.create_function("row_hash", -1, lambda *_: 0, deterministic=True)
            if database.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION:
                raise RunError(f"'{path}' is a database, but not one of the laboratory")
            layout = database.execute("PRAGMA user_version").fetchone()[0]
            if layout not in _LAYOUTS:
                raise RunError(f"'{path}' has layout {layout}, this version reads {_LAYOUTS[0]} to {_LAYOUTS[-1]}")
            database.execute("BEGIN")  # all tables as they are now
            yield database
    except sqlite3.Error as error:
        raise RunError(f"'{path}' cannot be read: {error}") from error


def _rows(database: sqlite3.Connection, query: str) -> list[Record]:
    """Without what is for the database alone."""
    return [{name: row[name] for name in row.keys() if name not in ("hash", "worker", "heartbeat")} for row in database.execute(query)]
