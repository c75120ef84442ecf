#!/usr/bin/env python3
"""tools/gpu-check from one end to the other against the tests' CUDA driver: gpu-check.py BIN DRIVER."""

import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PATTERNS = ("rmsnorm-*", "attention-*-cudnn-*", "gated_convolution-*", "selective_scan-*", "adamw-*", "attention-swiglu-*")
GOLDEN = "rmsnorm_eps_in_sqrt"
BESIDE = "swiglu_chained_beside_f32-bf16"


def call(script, *arguments, environment=None):
    done = subprocess.run([sys.executable, str(script), *map(str, arguments)], capture_output=True, text=True, env={**os.environ, **(environment or {})})
    return done.returncode, done.stdout + done.stderr


# What a bundle may ask of the oldest systems it is for, Ubuntu 22.04 and RHEL 9 (GCC 11).
OLDEST = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13), "GCC": (11, 0, 0)}
# Python as Debian 12 has it: tarfile without filters. Unpacks the archive of its first argument into its second.
UNPACK = """
import sys, tarfile
sys.path.insert(0, sys.argv[3])
if hasattr(tarfile, "data_filter"):
    extract = tarfile.TarFile.extract
    del tarfile.data_filter
    tarfile.TarFile.extract = lambda self, member, path="", set_attrs=True, *, numeric_owner=False: extract(self, member, path, set_attrs)
from suite import gpu_run
from suite.processes import Failure
try:
    with tarfile.open(sys.argv[1]) as archive:
        gpu_run.unpack(archive, sys.argv[2])
except Failure as failure:
    sys.exit(f"refused: {failure}")
"""


def check_archives(folder):
    """An archive is unpacked by any Python, and one that leads outside is refused."""
    good, bad, link = (folder / f"{name}.tar" for name in ("good", "bad", "link"))
    (folder / "file").write_text("content", encoding="utf-8")
    (folder / "pointer").symlink_to("/etc")
    for path, source, name in ((good, "file", "gpu-check/file"), (bad, "file", "gpu-check/../../escaped"), (link, "pointer", "gpu-check/link")):
        with tarfile.open(path, "w") as archive:
            archive.add(folder / source, arcname=name)
    for path, expected in ((good, None), (bad, "escaped"), (link, "gpu-check/link")):
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", UNPACK, path, folder / "unpacked", ROOT / "benchmarks"], capture_output=True, text=True)
        assert (done.returncode == 0) == (expected is None) and (not expected or expected in done.stderr), done.stderr
    assert (folder / "unpacked" / "gpu-check" / "file").read_text(encoding="utf-8") == "content"
    assert not (folder / "escaped").exists()


def main():
    binaries, driver = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="gpu-check-test-") as name:
        folder = pathlib.Path(name)
        check_archives(folder)
        bundle, results = folder / "bundle", folder / "results"
        with_golden = pathlib.Path(os.environ.get("HYBRID_GOLDEN_DIR") or ROOT.parent / "shared" / "golden").is_dir()
        only = ["--only", "ops", "--only", "mad", *["--only", "selftest"] * with_golden]
        only += [word for pattern in PATTERNS for word in ("--case", pattern)]
        status, text = call(ROOT / "tools" / "gpu-check", "prepare", "--out", bundle, "--target", "cuda:shim", "--quick", "--bin", binaries,
                            "--golden", GOLDEN, "--golden", BESIDE, *only)
        assert status == 0, text
        manifest = json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))
        cases = [case["name"] for case in manifest["cases"]]
        assert len(cases) == 10 and not any("problem" in case for case in manifest["cases"]), text

        needs = {key: tuple(map(int, value.split("."))) for key, value in manifest["needs"].items()}
        assert needs and all(value <= OLDEST[key] for key, value in needs.items()), needs

        # The folder is all that travels: its own script runs it.
        # Another user runs it, whose key did not sign it.
        tests_driver = {"HYBRID_CUDA_DRIVER": driver, "HYBRID_CUBLASLT": driver, "HYBRID_CUDNN": driver, "HYBRID_CUFFT": driver, "XDG_CONFIG_HOME": str(folder / "config")}
        script = bundle / "tools" / "gpu-check"
        options = ["--out", results, "--peers", "none", "--rounds", "2", *only]
        status, text = call(script, "run", bundle, *options, environment=tests_driver)
        assert status == 0, text
        (path,) = results.glob("*.json")
        result = json.loads(path.read_text(encoding="utf-8"))
        rows = result["mad_step"] + result["op"]
        assert [row["case"] for row in rows] == cases and not result["failures"], text
        assert all(row["ms"] > 0 and row["floor_ms"] > 0 for row in rows), rows
        assert not with_golden or "4 passed, 0 failed" in result["selftest"]["summary"], result["selftest"]
        assert "| adamw | update |" in path.with_suffix(".md").read_text(encoding="utf-8")

        # Nothing is measured twice with --resume, and what is left out for time is named.
        status, text = call(script, "run", bundle, *options, "--resume", environment=tests_driver)
        assert status == 0 and "[1/" not in text, text
        status, text = call(script, "run", bundle, *options, "--limit-seconds", "0.001", environment=tests_driver)
        assert "left out for time" in text, text
        assert json.loads(path.read_text(encoding="utf-8"))["left_out"], text

        # What fails is told and the rest measured.
        (bundle / "hyx" / manifest["cases"][0]["file"]).write_bytes(b"no executable")
        status, text = call(script, "run", bundle, *options, environment=tests_driver)
        result = json.loads(path.read_text(encoding="utf-8"))
        assert status == 1 and len(result["failures"]) == 1 and len(result["op"]) == len(cases) - 1, text
        assert result["mad_step"][0]["ms"] is None and result["op"][-1]["ms"] > 0, text
    print("gpu-check: ok")


if __name__ == "__main__":
    main()
