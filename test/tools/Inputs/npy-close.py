"""npy-close.py SHARE A.npy B.npy: no number of B is further from A's than this share of A's largest."""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "golden"))
import npy  # noqa: E402

share, (a, b) = float(sys.argv[1]), (npy.read_npy(path) for path in sys.argv[2:])
assert a.shape == b.shape and len(a.data) > 0, (a.shape, b.shape)
largest, worst = max(map(abs, a.data)), max(abs(x - y) for x, y in zip(a.data, b.data))
assert worst <= share * largest, f"{worst} apart, where the largest is {largest}"
