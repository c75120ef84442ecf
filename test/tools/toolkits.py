#!/usr/bin/env python3
"""Which toolkit compiled a model, and which drivers load it: toolkits.py BIN DRIVER.

By the NVRTC that hybridc finds, and by one of CUDA 12 where Python has the package nvidia-cuda-nvrtc-cu12; run by the
tests' CUDA driver, which says that it is of the version in HYBRID_SHIM_CUDA.
"""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MODEL = [ROOT / "models/mad/hyena-swiglu.hyb", "--batch=2", "--length=32"]


def cuda_12():
    """NVRTC of CUDA 12, from Python's package; nothing where it is not installed."""
    try:
        found = importlib.util.find_spec("nvidia.cuda_nvrtc")
    except ModuleNotFoundError:
        return None
    places = found.submodule_search_locations if found else []
    return next((path for place in places for path in pathlib.Path(place).glob("lib/libnvrtc.so.12")), None)


def call(*words, status=0, **environment):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, env={**os.environ, **environment})
    assert done.returncode == status, f"{words}: exit status {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr if status else done.stdout


def check(binaries, driver, folder, environment):
    """Compiles with one toolkit, and runs with drivers on both sides of what it needs."""
    hybridc, run = binaries / "hybridc", binaries / "hybrid-run"
    toolkit = json.loads(call(hybridc, "--toolkit", **environment))
    major = toolkit["version"] // 1000
    assert toolkit["least_driver"] == 1000 * major, toolkit

    # The targets there are without being asked for.
    model = folder / f"default-{major}.hyx"
    call(hybridc, *MODEL, "--target=cuda", "-o", model, **environment)
    images = json.loads(call(run, "info", "--json", model))["images"]
    expected = ["sm_80", "sm_90a", "compute_90"] + ["sm_100a"] * ("sm_100" in toolkit["architectures"])
    assert [image["architecture"] for image in images] == expected, images
    assert all(image["toolkit"] == toolkit["nvrtc"] for image in images), images
    for image in images:
        least = toolkit["nvrtc"] if image["architecture"].startswith("compute_") else f"{major}.0"
        assert image["driver"].startswith(f"CUDA {least}"), image

    # PTX, which the tests' driver runs, needs a driver that is no older than the toolkit.
    model = folder / f"ptx-{major}.hyx"
    call(hybridc, *MODEL, "--target=cuda:compute_90", "-o", model, **environment)
    shim = dict(environment, HYBRID_CUDA_DRIVER=driver, HYBRID_CUBLASLT=driver, HYBRID_CUDNN=driver, HYBRID_CUFFT=driver, HYBRID_SHIM_DEVICE="9.0")
    bench = [run, "bench", model, "--steps", "1", "--warmup", "0"]
    call(*bench, **shim, HYBRID_SHIM_CUDA=str(toolkit["version"]))
    text = call(*bench, status=1, **shim, HYBRID_SHIM_CUDA="11080")
    assert f"was made by the toolkit of CUDA {toolkit['nvrtc']} and needs a driver of CUDA {toolkit['nvrtc']}" in text, text
    assert "this one is of CUDA 11.8" in text and "update the driver" in text, text

    # The doctor compares them before anything is compiled.
    old = json.loads(call(run, "doctor", "--json", **shim, HYBRID_SHIM_CUDA="11080"))
    assert not any(target.startswith("cuda") for target in old["runs"]) and "cuda" in old["compiles_for"], old
    assert any("update the driver" in advice for advice in old["advice"]), old
    last = call(run, "doctor", **shim, HYBRID_SHIM_CUDA="11080").splitlines()[-1]
    assert last.startswith("this machine runs cpu:") and f"a driver of CUDA {major}.0" in last, last
    new = call(run, "doctor", **shim, HYBRID_SHIM_CUDA=str(toolkit["least_driver"])).splitlines()[-1]
    assert new.startswith("this machine runs cpu:") and "and cuda:sm_90a and compiles for cpu and cuda" in new, new
    print(f"toolkit of CUDA {toolkit['nvrtc']}: ok")


def main():
    binaries, driver = pathlib.Path(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory(prefix="toolkits-") as name:
        folder = pathlib.Path(name)
        check(binaries, driver, folder, {})
        if library := cuda_12():
            check(binaries, driver, folder, {"HYBRID_NVRTC": str(library)})
        else:
            print("toolkit of CUDA 12: nvidia-cuda-nvrtc-cu12 is not installed: not tried")
        text = call(binaries / "hybridc", *MODEL, "--target=cuda", "-o", folder / "no.hyx", status=1, HYBRID_NVRTC=str(folder / "libnvrtc.so"))
        assert f"HYBRID_NVRTC: {folder / 'libnvrtc.so'}: cannot open" in text, text


if __name__ == "__main__":
    main()
