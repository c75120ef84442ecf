"""The wheel in a root that has Python, its libraries and nothing else: no shell, no compiler, no linker, no LLVM. Installs it there with pip, runs the notebook
and, with a PyTorch, the training loop, and says how long each took. Run by tools/wheel --test.

usage: bare_root.py WHEEL PYTHON [TORCH]

PYTHON is the interpreter that the root gets. TORCH is what its user has downloaded: a folder of PyTorch's wheels, installed there by pip, or the folder of
packages of an environment of PYTHON's version, which is mounted. Needs unshare, and user namespaces where one is not root.
"""

import ctypes
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What every system that a manylinux wheel is for has: all of the C library, and these.
MANYLINUX = ("libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libutil.so.1", "libstdc++.so.6", "libgcc_s.so.1", "libz.so.1")
TESTS = ("docs/notebooks/swap-a-mixer.ipynb", "test/python/notebook.py", "test/python/support.py", "test/python/train_mixer.py", "test/golden/npy.py")
ABOUT = """
import json, os, sys, sysconfig
print(json.dumps({"program": os.path.realpath(getattr(sys, "_base_executable", sys.executable)), "library": sysconfig.get_path("stdlib"), "folder": sys.platlibdir}))
"""


def put(root, file, to=None):
    """A file at its own place of the root, or at another."""
    place = root / str(to or file).lstrip("/")
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(file, place)


def libraries(files):
    """What the loader finds for programs and libraries: {name: path}."""
    found = {}
    for file in files:
        for line in subprocess.run(["ldd", file], capture_output=True, text=True, check=False).stdout.splitlines():
            name, arrow, rest = line.strip().partition(" => ")
            path = (rest if arrow else name).rpartition(" (")[0]
            if path.startswith("/"):
                found[name if arrow else path] = path
    return found


def loaded(name):
    """Where a library of the system is."""
    ctypes.CDLL(name)
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return next(word for line in maps for word in line.split()[5:] if os.path.basename(word).startswith(name))


def make(root, python):
    about = json.loads(subprocess.run([python, "-c", ABOUT], capture_output=True, text=True, check=True).stdout)
    library = pathlib.Path(about["library"])
    outside = shutil.ignore_patterns("site-packages", "dist-packages", "test", "config-*", "sitecustomize.py", "_tkinter*")
    copied = root / "usr" / about["folder"] / library.name
    shutil.copytree(library, copied, ignore=outside, ignore_dangling_symlinks=True)
    put(root, about["program"], "/usr/bin/python3")
    if (wheels := pathlib.Path("/usr/share/python-wheels")).is_dir():  # where Debian has what ensurepip installs
        shutil.copytree(wheels, root / "usr/share/python-wheels")
    needed = libraries([about["program"], *copied.glob("lib-dynload/*.so")])
    needed.update((name, loaded(name)) for name in MANYLINUX)
    needed.update(libraries(needed.values()))
    folder = os.path.dirname(needed["libc.so.6"])
    for name, path in needed.items():
        put(root, path, path if name == path else f"{folder}/{name}")
    for each in ("dev", "proc", "tmp", "root", "torch"):
        (root / each).mkdir()
    for each in TESTS:
        put(root, ROOT / each, f"/work/{each}")


class Inside:
    def __init__(self, root):
        self.root, self.start = root, time.monotonic()
        self.chroot = shutil.which("chroot", path=os.environ["PATH"] + ":/usr/sbin:/sbin")

    def run(self, what, *words, **environment):
        begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([self.chroot, self.root, *words], check=False, stdin=subprocess.DEVNULL,
                              env={"PATH": "/usr/bin", "HOME": "/root", "LC_ALL": "C.UTF-8", **environment})
        if done.returncode:
            sys.exit(f"bare_root.py: {what} failed with status {done.returncode}")
        now, after = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        own = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"bare root: {what}: {now - begin:.1f} s, {now - self.start:.1f} s since the start; {own:.1f} s of its own time", flush=True)


def main():
    wheel, python, *torch = sys.argv[1:]
    if os.environ.get("HYBRID_BARE_ROOT") != "inside":  # mounts go with the namespace
        namespaces = ["--mount"] + ([] if os.geteuid() == 0 else ["--user", "--map-root-user"])
        os.execvpe("unshare", ["unshare", *namespaces, sys.executable, *sys.argv], {**os.environ, "HYBRID_BARE_ROOT": "inside"})
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        make(root, python)
        put(root, wheel, f"/work/{os.path.basename(wheel)}")
        downloaded = torch and any(pathlib.Path(torch[0]).glob("torch-*.whl"))
        mounts = [("/proc", "proc"), ("/dev", "dev"), *((path, "torch") for path in torch)]
        for path, place in mounts:
            subprocess.run(["mount", "--rbind", path, root / place], check=True)
        try:
            use(Inside(root), os.path.basename(wheel), torch, downloaded)
        finally:
            for _, place in mounts:
                subprocess.run(["umount", "--lazy", root / place], check=True)


def use(inside, wheel, torch, downloaded):
    pip = ["/work/env/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
    inside.run("an environment", "/usr/bin/python3", "-m", "venv", "/work/env")
    if downloaded:
        inside.run("PyTorch installed", *pip, "--find-links", "/torch", "torch", "numpy")
    inside.start = time.monotonic()
    inside.run("the wheel installed", *pip, f"/work/{wheel}")
    inside.run("the notebook", "/work/env/bin/python", "/work/test/python/notebook.py")
    if torch:
        inside.run("a mixer trained in a loop of PyTorch", "/work/env/bin/python", "/work/test/python/train_mixer.py",
                   **({} if downloaded else {"PYTHONPATH": "/torch"}))


if __name__ == "__main__":
    main()
