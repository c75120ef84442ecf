"""runtime/hybrid.h by ctypes: types, functions, and a call that raises what a function refuses.

ctypes gives up the interpreter's lock while a function runs, so that other Python threads go on.
"""

from __future__ import annotations

import ctypes
import functools
from ctypes import POINTER, Structure, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint64, c_void_p
from typing import Any

from . import _files
from .errors import RunError

API_VERSION = 1


class TensorInfo(Structure):
    _fields_ = [("name", c_char_p), ("type", c_int), ("rank", c_size_t), ("shape", POINTER(c_int64)), ("bytes", c_size_t)]


class Tensor(Structure):
    """hybrid_tensor: the caller's memory of an input or output."""

    _fields_ = [("name", c_char_p), ("data", c_void_p), ("bytes", c_size_t)]


class Hyper(Structure):
    _fields_ = [(name, c_double) for name in ("learning_rate", "weight_decay", "beta1", "beta2", "epsilon", "clip")] + [("step", c_int64)]


HANDLE, HANDLE_OUT = c_void_p, POINTER(c_void_p)
INFO_OUT = POINTER(TensorInfo)
TENSORS = POINTER(Tensor)

# What a function takes, by what it gives. Those of FALLIBLE give an error's text or nothing.
FALLIBLE: dict[str, list[Any]] = {
    "executable_load": [c_char_p, HANDLE_OUT],
    "executable_load_trusted": [c_char_p, HANDLE_OUT],
    "parameter_info": [HANDLE, c_size_t, INFO_OUT],
    "input_info": [HANDLE, c_char_p, c_size_t, INFO_OUT],
    "output_info": [HANDLE, c_char_p, c_size_t, INFO_OUT],
    "device_open": [c_char_p, c_int, HANDLE_OUT],
    "session_create": [HANDLE, HANDLE, HANDLE_OUT],
    "session_initialize": [HANDLE, c_uint64],
    "slot_get": [HANDLE, c_int, c_size_t, c_void_p, c_size_t],
    "slot_set": [HANDLE, c_int, c_size_t, c_void_p, c_size_t],
    "slots_get": [HANDLE, c_int, POINTER(c_void_p), POINTER(c_size_t), c_size_t],
    "slots_set": [HANDLE, c_int, POINTER(c_void_p), POINTER(c_size_t), c_size_t],
    "session_run": [HANDLE, c_char_p, TENSORS, c_size_t, TENSORS, c_size_t],
    "session_run_to_pause": [HANDLE, c_char_p, TENSORS, c_size_t, TENSORS, c_size_t],
    "session_resume": [HANDLE, c_char_p, TENSORS, c_size_t, TENSORS, c_size_t],
    "session_train_step": [HANDLE, TENSORS, c_size_t, POINTER(Hyper), POINTER(c_double)],
    "decoder_create": [HANDLE, HANDLE_OUT],
    "decoder_take": [HANDLE, POINTER(c_int32), c_size_t],
    "decoder_logits": [HANDLE, c_size_t, POINTER(c_double)],
    "decoder_restart": [HANDLE],
    "decoder_remember": [HANDLE, c_size_t],
    "decoder_take_back": [HANDLE, c_size_t],
}
PLAIN: dict[str, tuple[list[Any], Any]] = {
    "api_version": ([], c_int),
    "error_free": ([c_void_p], None),
    "executable_close": ([HANDLE], None),
    "executable_device": ([HANDLE], c_char_p),
    "parameter_count": ([HANDLE], c_size_t),
    "parameter_is_trained": ([HANDLE, c_size_t], c_int),
    "program_count": ([HANDLE], c_size_t),
    "program_name": ([HANDLE, c_size_t], c_char_p),
    "program_pauses": ([HANDLE, c_char_p], c_int),
    "input_count": ([HANDLE, c_char_p], c_size_t),
    "output_count": ([HANDLE, c_char_p], c_size_t),
    "device_close": ([HANDLE], None),
    "session_close": ([HANDLE], None),
    "decoder_close": ([HANDLE], None),
    "decoder_rows": ([HANDLE], c_size_t),
    "decoder_vocabulary": ([HANDLE], c_size_t),
    "decoder_position": ([HANDLE], c_size_t),
}


@functools.cache
def library() -> ctypes.CDLL:
    """The runtime, opened once."""
    path = _files.runtime_library()
    opened = ctypes.CDLL(str(path))
    for name, arguments in FALLIBLE.items():
        function = getattr(opened, "hybrid_" + name)
        function.argtypes, function.restype = arguments, c_void_p
    for name, (arguments, result) in PLAIN.items():
        function = getattr(opened, "hybrid_" + name)
        function.argtypes, function.restype = arguments, result
    if (found := opened.hybrid_api_version()) != API_VERSION:
        raise RunError(f"{path} has version {found} of the C interface, expected {API_VERSION}: install package and library together")
    return opened


@functools.cache
def _function(name: str) -> Any:
    return getattr(library(), "hybrid_" + name)


def ask(name: str, *arguments: Any) -> Any:
    """What a function that cannot fail gives."""
    return _function(name)(*arguments)


def call(name: str, *arguments: Any) -> None:
    """Calls a function that can fail; raises RunError with its sentence."""
    error = _function(name)(*arguments)
    if error:
        text = ctypes.string_at(error).decode("utf-8", "replace")
        ask("error_free", error)
        raise RunError(text)


class Owned:
    """A handle of the library, closed with this object; `kept` is closed after it."""

    def __init__(self, close: str, handle: c_void_p, *kept: Owned) -> None:
        self._close, self.handle, self._kept = getattr(library(), "hybrid_" + close), handle, kept

    def __del__(self) -> None:
        if handle := getattr(self, "handle", None):
            self._close(handle)
