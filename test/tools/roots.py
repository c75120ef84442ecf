#!/usr/bin/env python3
"""Runs a bundle of tools/gpu-check where there is nothing but a C and C++ library: roots.py BIN DRIVER [--suites NAMES].

A root is a folder with the libraries that the bundle leaves to the system, of this system, or with --suites of other
releases of Debian, whose packages apt fetches ("bullseye,trixie"). There `doctor` and a model run, on the tests' CUDA
driver. A root whose C library is older than what the bundle says it needs must be refused by the loader: then the
bundle does need it. Where this user may not change roots nothing is tried, and the last line says so.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "benchmarks"))
from suite import gpu_bundle  # noqa: E402

PACKAGES = ("libc6", "libstdc++6", "libgcc-s1")
LOADER = "/lib64/ld-linux-x86-64.so.2"
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
UNSHARE = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--user", "--map-root-user"]
MIRROR = os.environ.get("HYBRID_TEST_MIRROR", "http://deb.debian.org/debian")


def call(*words, check=True, **options):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, stdin=subprocess.DEVNULL, **options)
    assert done.returncode == 0 or not check, f"{words}: exit status {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def linked(path, environment=None):
    """The shared libraries of a file: name -> place."""
    return dict(re.findall(r"^\s*(\S+) => (/\S+)", call("ldd", path, env={**os.environ, **(environment or {})}).stdout, re.M))


def copy_libraries(places, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, place in places.items():
        shutil.copy2(os.path.realpath(place), folder / name)


def system_root(bundle, driver, root):
    """The libraries of this system."""
    places = {**linked(bundle / "bin/hybrid-run"), **linked(driver)}
    copy_libraries({name: place for name, place in places.items() if gpu_bundle.SYSTEM_LIBRARIES.match(name)}, root / "lib/x86_64-linux-gnu")
    copy_libraries({pathlib.Path(LOADER).name: LOADER}, root / "lib64")


def suite_root(suite, scratch, root):
    """Those of a release of Debian."""
    apt = scratch / suite
    for folder in ("parts", "lists/partial", "cache/archives/partial"):
        (apt / folder).mkdir(parents=True)
    (apt / "parts/suite.sources").write_text(f"Types: deb\nURIs: {MIRROR}\nSuites: {suite}\nComponents: main\nSigned-By: {KEYS}\n", encoding="utf-8")
    options = [word for setting in ("Dir::Etc::sourcelist=/dev/null", f"Dir::Etc::sourceparts={apt}/parts", f"Dir::State::lists={apt}/lists",
                                    "Dir::State::status=/dev/null", f"Dir::Cache={apt}/cache", "Acquire::Languages=none") for word in ("-o", setting)]
    call("apt-get", *options, "update")
    call("apt-get", *options, "download", *PACKAGES, cwd=apt)
    for package in apt.glob("*.deb"):
        call("dpkg-deb", "-x", package, root)
    if not (root / "lib64").exists():  # where all is below /usr
        for name in ("lib", "lib64"):
            (root / name).symlink_to(f"usr/{name}")


def glibc(root):
    """The version of a root's C library."""
    text = next((root / "lib/x86_64-linux-gnu").glob("libc.so.6")).read_bytes()
    return tuple(map(int, re.search(rb"stable release version (\d+)\.(\d+)", text).groups()))


def fill(root, bundle, driver):
    """The bundle, and the tests' driver with what it links, which stands for a GPU's."""
    shutil.copytree(bundle, root / "bundle")
    shutil.copytree(bundle / "lib", root / "driver")
    copy_libraries({name: place for name, place in linked(driver).items() if not gpu_bundle.SYSTEM_LIBRARIES.match(name)}, root / "driver")
    shutil.copy2(driver, root / "driver/driver.so")
    for name in ("tmp", "proc"):
        (root / name).mkdir(exist_ok=True)


def run(root, *words):
    """A command of the bundle with `root` as its root, and /proc, in which Linux shows programs to themselves."""
    enter = [*UNSHARE, "sh", "-c", 'mount --rbind /proc "$0/proc" && exec chroot "$0" "$@"', root]
    environment = {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": "/bundle/lib:/driver", "HOME": "/tmp",
                   **dict.fromkeys(("HYBRID_CUDA_DRIVER", "HYBRID_CUBLASLT", "HYBRID_CUDNN", "HYBRID_CUFFT"), "/driver/driver.so")}
    return call(*enter, "/bundle/bin/hybrid-run", *words, check=False, env=environment)


def check(root, manifest, model):
    needed, have = gpu_bundle.version(manifest["needs"]["GLIBC"]), glibc(root)
    done = run(root, "doctor", "--json")
    if have < needed:
        assert done.returncode and re.search(r"version `GLIBC_[\d.]+' not found", done.stderr), done
        return f"glibc {have[0]}.{have[1]}: refused, as the bundle says"
    assert done.returncode == 0 and json.loads(done.stdout)["cuda"]["devices"], done
    done = run(root, "bench", f"/bundle/hyx/{model['file']}", "--program", model["program"], "--steps", "1", "--warmup", "0", "--trust", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["ms_per_step"] > 0, done
    return f"glibc {have[0]}.{have[1]}: runs"


def main():
    binaries, driver = map(pathlib.Path, sys.argv[1:3])
    suites = sys.argv[4].split(",") if sys.argv[3:4] == ["--suites"] else []
    if call(*UNSHARE, "chroot", "/", "true", check=False).returncode:
        print("roots: this user may not change roots: nothing tried")
        return
    with tempfile.TemporaryDirectory(prefix="roots-test-") as name:
        folder = pathlib.Path(name)
        bundle = folder / "bundle"
        call(sys.executable, ROOT / "tools/gpu-check", "prepare", "--out", bundle, "--target", "cuda:shim", "--quick", "--bin", binaries, "--only", "ops",
             "--case", "rmsnorm-*")
        manifest = json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))
        for suite in [None, *suites]:
            root = folder / f"root-{suite}"
            root.mkdir()
            if suite:
                suite_root(suite, folder, root)
            else:
                system_root(bundle, driver, root)
            fill(root, bundle, driver)
            print(f"{suite or 'this system'}, {check(root, manifest, manifest['cases'][0])}", flush=True)


if __name__ == "__main__":
    main()
