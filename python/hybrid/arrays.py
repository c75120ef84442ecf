"""Arrays in and out: what a program is given is read where it lies, what it gives can be read by any library."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, Union

from . import _dlpack
from .errors import ArrayError

# By the number that hybrid.h gives them: name, DLPack's code and bits, the letter of `struct` (bf16 has none).
_TYPES = [("f32", (_dlpack.FLOAT, 32), "f"), ("f64", (_dlpack.FLOAT, 64), "d"), ("i32", (_dlpack.INT, 32), "i"), ("bf16", (_dlpack.BFLOAT, 16), "")]
_DLPACK = {name: code for name, code, _ in _TYPES}
_LETTER: dict[str, Any] = {name: letter for name, _, letter in _TYPES}
_NAMED = {code: name for name, code, _ in _TYPES}


class SupportsDLPack(Protocol):
    def __dlpack__(self, *, stream: Any = None) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...


ArrayLike = Union[SupportsDLPack, memoryview, bytes, bytearray, Any]


@dataclass(frozen=True)
class Spec:
    """Name, shape and dtype ("f32", "f64", "i32", "bf16") of an input, output or parameter."""

    name: str
    shape: tuple[int, ...]
    dtype: str

    @cached_property
    def elements(self) -> int:
        return math.prod(self.shape)

    @cached_property
    def bytes(self) -> int:
        return self.elements * _DLPACK[self.dtype][1] // 8

    @property
    def is_float(self) -> bool:
        return self.dtype != "i32"

    def __str__(self) -> str:
        return f"'{self.name}' {self.dtype} {list(self.shape)}"


class Memory:
    """Where the elements of an array lie: read or written by a program, and kept alive meanwhile."""

    __slots__ = ("address", "bytes", "keeper")

    def __init__(self, address: int, size: int, keeper: Any) -> None:
        self.address, self.bytes, self.keeper = address, size, keeper


def type_name(code: int) -> str:
    return _TYPES[code][0]


def _letters(code: int, bits: int) -> str:
    return _NAMED.get((code, bits), {0: "int", 1: "uint", 2: "float", 4: "bfloat", 6: "bool"}.get(code, "type") + str(bits))


def memory_of(array: ArrayLike, spec: Spec, what: str) -> Memory:
    """The memory of an array, or of nested lists of numbers, that has the spec's shape and dtype. What lies in another order is copied; another
    shape or dtype is refused."""
    if isinstance(array, (int, float, list, tuple)):
        array = Array.of(array, spec)
    if hasattr(array, "__dlpack__"):
        try:
            view = _dlpack.View(array)
        except (BufferError, RuntimeError, TypeError) as error:
            raise ArrayError(f"{what} {spec}: the array cannot be read: {error}") from error
        found = _letters(*view.dtype)
        _expect(view.shape, found, spec, what)
        if view.is_dense:
            return Memory(view.address, spec.bytes, (array, view))
        return memory_of(_dense(array, spec, what), spec, what)
    try:
        buffer = memoryview(array)
    except TypeError:
        raise ArrayError(f"{what} {spec}: {type(array).__name__} is no array: expected one with __dlpack__ or a buffer, or lists of numbers") from None
    letter = {"l": "i", "L": "I"}.get(buffer.format, buffer.format) if buffer.itemsize == 4 else buffer.format
    _expect(buffer.shape, next((name for name, of in _LETTER.items() if of == letter), letter), spec, what)
    if not buffer.c_contiguous:
        return memory_of(memoryview(buffer.tobytes()).cast(_LETTER[spec.dtype], spec.shape), spec, what)
    if not buffer.readonly:
        held = (ctypes.c_char * buffer.nbytes).from_buffer(buffer)
    else:
        held = ctypes.create_string_buffer(buffer.tobytes(), buffer.nbytes)
    return Memory(ctypes.addressof(held), spec.bytes, (array, held))


def _expect(shape: Sequence[int] | None, dtype: str, spec: Spec, what: str) -> None:
    if tuple(shape or ()) != spec.shape or dtype != spec.dtype:
        raise ArrayError(f"{what} {spec}: the array given is {dtype} {list(shape or ())}")


def _dense(array: Any, spec: Spec, what: str) -> Any:
    """The same elements, row by row."""
    for method in ("contiguous", "copy"):  # torch, numpy
        if hasattr(array, method):
            return getattr(array, method)()
    raise ArrayError(f"{what} {spec}: the array's elements do not lie row by row: make a copy of it that does")


class Array:
    """An array that a program gave: it has __dlpack__ (torch.from_dlpack, numpy.from_dlpack), numpy's array interface, and `memory`, a memoryview
    of its shape."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self._bytes = ctypes.create_string_buffer(max(1, spec.bytes))

    @classmethod
    def of(cls, numbers: Any, spec: Spec) -> Array:
        """Of nested lists of numbers, which have the spec's shape."""
        result = cls(spec)
        flat: list[Any] = []

        def walk(part: Any, shape: tuple[int, ...]) -> None:
            if not shape:
                flat.append(part)
                return
            if not isinstance(part, (list, tuple)) or len(part) != shape[0]:
                raise ArrayError(f"{spec}: the numbers given have another shape")
            for each in part:
                walk(each, shape[1:])

        walk(numbers, spec.shape)
        if spec.dtype not in _C_TYPES:
            raise ArrayError(f"{spec}: numbers of {spec.dtype} come as arrays only")
        try:
            (_C_TYPES[spec.dtype] * len(flat)).from_buffer(result._bytes)[:] = flat
        except TypeError as error:
            raise ArrayError(f"{spec}: {error}") from error
        return result

    @property
    def shape(self) -> tuple[int, ...]:
        return self.spec.shape

    @property
    def dtype(self) -> str:
        return self.spec.dtype

    @property
    def address(self) -> int:
        return ctypes.addressof(self._bytes)

    @property
    def memory(self) -> memoryview[Any]:
        flat: memoryview[Any] = memoryview(self._bytes).cast("B")[: self.spec.bytes]
        letter = _LETTER[self.dtype]
        if not letter:
            return flat
        return flat.cast(letter, self.shape) if self.shape and 0 not in self.shape else flat.cast(letter)

    def tolist(self) -> Any:
        """Nested lists; a number where there is no dimension."""
        numbers = self.memory.tolist()
        return numbers if self.shape else numbers[0]

    def __dlpack__(self, *, stream: Any = None, **_: Any) -> Any:
        return _dlpack.show(self, self.address, self.shape, _DLPACK[self.dtype])

    def __dlpack_device__(self) -> tuple[int, int]:
        return (_dlpack.CPU, 0)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        letter = {"f32": "<f4", "f64": "<f8", "i32": "<i4", "bf16": "<u2"}[self.dtype]
        return {"version": 3, "shape": self.shape, "typestr": letter, "data": (self.address, False)}

    def __repr__(self) -> str:
        return f"Array({self.spec})"


_C_TYPES: dict[str, Any] = {"f32": ctypes.c_float, "f64": ctypes.c_double, "i32": ctypes.c_int32}
