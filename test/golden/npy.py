"""Reads and writes .npy and .safetensors with the standard library alone.

The golden runner must work on a machine that has no numpy, and it must not share code with what it
tests: both formats are small enough to write out here.
"""

import array
import ast
import json
import math
import struct
import sys

# dtype in .npy -> (array typecode, name in safetensors)
_TYPES = {"<f4": ("f", "F32"), "<f8": ("d", "F64"), "<i4": ("i", "I32"), "<i8": ("q", "I64")}
_NPY_NAMES = {code: name for name, (code, _) in _TYPES.items()}
_SAFETENSORS_NAMES = {code: name for code, name in _TYPES.values()}


class Tensor:
    """A dense row-major array: `shape` (a tuple) and `data` (an array.array)."""

    def __init__(self, shape, data):
        self.shape = tuple(shape)
        self.data = data
        if math.prod(self.shape) != len(data):
            raise ValueError(f"{len(data)} values do not fill the shape {list(self.shape)}")

    @property
    def is_float(self):
        return self.data.typecode in "fd"

    def astype(self, typecode):
        if self.data.typecode == typecode:
            return self
        return Tensor(self.shape, array.array(typecode, self.data))

    def rounded_to_bf16(self):
        """To the nearest numbers of 8 bits, ties to even."""
        words = array.array("I", array.array("f", self.data).tobytes())
        words = array.array("I", ((w + 0x7fff + (w >> 16 & 1)) & 0xffff0000 for w in words))
        return Tensor(self.shape, array.array("f", words.tobytes()))

    def reshape(self, shape):
        return Tensor(shape, self.data)

    def transpose(self, axes):
        """Dimension i of the result is dimension axes[i] of this tensor."""
        strides = [math.prod(self.shape[i + 1:]) for i in range(len(self.shape))]
        shape = [self.shape[axis] for axis in axes]
        offsets = [0]
        for size, axis in zip(shape, axes):
            step = strides[axis]
            offsets = [base + i * step for base in offsets for i in range(size)]
        return Tensor(shape, array.array(self.data.typecode, (self.data[i] for i in offsets)))

    def reverse(self, axis):
        """The order along one axis turned round."""
        inner = math.prod(self.shape[axis + 1:])
        extent = self.shape[axis]
        data = array.array(self.data.typecode)
        for start in range(0, len(self.data), extent * inner):
            for i in reversed(range(extent)):
                data.extend(self.data[start + i * inner:start + (i + 1) * inner])
        return Tensor(self.shape, data)

    def rows(self, begin, end):
        """The slice [begin, end) of the first dimension."""
        width = math.prod(self.shape[1:])
        if not 0 <= begin <= end <= self.shape[0]:
            raise ValueError(f"rows {begin}:{end} of a tensor of shape {list(self.shape)}")
        return Tensor((end - begin,) + self.shape[1:], self.data[begin * width:end * width])


def concatenate(tensors):
    """Joins tensors along the first dimension."""
    data = array.array(tensors[0].data.typecode)
    for tensor in tensors:
        data.extend(tensor.data)
    return Tensor((sum(t.shape[0] for t in tensors),) + tensors[0].shape[1:], data)


def _to_array(typecode, raw):
    data = array.array(typecode)
    data.frombytes(raw)
    if sys.byteorder == "big":
        data.byteswap()
    return data


def _to_bytes(data):
    if sys.byteorder == "little":
        return data.tobytes()
    swapped = array.array(data.typecode, data)
    swapped.byteswap()
    return swapped.tobytes()


def read_npy(path):
    with open(path, "rb") as file:
        raw = file.read()
    if raw[:6] != b"\x93NUMPY":
        raise ValueError(f"{path}: not an npy file")
    if raw[6] == 1:
        (length,), start = struct.unpack("<H", raw[8:10]), 10
    else:
        (length,), start = struct.unpack("<I", raw[8:12]), 12
    header = ast.literal_eval(raw[start:start + length].decode("latin1"))
    dtype = header["descr"].replace("|", "<").replace("=", "<")
    if dtype not in _TYPES or header["fortran_order"]:
        raise ValueError(f"{path}: unexpected layout {header}")
    return Tensor(header["shape"], _to_array(_TYPES[dtype][0], raw[start + length:]))


def write_npy(path, tensor):
    shape = "(" + "".join(f"{size}, " for size in tensor.shape).rstrip() + ")"
    header = (f"{{'descr': '{_NPY_NAMES[tensor.data.typecode]}', 'fortran_order': False, "
              f"'shape': {shape}, }}")
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode("latin1"))
        file.write(_to_bytes(tensor.data))


def write_safetensors(path, tensors):
    """Writes a dictionary of name -> Tensor."""
    header, blobs, offset = {}, [], 0
    for name, tensor in tensors.items():
        blob = _to_bytes(tensor.data)
        header[name] = {
            "dtype": _SAFETENSORS_NAMES[tensor.data.typecode],
            "shape": list(tensor.shape),
            "data_offsets": [offset, offset + len(blob)],
        }
        offset += len(blob)
        blobs.append(blob)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def read_safetensors(path):
    with open(path, "rb") as file:
        raw = file.read()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8:8 + length])
    codes = {name: code for code, name in _SAFETENSORS_NAMES.items()}
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        data = raw[8 + length + begin:8 + length + end]
        tensors[name] = Tensor(entry["shape"], _to_array(codes[entry["dtype"]], data))
    return tensors
