"""What the machine is, and what it can do at most."""

import json
import os
import pathlib
import platform
import re
import subprocess

from .processes import BENCHMARKS, ROOT, Failure

FLAGS = ("avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_bf16", "avx512_fp16", "avx512_vnni", "avx_vnni", "amx_bf16",
         "amx_tile", "asimd", "bf16", "sve")


def cpu_info():
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    return {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in text.splitlines())}


def device_name():
    model = cpu_info().get("model name") or platform.processor() or platform.machine()
    slug = re.sub(r"\((r|tm)\)|cpu|processor|@.*", " ", model.lower())
    return re.sub(r"[^a-z0-9]+", "-", slug).strip("-") or "unknown"


def caches():
    found = {}
    for folder in sorted(pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        read = lambda name: (folder / name).read_text().strip()
        try:
            if read("type") != "Instruction":
                found[f"L{read('level')}"] = f"{read('size')} for cores {read('shared_cpu_list')}"
        except OSError:
            continue
    return found


def describe(options):
    info = cpu_info()
    flags = set((info.get("flags") or info.get("Features") or "").split())
    probe = "import json, re, torch; c = torch.__config__.show(); print(json.dumps([torch.__version__, " \
            "(re.search(r'MKL-DNN v(\\S+)', c) or [0, None])[1], torch.backends.cpu.get_cpu_capability()]))"
    done = subprocess.run([str(options.python), "-c", probe], capture_output=True, text=True)
    torch, onednn, capability = json.loads(done.stdout) if done.returncode == 0 else (None, None, None)
    doctor = subprocess.run([str(options.bin / "hybrid-run"), "doctor"], capture_output=True, text=True).stdout
    ours = dict(re.findall(r"^(compiler|matrices|code level) +(.*)$", doctor, re.M))
    return {
        "cpu": info.get("model name") or platform.machine(), "cores": os.cpu_count(), "threads": options.threads, "cpu_time": options.cpu_time, "caches_of_a_core": caches(),
        "isa": [flag for flag in FLAGS if flag in flags],
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), "system": platform.platform(),
        "torch": torch, "torch_onednn": onednn, "torch_capability": capability,
        "compiler": ours.get("compiler"), "matrices": ours.get("matrices"), "code_level": ours.get("code level"),
    }


def ceilings():
    """Rates in FLOP/s and B/s by name, of one thread and of all; or why there are none."""
    folder = ROOT / "build-ceilings"
    try:
        for command in (["cmake", "-S", BENCHMARKS, "-B", folder, "-DCMAKE_BUILD_TYPE=Release"], ["cmake", "--build", folder]):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                raise Failure(f"{' '.join(map(str, command))} failed:\n{(done.stdout + done.stderr)[-2000:]}")
        output = subprocess.run([folder / "MachineCeilings", "--benchmark_format=json", "--benchmark_min_time=0.3"], capture_output=True, text=True,
                                check=True).stdout
    except (OSError, Failure, subprocess.CalledProcessError) as error:
        print(f"the ceilings are not measured: {error}", flush=True)
        return {"failure": str(error).splitlines()[0]}
    found = []
    for entry in json.loads(output)["benchmarks"]:
        name, *parts = entry["name"].split("/")
        found.append({"name": name, "kib_a_thread": next((int(p[4:]) for p in parts if p.startswith("KiB:")), None),
                      "threads": entry["threads"], "per_second": entry.get("flops") or entry.get("bytes"),
                      "unit": "FLOP" if "flops" in entry else "B"})
    return {"rows": found}
