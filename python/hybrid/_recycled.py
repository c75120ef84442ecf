"""Tensors in memory that is used again.

What malloc asks of the system for a large tensor it gives back when the tensor goes, and the next one's pages are mapped and cleared anew as they are first
written: for 2 MiB that takes longer than to copy them."""

from __future__ import annotations

import ctypes
import mmap
from collections import Counter
from collections.abc import Iterable
from typing import Any

import torch

_LEAST = 128 * 1024  # what malloc maps by itself


def _end(lease: Any) -> None:
    if len(lease.free) < lease.most:
        lease.free.append(lease.memory)


class Recycled:
    """Memory for tensors of the sizes that a program writes; as much is kept free as these take together."""

    def __init__(self, sizes: Iterable[int]) -> None:
        # A tensor keeps the lease that it was made of, and with its end the memory is free.
        self._leases: dict[int, Any] = {
            size: type("Lease", (ctypes.c_char * size,), {"__del__": _end, "free": [], "most": count})
            for size, count in Counter(size for size in sizes if size >= _LEAST).items()}

    def __del__(self) -> None:
        for kind in self._leases.values():  # classes wait for the garbage collector
            kind.most = 0
            kind.free.clear()

    def empty(self, shape: tuple[int, ...], dtype: torch.dtype, size: int) -> torch.Tensor:
        """As torch.empty; `size` in bytes."""
        kind = self._leases.get(size)
        if kind is None:
            return torch.empty(shape, dtype=dtype)
        try:
            memory = kind.free.pop()
        except IndexError:
            memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        lease = kind.from_buffer(memory)
        lease.memory = memory
        return torch.frombuffer(lease, dtype=dtype).view(shape).detach()
