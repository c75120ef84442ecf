"""Folders that hybrid-run wrote, read as records."""

import csv
import io
import json
import pathlib
import sqlite3
import tempfile
import unittest

import support

import hybrid

TASK = "in-context-recall:vocab=8,length=16"


class Folders(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.folder = pathlib.Path(holder.name)
        model = hybrid.models_folder() / "mad" / "striped-hyena-swiglu.hyb"
        sizes = ["--set=width=16", "--set=heads=2", "--set=inner=16"]
        support.run("hybridc", model, "-o", cls.folder / "m.hyx", "--batch=4", "--length=16", "--set=vocab=8", *sizes)
        support.run("hybrid-run", "train", cls.folder / "m.hyx", "--task", TASK, "--steps=6", "--eval-every=3", "--report-every=2", "--lr=1e-3",
                    "--out", cls.folder / "run")
        support.run("hybrid-run", "mad", model, "--tasks", TASK, "--steps=6", "--batch=4", "--lr", "1e-3", "3e-3", *sizes, "--out", cls.folder / "study")

    def copy(self, name, file, text):
        """Of the run's folder, with another file in it."""
        place = self.folder / name
        place.mkdir()
        for each in ("config.json", "metrics.jsonl", "summary.json"):
            (place / each).write_bytes((self.folder / "run" / each).read_bytes())
        (place / file).write_text(text)
        return place

    def test_a_run_is_what_its_files_say(self):
        run = hybrid.read_run(self.folder / "run")
        self.assertEqual(run.config["steps"], 6)
        self.assertEqual([line["step"] for line in run.curve()], [2, 4, 6])
        self.assertEqual([line["step"] for line in run.curve("eval")], [3, 6])
        self.assertEqual(len(run.metrics), len((self.folder / "run" / "metrics.jsonl").read_text().splitlines()))
        self.assertEqual(run.summary, json.loads((self.folder / "run" / "summary.json").read_text()))
        self.assertTrue(all(isinstance(line["loss"], float) for line in run.curve()))

    def test_records_are_rows_and_columns(self):
        curve = hybrid.read_run(self.folder / "run").curve()
        table = hybrid.columns(curve)
        self.assertEqual(table["step"], [2, 4, 6])
        self.assertEqual({len(column) for column in table.values()}, {3})
        text = io.StringIO()
        writer = csv.DictWriter(text, list(table))
        writer.writeheader()
        writer.writerows(curve)
        self.assertEqual(len(text.getvalue().splitlines()), 4)
        self.assertEqual(hybrid.columns([{"a": 1}, {"b": 2}]), {"a": [1, None], "b": [None, 2]})

    def test_a_run_under_way_is_read_as_far_as_it_is(self):
        lines = (self.folder / "run" / "metrics.jsonl").read_text()
        cut = self.copy("cut", "metrics.jsonl", lines[: len(lines) - 5])
        (cut / "summary.json").unlink()
        run = hybrid.read_run(cut)
        self.assertEqual(len(run.metrics), len(lines.splitlines()) - 1)
        self.assertEqual(run.summary, {})

    def test_a_study_has_its_runs_and_curves(self):
        study = hybrid.read_study(self.folder / "study")
        self.assertEqual([each["name"] for each in study.architectures], ["striped-hyena-swiglu"])
        self.assertEqual([(run["architecture"], run["task"], run["status"], run["diverged"]) for run in study.runs],
                         [("striped-hyena-swiglu", "in-context-recall", "done", False)] * 2)
        self.assertEqual(sorted(run["learning_rate"] for run in study.runs), [1e-3, 3e-3])
        self.assertEqual({point["run"] for point in study.curves}, {run["id"] for run in study.runs})
        best = study.report["architectures"][0]
        self.assertAlmostEqual(best["accuracy"], max(run["accuracy"] for run in study.runs))
        self.assertEqual(study.options["convention"], "paper")
        self.assertNotIn("hash", study.runs[0])

    def test_what_is_no_such_folder_is_named(self):
        for read, folder, said in [
                (hybrid.read_run, self.folder / "study", "is no folder of a run .* no config.json"),
                (hybrid.read_study, self.folder / "run", "is no folder of a study .* no study.sqlite"),
                (hybrid.read_run, self.copy("broken", "metrics.jsonl", '{"step": 1}\nnothing\n'), r"metrics.jsonl:2 is no JSON"),
                (hybrid.read_run, self.copy("list", "config.json", "[1]"), "config.json is list, expected an object")]:
            with self.assertRaisesRegex(hybrid.RunError, said):
                read(folder)
        other = self.folder / "other"
        other.mkdir()
        with sqlite3.connect(other / "study.sqlite") as database:
            database.execute("CREATE TABLE study(name, value)")
        database.close()
        with self.assertRaisesRegex(hybrid.RunError, "not one of the laboratory"):
            hybrid.read_study(other)
        (other / "study.sqlite").write_text("no database, but a text of some length" * 50)
        with self.assertRaisesRegex(hybrid.RunError, "cannot be read"):
            hybrid.read_study(other)


if __name__ == "__main__":
    unittest.main()
