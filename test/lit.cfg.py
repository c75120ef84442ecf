# How lit finds and runs the tests of the compiler and the command-line tools.
#
# A test is a .mlir, .hyb or .test file with RUN lines. It may use
#   hybridc, hybrid-opt, hybrid-run   the tools of this build
#   FileCheck, not, count, split-file LLVM's test tools
#   %models                           the folder models/ of the sources
#   %bin                              the folder of this build's tools
#   %include                          the folder of MLIR's headers and .td files
# and say "REQUIRES: FEATURE" with the features listed at the end of this file.

import os
import platform
import shutil
import subprocess
import sys

import lit.formats
from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

config.name = "hybrid"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".hyb", ".test"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))
config.test_exec_root = os.path.join(config.hybrid_binary_root, "test")

# Not lit tests: other runners own these folders. Inputs/ holds what tests read.
config.excludes = ["Inputs", "golden", "gradients", "properties", "unit", "fuzz", "CMakeLists.txt"]

# FileCheck takes --enable-var-scope everywhere, so that a variable captured in one function cannot
# satisfy a check in the next; --dump-input=fail shows the place when a check fails.
llvm_config.add_tool_substitutions(
    [
        ToolSubst("FileCheck", extra_args=["--enable-var-scope", "--dump-input=fail"]),
        "not",
        "count",
        "split-file",
    ],
    config.llvm_tools_dir,
)
llvm_config.add_tool_substitutions(
    [ToolSubst(tool, unresolved="ignore") for tool in ("hybridc", "hybrid-opt", "hybrid-run")],
    config.hybrid_tools_dir,
)
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%bin", config.hybrid_tools_dir))
config.substitutions.append(("%include", os.path.join(config.llvm_tools_dir, os.pardir, "include")))
config.substitutions.append(("%models", os.path.join(config.hybrid_source_root, "models")))

# One thread a test: lit already runs a test per core. Results and messages must not depend on the
# user's language or on a coloured terminal.
config.environment["OMP_NUM_THREADS"] = "1"
config.environment["LC_ALL"] = "C"
config.environment["NO_COLOR"] = "1"
# Compiled models are cached by content, and signed with a key; tests keep theirs inside the build folder.
config.environment["XDG_CACHE_HOME"] = os.path.join(config.hybrid_binary_root, "test", "cache")
config.environment["XDG_CONFIG_HOME"] = os.path.join(config.hybrid_binary_root, "test", "config")

config.available_features.add(platform.machine())
if shutil.which("dpkg-deb"):
    config.available_features.add("dpkg-deb")
try:
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as cpu:
        flags = next((line for line in cpu if line.startswith("flags")), "")
    config.available_features.update({"avx512_bf16"} & set(flags.split()))
except OSError:
    pass
for tool in ("hybridc", "hybrid-opt", "hybrid-run"):
    if os.path.exists(os.path.join(config.hybrid_tools_dir, tool)):
        config.available_features.add(tool)
# CUDA without a GPU: the runtime opens the tests' driver, for executables of --target=cuda:shim.
shim = os.path.join(config.hybrid_binary_root, "lib", "libhybrid-cuda-shim.so")
if os.path.exists(shim):
    config.available_features.add("cuda-shim")
    for library in ("HYBRID_CUDA_DRIVER", "HYBRID_CUBLASLT", "HYBRID_CUDNN", "HYBRID_CUFFT", "HYBRID_NCCL"):
        config.environment[library] = shim


def has_nvrtc():
    """Whether hybridc can compile for a GPU on this machine; needs the CUDA toolkit."""
    probe = [os.path.join(config.hybrid_tools_dir, "hybridc"), "-", "--target=cuda:sm_90a", "--emit=ptx"]
    text = "model double() {\n  input x: [B, L, 4]\n  output y = x * 2.0\n}\n"
    try:
        return subprocess.run(probe, input=text, capture_output=True, text=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


if has_nvrtc():
    config.available_features.add("nvrtc")
if config.hybrid_sanitize:
    config.available_features.add("sanitizer")


def cpu_flags():
    """The feature names the kernel lists for this CPU."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as info:
            for line in info:
                if line.startswith("flags"):
                    return line.split(":", 1)[1].split()
    except OSError:
        pass
    return []


for flag in ("avx2", "avx512f", "amx_bf16"):
    if flag in cpu_flags():
        config.available_features.add(flag)
