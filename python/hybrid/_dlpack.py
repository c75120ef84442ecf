"""DLPack (dlpack.h, version 0.8's unversioned capsules) by ctypes: reads any array's memory, and shows ours to others."""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p, py_object
from typing import Any

CPU = 1
INT, FLOAT, BFLOAT = 0, 2, 4


class _Device(Structure):
    _fields_ = [("type", c_int32), ("id", c_int32)]


class _DataType(Structure):
    _fields_ = [("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16)]


class _Tensor(Structure):
    _fields_ = [("data", c_void_p), ("device", _Device), ("rank", c_int32), ("dtype", _DataType), ("shape", POINTER(c_int64)),
                ("strides", POINTER(c_int64)), ("byte_offset", c_uint64)]


class _Managed(Structure):
    pass


_Deleter = CFUNCTYPE(None, POINTER(_Managed))
_Managed._fields_ = [("tensor", _Tensor), ("context", c_void_p), ("deleter", _Deleter)]
_Destructor = CFUNCTYPE(None, c_void_p)

_NAME = b"dltensor"  # must live as long as the capsules
_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.argtypes, _pointer_of.restype = [py_object, c_char_p], c_void_p
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.argtypes, _new_capsule.restype = [c_void_p, c_char_p, _Destructor], py_object
# In a destructor the capsule has no reference left: it goes by its address.
_is_valid_at = ctypes.pythonapi.PyCapsule_IsValid
_is_valid_at.argtypes, _is_valid_at.restype = [c_void_p, c_char_p], ctypes.c_int
_pointer_at = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


class View:
    """The memory of an array that has __dlpack__; `keeper` holds it."""

    def __init__(self, array: Any) -> None:
        device, _ = array.__dlpack_device__()
        if device != CPU:
            raise BufferError(f"is on DLPack's device {device}, expected {CPU}, the CPU")
        self.keeper = capsule = array.__dlpack__()
        tensor = ctypes.cast(_pointer_of(capsule, _NAME), POINTER(_Managed)).contents.tensor
        self.shape = tuple(tensor.shape[i] for i in range(tensor.rank))
        self.dtype = (tensor.dtype.code, tensor.dtype.bits)
        self.address = (tensor.data or 0) + tensor.byte_offset
        strides = [tensor.strides[i] for i in range(tensor.rank)] if tensor.strides else None
        self.is_dense = strides is None or is_dense(self.shape, strides)


def is_dense(shape: tuple[int, ...], strides: list[int]) -> bool:
    """Whether elements lie row by row without gaps; strides count elements."""
    step = 1
    for size, stride in zip(reversed(shape), reversed(strides)):
        if size != 1 and stride != step:
            return 0 in shape
        step *= size
    return True


_shown: dict[int, tuple[Any, ...]] = {}  # what capsules show, by the address of their record


def _forget(managed: Any) -> None:
    _shown.pop(ctypes.addressof(managed.contents), None)


def _unused(capsule: int) -> None:
    """Of a capsule that nobody took over."""
    if _is_valid_at(capsule, _NAME):
        _shown.pop(_pointer_at(capsule, _NAME), None)


_forget_function, _unused_function = _Deleter(_forget), _Destructor(_unused)  # must live as long as the capsules


def show(owner: Any, address: int, shape: tuple[int, ...], dtype: tuple[int, int]) -> Any:
    """A capsule of the owner's memory, which it keeps."""
    sizes = (c_int64 * max(1, len(shape)))(*shape)
    managed = _Managed()
    managed.tensor = _Tensor(address, _Device(CPU, 0), len(shape), _DataType(*dtype, 1), sizes, None, 0)
    managed.deleter = _forget_function
    where = ctypes.addressof(managed)
    _shown[where] = (managed, sizes, owner)
    return _new_capsule(where, _NAME, _unused_function)
