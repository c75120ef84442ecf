"""A model's memory on a device, and programs that run there."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Mapping, Sequence
from typing import Final

from . import _library
from .arrays import Memory, Spec
from .errors import RunError
from .executable import Executable, Program

PARAMETER: Final = 0
GRADIENT: Final = 1
MOMENTS: Final = (2, 3)


class Session(_library.Owned):
    """Runs one program at a time; other threads wait. `threads` of the CPU, 0: all that this process may use."""

    def __init__(self, executable: Executable, threads: int = 0) -> None:
        device, handle = ctypes.c_void_p(), ctypes.c_void_p()
        _library.call("device_open", executable.device.encode(), threads, ctypes.byref(device))
        try:
            _library.call("session_create", executable.handle, device, ctypes.byref(handle))
        finally:
            _library.ask("device_close", device)
        super().__init__("session_close", handle, executable)
        self.executable, self.lock = executable, threading.RLock()
        self._addresses, self._sizes = (kind * len(executable.parameters) for kind in (ctypes.c_void_p, ctypes.c_size_t))

    def program(self, name: str) -> Program:
        try:
            return self.executable.programs[name]
        except KeyError:
            raise RunError(f"the model was compiled without program '{name}'; it has {', '.join(self.executable.programs)}") from None

    def initialize(self, seed: int) -> None:
        with self.lock:
            _library.call("session_initialize", self.handle, seed)

    def run(self, program: str, inputs: Mapping[str, Memory], outputs: Mapping[str, Memory]) -> None:
        """Inputs are read and outputs written where they lie. Sizes are checked by the library, shapes by who made the Memory."""
        with self.lock:
            _library.call("session_run", self.handle, program.encode(), tensors(inputs), len(inputs), tensors(outputs), len(outputs))

    def run_to_pause(self, program: str, inputs: Mapping[str, Memory], outputs: Mapping[str, Memory]) -> None:
        """The first part of a program that pauses. The inputs' memory stays as it is until the second part has run."""
        with self.lock:
            _library.call("session_run_to_pause", self.handle, program.encode(), tensors(inputs), len(inputs), tensors(outputs), len(outputs))

    def resume(self, program: str, inputs: Mapping[str, Memory], outputs: Mapping[str, Memory]) -> None:
        """The second part, of cotangents and gradients; refused when anything else ran in this session since the first."""
        with self.lock:
            _library.call("session_resume", self.handle, program.encode(), tensors(inputs), len(inputs), tensors(outputs), len(outputs))

    def read(self, index: int, memory: Memory, slot: int = PARAMETER) -> None:
        with self.lock:
            _library.call("slot_get", self.handle, slot, index, memory.address, memory.bytes)

    def write(self, index: int, memory: Memory, slot: int = PARAMETER) -> None:
        with self.lock:
            _library.call("slot_set", self.handle, slot, index, memory.address, memory.bytes)

    def read_all(self, addresses: Sequence[int], sizes: Sequence[int], slot: int = PARAMETER) -> None:
        """All parameters, in their order, to memory of these sizes in bytes; an address of 0 leaves one out."""
        with self.lock:
            _library.call("slots_get", self.handle, slot, self._addresses(*addresses), self._sizes(*sizes), len(addresses))

    def write_all(self, addresses: Sequence[int], sizes: Sequence[int], slot: int = PARAMETER) -> None:
        with self.lock:
            _library.call("slots_set", self.handle, slot, self._addresses(*addresses), self._sizes(*sizes), len(addresses))


def tensors(memories: Mapping[str, Memory]) -> ctypes.Array[_library.Tensor]:
    return (_library.Tensor * len(memories))(*(_library.Tensor(name.encode(), memory.address, memory.bytes) for name, memory in memories.items()))


def named(specs: tuple[Spec, ...]) -> str:
    return ", ".join(map(str, specs)) or "none"
