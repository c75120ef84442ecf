#!/usr/bin/env python3
"""Tests of the model of performance with numbers by hand: model.py ROOT."""

import pathlib
import sys
import tempfile
import types

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(sys.argv[1]).resolve() / "benchmarks"))
from suite import gpu_predict, prediction  # noqa: E402

H100 = prediction.device("h100")
MIB = 1 << 20


def step(**changes):
    """1320 blocks, 10 a multiprocessor, that read and write 1 MiB each."""
    sectors = MIB // 32
    block = {"fma": 0, "alu": 0, "fp64": 0, "xu": 0, "lsu": 0, "tensor": 0, "control": 0, "load_sectors": sectors, "store_sectors": sectors, "store_lines": sectors // 4,
             "sector_reaches": [0] * 48 + [sectors], "line_reaches": [0] * 48 + [sectors // 4],
             "load_requests": sectors // 16, "store_requests": sectors // 16, "shared_wavefronts": 0, "shared_requests": 0, "products": 0, "barriers": 0,
             "alone": [1000, 2000], "touched": [[sectors, 0], [0, sectors]], **changes}
    return {"kind": "kernel", "op": "copy", "location": "", "kernel": "copy", "grid": 1320, "threads": 256, "shared_bytes": 0, "registers": {"sm_90a": 32},
            "ptx_instructions": 100, "buffers": [[0, 0, 1320 * MIB], [0, 1320 * MIB, 1320 * MIB]], "blocks": [block]}


def near(value, expected):
    assert abs(value / expected - 1) < 1e-6, (value, expected)


def occupancy():
    of = lambda threads, registers, shared: prediction.occupancy({"threads": threads, "registers": {"sm_90a": registers}, "shared_bytes": shared}, H100)
    assert of(256, 32, 0) == 8  # 64 warps
    assert of(256, 128, 0) == 2  # 65536 registers, 4096 a warp
    assert of(256, 129, 0) == 1  # in units of 256 a warp: 4352
    assert of(32, 32, 0) == 32  # blocks
    assert of(128, 32, 100 << 10) == 2  # 228 KiB with 1 KiB a block that is the system's


def limits():
    sector_bound = prediction.kernel(step(), H100)
    assert sector_bound["limit"] == "dram"
    # All is read from memory; the last 80 % of 50 MiB that were written are still in the cache.
    near(sector_bound["dram_bytes"], 2 * 1320 * MIB)
    begin = H100["launch_us"] + H100["ramp_us"]
    near(sector_bound["us"], begin + 2 * 1320 * MIB / (3352 * 0.9) / 1e3)  # 64 warps: memory alone
    busy = prediction.kernel(step(fma=1_000_000), H100)
    # 10 blocks of the busiest multiprocessor, 4 instructions of warps a cycle for 128 lanes; issue would be 4 x 0.9.
    near(busy["times"]["fma"], 10 * 1_000_000 / 4 / 1830)
    near(busy["times"]["issue"], 10 * 1_000_000 / 4 / 0.9 / 1830)
    assert busy["limit"] == "issue"
    waiting = prediction.kernel(step(alone=[10_000_000, 20_000_000]), H100)
    assert waiting["limit"] == "latency" and waiting["resident"] == 8
    near(waiting["times"]["latency"], 2 * 20_000_000 / 1830)  # two rounds of 8, from memory
    mma = prediction.kernel(step(products=1_000_000), H100)
    near(mma["times"]["tensor"], 10 * 1_000_000 * 2048 / 1270 / 1830)
    group = prediction.kernel(step(products=1_000_000, group_products=1_000_000), H100)
    near(group["times"]["tensor"], 10 * 1_000_000 * 2048 * (1 / 1270 + 1 / 1950) / 1830)
    assert prediction.block_cycles(step(products=1_000)["blocks"][0], 1.0, prediction.device("a100"))["tensor"] == 1_000 * 2048 / 1024
    conflicts = prediction.kernel(step(shared_wavefronts=5_000_000), H100)
    near(conflicts["times"]["memory pipe"], 10 * (5_000_000 + 2 * (MIB // 32) / 4) / 1830)


def lines():
    """A sector of each line takes L2 as long as the whole line."""
    sectors = MIB // 32
    many = prediction.kernel(step(line_reaches=[0] * 48 + [sectors]), H100)
    near(many["times"]["l2 lines"], 1320 * (sectors + sectors / 4) / H100["l2_lines_ns"] / 1e3)
    near(many["times"]["l2"], prediction.kernel(step(), H100)["times"]["l2"])


def what_l1_keeps():
    reaches = [0] * 8 + [4, 80, 1000]  # 8 to 9 and 10 to 11 sectors ago, or longer
    assert [prediction.farther(reaches, kept) for kept in (0, 8, 9, 10, 10.5, 12, 99)] == [1084, 1084, 1082, 1080, 1060, 1000, 1000]
    # 31 KiB for each of 8 blocks: 992 sectors. Kind 35 is 896 to 1023 sectors ago.
    sectors = MIB // 32
    again = prediction.kernel(step(sector_reaches=[0] * 34 + [sectors] + [0] * 14), H100)
    near(again["times"]["l2"], 1320 * sectors * 32 / H100["l2_gbs"] / 1e3)
    part = prediction.kernel(step(sector_reaches=[0] * 35 + [sectors] + [0] * 13), H100)
    near(part["times"]["l2"], 1320 * sectors * (1 + (1024 - 992) / 128) * 32 / H100["l2_gbs"] / 1e3)


def scaled_by_machine_code():
    of = {**step(alu=1_000_000), "machine_instructions": {"sm_90a": 50}}
    near(prediction.kernel(of, H100)["times"]["alu"], 10 * 500_000 / 2 / 0.9 / 1830)
    of["machine_instructions"]["sm_90a"] = 200  # unrolled: no more than PTX says
    near(prediction.kernel(of, H100)["times"]["alu"], 10 * 1_000_000 / 2 / 0.9 / 1830)


def turns():
    """Units, memory and what waits for it, of few warps, take turns; a GPU begins blocks one after another."""
    begin = H100["launch_us"] + H100["ramp_us"]
    few = prediction.kernel({**step(fma=1_000_000), "shared_bytes": 100 << 10}, H100)  # 2 blocks: 16 warps of 40
    assert few["resident"] == 2 and H100["overlapping_warps"] == 40
    near(few["us"], begin + few["times"]["issue"] + (1 - 16 / 40) * (few["times"]["dram"] + few["times"]["latency"]))
    many = prediction.kernel(step(fma=1_000_000), H100)
    near(many["us"], begin + many["times"]["issue"])
    small = prediction.kernel({**step(load_sectors=0, store_sectors=0, store_lines=0, sector_reaches=[0] * 49, line_reaches=[0] * 49, load_requests=0, store_requests=0, touched=[[0, 0], [0, 0]], alone=[10, 10]),
                               "grid": 131072, "threads": 32}, H100)
    assert small["limit"] == "blocks"
    near(small["us"], begin + 131072 * 1.2e-3)


def cache():
    cache = prediction.L2(H100)
    small, large = (0, 0, 8 * MIB), (0, 64 * MIB, 64 * MIB)
    assert cache.touch(small, 8 * MIB, False) == 8 * MIB
    assert cache.touch(small, 8 * MIB, False) == 0
    assert cache.touch(small, 8 * MIB, True) == 0 and cache.written_back == 0
    cache.touch(large, 64 * MIB, False)
    assert cache.written_back == 8 * MIB  # evicted by what came after
    assert cache.touch(small, 8 * MIB, False) == 8 * MIB
    cache = prediction.L2(H100)
    cache.touch(small, 8 * MIB, True)
    cache.touch(large, 64 * MIB, True, kept=False)
    assert cache.written_back == 32 * MIB and cache.touch(small, 8 * MIB, False) == 0  # the stream went, not what was there
    stream = (0, 1 << 30, 1 << 30)
    assert cache.touch(stream, 1 << 30, False) == 1 << 30


def branches():
    """Small kernels overlap, large ones only in their launches; what waits, waits."""
    launch, dependent, ramp = H100["launch_us"], H100["dependent_launch_us"], H100["ramp_us"]
    nothing = {"load_sectors": 0, "store_sectors": 0, "store_lines": 0, "sector_reaches": [0] * 49, "line_reaches": [0] * 49, "load_requests": 0, "store_requests": 0,
               "touched": [[0, 0], [0, 0]]}
    small = {**step(alone=[1830 * 50, 1830 * 50], **nothing), "grid": 264}  # 50 us on a quarter of the places
    large = {**small, "grid": 132 * 8}

    def of(*steps):
        counts = {"programs": {"train": [{**kernel, "step": number, "branch": branch, "after": after}
                                         for number, (kernel, branch, after) in enumerate(steps)]}}
        return prediction.total(prediction.predict(counts, ["train"], H100))

    near(of((small, 0, []), (small, 0, []))["us"], 100 + launch + dependent + 2 * ramp)
    near(of((small, 0, []), (small, 1, []))["us"], 50 + launch + ramp)
    near(of((small, 0, []), (small, 1, []))["alone_us"], 100 + 2 * (launch + ramp))
    near(of((small, 0, []), (small, 1, [0]))["us"], 100 + 2 * (launch + ramp))
    near(of((large, 0, []), (large, 1, []))["us"], 100 + launch + ramp)
    near(of((large, 0, []), (small, 1, []), (small, 2, []))["us"], 100 + launch + ramp)
    # Five of them, of which four fit: the fifth begins when they end.
    near(of(*((small, branch, []) for branch in range(5)))["us"], 100 + launch + ramp)
    twice = {"programs": {name: [{**small, "step": 0, "branch": branch, "after": []}] for branch, name in enumerate(("train", "update"))}}
    near(prediction.total(prediction.predict(twice, ["train", "update"], H100))["us"], 2 * (50 + launch + ramp))  # programs wait


def transforms():
    assert [prediction.transform_passes(points) for points in (1024, 8192, 8232, 1 << 21, 1 << 27)] == [1, 1, 2, 2, 3]
    assert prediction.transform_passes(1021) == 3  # a convolution of 2048 points: there, back and the product
    of = {"points": 1 << 20, "signals": 64, "dtype": "F32", "buffers": [[0, 0, 256 * MIB], [0, 256 * MIB, 256 * MIB]]}
    made = prediction.transform(of, H100, prediction.L2(H100))
    # Read from memory, what lies between two passes written and read; of the result, what stays in the cache is not written.
    assert made["limit"] == "dram" and 3 * 256 * MIB <= made["dram_bytes"] <= 4 * 256 * MIB, made
    near(made["us"], 2 * H100["launch_us"] + H100["library_fill_us"] + made["dram_bytes"] / (3352 * 0.9) / 1e3)


def calibration():
    counts = {"programs": {"train": [step()] * 3}}
    table = prediction.load_devices()
    table["fitted"]["dram_efficiency"] = 0.63  # what the measurement is made of
    us = prediction.total(prediction.predict(counts, ["train"], prediction.device("h100", table)))["us"]
    fitted = prediction.calibrate(prediction.load_devices(), [(counts, ["train"], "h100", us)])
    again = prediction.total(prediction.predict(counts, ["train"], prediction.device("h100", fitted)))["us"]
    assert abs(again / us - 1) < 0.1, (again, us)


def goals_are_cases():
    cases = gpu_predict.goals()
    assert len({case["name"] for case in cases}) == len(cases)
    root = pathlib.Path(sys.argv[1])
    assert all((root / case["source"]).exists() for case in cases)
    with tempfile.TemporaryDirectory() as folder:
        options = types.SimpleNamespace(counts=pathlib.Path(folder) / "new")
        with gpu_predict.counts_folder(options) as made:
            assert made.is_dir()


for test in (occupancy, limits, lines, what_l1_keeps, scaled_by_machine_code, turns, cache, branches, transforms, calibration, goals_are_cases):
    test()
print("ok")
