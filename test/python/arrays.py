"""Arrays are read where they lie, and refused where they do not fit."""

import array
import ctypes
import gc
import unittest

import support  # noqa: F401

import hybrid
from hybrid import _dlpack
from hybrid.arrays import memory_of

SPEC = hybrid.Spec("x", (2, 3), "f32")


class Elsewhere:
    """An array on a GPU."""

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self):
        raise AssertionError("is not read")


class Strided:
    """The transpose of a 3 x 2 matrix; a contiguous copy of it is a buffer."""

    def __init__(self, with_copy):
        self.data = (ctypes.c_float * 6)(0, 3, 1, 4, 2, 5)
        if with_copy:
            self.copy = lambda: memoryview(array.array("f", [0, 1, 2, 3, 4, 5])).cast("B").cast("f", (2, 3))

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self):
        capsule = _dlpack.show(self, ctypes.addressof(self.data), (2, 3), (2, 32))
        managed = ctypes.cast(_dlpack._pointer_of(capsule, b"dltensor"), ctypes.POINTER(_dlpack._Managed)).contents
        self.strides = (ctypes.c_int64 * 2)(1, 2)
        managed.tensor.strides = self.strides
        return capsule


def numbers(memory):
    return list((ctypes.c_float * 6).from_address(memory.address))


class Arrays(unittest.TestCase):
    def test_a_buffer_is_read_where_it_lies(self):
        data = array.array("f", range(6))
        memory = memory_of(memoryview(data).cast("B").cast("f", (2, 3)), SPEC, "input")
        self.assertEqual(memory.address, data.buffer_info()[0])
        self.assertEqual(numbers(memory), [0, 1, 2, 3, 4, 5])

    def test_what_has_dlpack_is_read_where_it_lies(self):
        own = hybrid.Array.of([[0, 1, 2], [3, 4, 5]], SPEC)
        memory = memory_of(own, SPEC, "input")
        self.assertEqual(memory.address, own.address)
        self.assertEqual(numbers(memory), [0, 1, 2, 3, 4, 5])

    def test_what_lies_in_another_order_is_copied(self):
        self.assertEqual(numbers(memory_of(Strided(True), SPEC, "input")), [0, 1, 2, 3, 4, 5])
        with self.assertRaisesRegex(hybrid.ArrayError, "do not lie row by row"):
            memory_of(Strided(False), SPEC, "input")

    def test_other_devices_shapes_and_types_are_refused(self):
        for spec in (hybrid.Spec("x", (3, 2), "f32"), hybrid.Spec("x", (2, 3), "i32"), hybrid.Spec("x", (2, 3), "f64")):
            with self.assertRaisesRegex(hybrid.ArrayError, r"the array given is f32 \[2, 3\]"):
                memory_of(hybrid.Array(SPEC), spec, "input")
        with self.assertRaisesRegex(hybrid.ArrayError, "device 2, expected 1"):
            memory_of(Elsewhere(), SPEC, "input")

    def test_capsules_give_up_what_they_show(self):
        before = len(_dlpack._shown)
        own = hybrid.Array(SPEC)
        unused, read = own.__dlpack__(), _dlpack.View(own)
        self.assertEqual(len(_dlpack._shown), before + 2)
        del unused, read
        gc.collect()
        self.assertEqual(len(_dlpack._shown), before)

    def test_others_can_read_ours(self):
        own = hybrid.Array.of([[0, 1, 2], [3, 4, 5]], SPEC)
        view = _dlpack.View(own)
        self.assertEqual((view.shape, view.dtype, view.address, view.is_dense), ((2, 3), (2, 32), own.address, True))
        self.assertEqual(own.__array_interface__["data"], (own.address, False))
        self.assertEqual(own.memory.tolist(), [[0, 1, 2], [3, 4, 5]])

    def test_a_number_has_no_dimension(self):
        spec = hybrid.Spec("loss", (), "f64")
        self.assertEqual(hybrid.Array.of(2.5, spec).tolist(), 2.5)


if __name__ == "__main__":
    unittest.main()
