"""What a machine with a GPU is, and where its libraries are."""

import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys

# What hybrid-run opens, and the variable that names another file.
LIBRARIES = {"HYBRID_CUBLASLT": ("libcublasLt.so.13", "libcublasLt.so.12"), "HYBRID_CUDNN": ("libcudnn.so.9",),
             "HYBRID_CUFFT": ("libcufft.so.12", "libcufft.so.11")}


def slug(text):
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "unknown"


def nvidia_smi():
    """The first GPU, or nothing."""
    fields = ("name", "driver_version", "memory.total", "clocks.sm", "clocks.max.sm", "clocks.mem", "power.limit", "temperature.gpu")
    try:
        done = subprocess.run(["nvidia-smi", f"--query-gpu={','.join(fields)}", "--format=csv,noheader"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    lines = done.stdout.strip().splitlines()
    return dict(zip(fields, (value.strip() for value in lines[0].split(",")))) if done.returncode == 0 and lines else {}


def find_library(names, python):
    """A library that the loader does not find by its name: one that came with a Python package. Nothing when it does, or there is none."""
    for name in names:
        try:
            ctypes.CDLL(name)
            return None
        except OSError:
            continue
    probe = "import json, sys; print(json.dumps(sys.path))"
    done = subprocess.run([str(python), "-c", probe], capture_output=True, text=True)
    folders = json.loads(done.stdout) if done.returncode == 0 else sys.path
    for folder in filter(None, folders):
        for name in names:
            found = sorted(pathlib.Path(folder).glob(f"nvidia/**/{name}"))
            if found:
                return str(found[0])
    return None


def environment(bundle, python):
    """What hybrid-run needs of the environment here."""
    folders = [str(bundle / "lib"), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    found = {"LD_LIBRARY_PATH": ":".join(folders)}
    for variable, names in LIBRARIES.items():
        library = None if os.environ.get(variable) else find_library(names, python)
        if library:
            found[variable] = library
    return found


def describe(gpu):
    """`gpu`: of nvidia_smi(), which is empty with the tests' driver."""
    driver = os.environ.get("HYBRID_CUDA_DRIVER")
    name = gpu.get("name") or ("tests' driver" if driver else "unknown")
    return {"gpu": name, "driver": gpu.get("driver_version"), "memory": gpu.get("memory.total"), "state": gpu, "cores": os.cpu_count(),
            "chosen_driver": pathlib.Path(driver).name if driver else None, "system": " ".join(os.uname()[i] for i in (0, 2, 4))}
