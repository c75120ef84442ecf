"""Predicts how long CUDA kernels take, from counts (hybrid-ptx-count), what machine code takes, and a table of devices.

A kernel's time is a launch, and the longest of
  issue, fma, alu, fp64, xu, tensor   instructions of the busiest multiprocessor through its units
  memory pipe                         wavefronts of shared memory, sectors of global memory and exchanges through its load/store unit
  l2, dram                            bytes of the whole grid
  l2 lines                            parts of lines of 128 bytes that warps ask the L2 cache for
  latency                             rounds of blocks, each as long as a block takes that has a multiprocessor to itself: what waits for what
  blocks                              how fast a GPU begins them
and, where few warps share a multiprocessor, a part of what is shorter of the units, memory and latency: warps wait for the one, then for the
others. ASSUMPTIONS says what that leaves out. Constants of devices.json under `fitted` are of runs on an H200 and an H100 (docs/decisions/033, 037);
`gpu-check --calibrate` replaces them.
"""

import collections
import copy
import json
import math
import pathlib

TABLE = pathlib.Path(__file__).parent / "devices.json"
WARPS, REGISTERS, BLOCKS, RESERVED_SHARED = 64, 65536, 32, 1024
SECTOR, CHUNK = 32, 64 << 10
ASSUMPTIONS = """\
- A few blocks of a launch stand for all of them; the busiest multiprocessor has the mean of all blocks but one, and once the slowest.
- Instructions are those of PTX, scaled by (instructions of machine code / of PTX) where that is below 1.
- Units work at the same time, and so does memory, and nothing waits, where many warps share a multiprocessor; of fewer, the part that they are less adds
  the shorter ones of units, memory and latency. Dependences within a block are those of PTX with the latencies of an H100; no load goes before a store
  that may be to its address.
- The L1 cache keeps what a block read last, as much as resident blocks leave it beside shared memory. Warps of a block take turns, 32 instructions each.
- The L2 cache keeps the last buffers touched, up to 80 % of its size, across kernels; the least recently used goes first, before it what was read or
  written once for all (`ld.cs`, `st.cs`); what is written reaches memory when it is evicted. Other accesses to a buffer reach memory once a kernel, however often blocks read it.
- L2 answers so many bytes a second, and so many questions: an instruction of a warp asks once for each line of 128 bytes of which L1 lacks a sector.
- Kernels of a branch run one after another; a launch in a graph and its ramp take the same time for all of them. Where a kernel is made ready while the
  one before it runs (programmatic dependent launch, since sm_90), that one is not a library's, and nothing of another branch is waited for, a launch
  takes `dependent_launch_us`.
- Branches overlap in launches, ramps and what multiprocessors have idle: a kernel whose blocks fill all of them, or that has a unit or the memory to its limit,
  leaves nothing to another; what began first goes first. The L2 cache sees kernels in the order of the program.
- Library calls: products take the best of three tile sizes at the rate of large products, split by depth while multiprocessors are idle;
  attention takes 65 % of that rate, its gradient 55 %; transforms read and write all of it once for each factor of 8192 points.
- Memory is zero while counting, but for ids and for choices of experts, which follow no order: routing is run whole, so experts have about as many rows each.
- Clocks do not change, nothing else runs."""


def load_devices(path=TABLE):
    return json.loads(pathlib.Path(path).read_text())


def device(name, table=None):
    table = table or load_devices()
    return {**table["fitted"], **table[name], "key": name}


class L2:
    """Which parts of buffers the cache holds, in chunks; the oldest go first."""

    def __init__(self, gpu):
        self.capacity = int(gpu["l2_mib"] * 2**20 * gpu["l2_keeps"])
        self.chunks, self.used, self.written_back = collections.OrderedDict(), 0, 0

    def touch(self, buffer, touched, write, kept=True):
        """Bytes that come from memory because `touched` bytes from the begin of a buffer are read or written; what is not `kept` is the first to go."""
        space, offset, size = buffer
        touched, missed = min(touched, size), 0
        first, last = offset // CHUNK, (offset + max(touched, 1) - 1) // CHUNK
        if (last - first + 1) * CHUNK > 4 * self.capacity:  # a stream: only its end stays
            missed = 0 if write else touched - (touched % CHUNK)
            if write:
                self.written_back += touched
            first = last - self.capacity // CHUNK
            whole = True
        else:
            whole = False
        for number in range(first, last + 1):
            key = space, number
            part = min((number + 1) * CHUNK, offset + touched) - max(number * CHUNK, offset)
            dirty = self.chunks.pop(key, None)
            if dirty is None:
                self.used += CHUNK
                if not write and not whole:
                    missed += part
            self.chunks[key] = bool(dirty) or (write and not whole)
            if not kept:
                self.chunks.move_to_end(key, last=False)
            while self.used > self.capacity:
                _, was_written = self.chunks.popitem(last=False)
                self.used -= CHUNK
                self.written_back += CHUNK * was_written
        return missed


def occupancy(step, gpu):
    """Blocks that share a multiprocessor."""
    warps = -(-step["threads"] // 32)
    registers = step.get("registers", {}).get(gpu["image"], 0) or 32
    by_registers = REGISTERS // (-(-registers * 32 // 256) * 256 * warps)
    shared = step["shared_bytes"] + step.get("static_shared_bytes", 0) + RESERVED_SHARED
    return max(1, min(BLOCKS, WARPS // warps, by_registers, int(gpu["shared_kib"] * 1024) // shared))


def block_cycles(block, scale, gpu):
    """Cycles of a multiprocessor's units for one block."""
    exact = {pipe: block[pipe] for pipe in ("fma", "fp64", "xu")}
    total = sum(block[pipe] for pipe in ("fma", "alu", "fp64", "xu", "lsu", "tensor", "control"))
    requests = block["load_requests"] + block["store_requests"]
    exchanges = max(0, block["lsu"] - block["shared_requests"] - requests) * scale
    memory = block["shared_wavefronts"] + max(requests, (block["load_sectors"] + block["store_sectors"]) / 4) + exchanges
    cycles = {pipe: count * 32 / gpu[f"{pipe}_lanes"] for pipe, count in exact.items()}
    tensor = block["products"] / gpu["mma_fma"]
    if groups := block.get("group_products", 0):  # older counts have none, and GPUs before Hopper no wgmma
        tensor += groups / gpu["wgmma_fma"]
    return {**cycles, "issue": total * scale / 4 / gpu["issue_efficiency"],
            "alu": block["alu"] * scale * 32 / gpu["alu_lanes"] / gpu["issue_efficiency"],
            "tensor": tensor * 16 * 8 * 16, "memory pipe": memory}


def farther(reaches, kept):
    """How many of the loads ask for what a cache of `kept` sectors has no more. reaches: how many last read it 0, 1, 2, 3, 4, 5, 6, 7, 8 to 9, 10 to 11,
    12 to 13, 14 to 15, 16 to 19, ... other sectors ago, the last ones longer ago or never."""
    first = lambda kind: kind if kind < 4 else (4 + kind % 4) << (kind // 4 - 1)
    return reaches[-1] + sum(count * min(1.0, max(0.0, (first(kind + 1) - kept) / (first(kind + 1) - first(kind))))
                             for kind, count in enumerate(reaches[:-1]) if count)


def kernel(step, gpu, cache=None):
    """A launch: microseconds, what limits it, and the numbers that say so."""
    blocks, grid = step["blocks"], max(1, step["grid"])
    counted = step.get("counted_blocks", 1)  # that one entry of blocks has together
    machine = step.get("machine_instructions", {}).get(gpu["image"], 0)
    scale = min(1.0, machine / step["ptx_instructions"]) if machine else 1.0
    costs = [block_cycles(block, scale, gpu) for block in blocks]
    resident = occupancy(step, gpu)
    each = -(-grid // gpu["multiprocessors"])  # blocks of the busiest multiprocessor
    mean = {unit: sum(cost[unit] for cost in costs) / len(costs) / counted for unit in costs[0]}
    slowest = {unit: max(cost[unit] for cost in costs) / counted for unit in costs[0]}
    cycles = {unit: mean[unit] * (each - 1) + slowest[unit] for unit in mean}
    # Global memory.
    share = 1 / len(blocks) / counted
    l1 = gpu["l1_kib"] * 1024 - resident * (step["shared_bytes"] + RESERVED_SHARED)
    kept = max(0, l1) / min(resident, each) / SECTOR
    l2_bytes = sum(farther(block["sector_reaches"], kept) + block["store_sectors"] for block in blocks) * share * grid * SECTOR
    l2_lines = sum(farther(block["line_reaches"], kept) + block["store_lines"] for block in blocks) * share * grid
    cache = cache or L2(gpu)
    wanted = missed = 0
    written_before = cache.written_back
    near = step.get("neighbours", {"blocks": 1 / share, "touched": [[sum(block["touched"][number][write] for block in blocks) for write in (0, 1)]
                                                                    for number in range(len(blocks[0]["touched"]))]})
    apart = [[min(sectors / near["blocks"] * grid * SECTOR, buffer[2]) for sectors in near["touched"][number]]
             for number, buffer in enumerate(step.get("buffers", []))]
    touches = [(number, write) for write in (0, 1) for number in range(len(step.get("buffers", [])))]
    for number, write in touches:
        touched = int(apart[number][write])
        if touched:
            missed += cache.touch(step["buffers"][number], touched, write, near["kept"][number][write] if "kept" in near else True)
            wanted += touched
    dram = missed + cache.written_back - written_before
    far = min(1.0, missed / max(1, sum(read for read, _ in apart)))
    alone = max(block["alone"][0] * (1 - far) + block["alone"][1] * far for block in blocks)
    rounds = each / resident
    cycles["latency"] = alone * (math.ceil(rounds) if rounds < 4 else rounds)
    clock = gpu["clock_mhz"]
    times = {unit: count / clock for unit, count in cycles.items()}
    units = max(times[unit] for unit in mean)
    times["l2"] = l2_bytes / gpu["l2_gbs"] / 1e3
    times["l2 lines"] = l2_lines / gpu["l2_lines_ns"] / 1e3
    times["dram"] = dram / (gpu["dram_gbs"] * gpu["dram_efficiency"]) / 1e3
    times["blocks"] = grid * gpu["block_ns"] / 1e3
    memory = max(times["l2"], times["l2 lines"], times["dram"])
    warps = min(resident, each) * -(-step["threads"] // 32)
    apart = 1 - min(1.0, warps / gpu["overlapping_warps"])
    turns = units, memory, times["latency"]
    busy = max((1 - apart) * max(turns) + apart * sum(turns), *times.values())
    limit = max(times, key=times.get)
    return {"us": gpu["launch_us"] + gpu["ramp_us"] + busy, "busy": busy, "limit": limit, "times": times, "resident": resident, "waves": rounds,
            "filled": min(1.0, grid / (gpu["multiprocessors"] * resident)), "dram_bytes": dram, "touched_bytes": wanted, "scale": scale}


def product(step, gpu, cache):
    """A product by the library."""
    rows, columns, depth, batch = step["m"], step["n"], step["k"], max(1, step["batch"])
    size = {"BF16": 2, "F32": 4, "F64": 8}[step["dtype"]]
    result_size = 2 if step["rounds_result"] else max(4, size)
    peak = gpu[{"BF16": "library_bf16_tflops", "F32": "library_f32_tflops", "F64": "library_f64_tflops"}[step["dtype"]]] * 1e6  # flop a us
    multiprocessors = gpu["multiprocessors"]
    each = []
    for tile in ((128, 128), (128, 64), (64, 64)):  # the best, as the library's heuristics would
        tiles = -(-rows // tile[0]) * -(-columns // tile[1]) * batch
        splits = max(1, min(multiprocessors // tiles, depth // 256)) if tiles < multiprocessors else 1
        rate = peak / multiprocessors * {(128, 128): 1.0, (128, 64): 0.9, (64, 64): 0.7}[tile]
        math_us = -(-tiles * splits // multiprocessors) * 2 * tile[0] * tile[1] * -(-depth // splits) / rate
        l2_bytes = tiles * sum(tile) * depth * size + batch * rows * columns * (result_size + 4 * (2 * splits - 2))
        each.append((max(math_us, l2_bytes / gpu["l2_gbs"] / 1e3), math_us, l2_bytes, splits, tiles * splits))
    _, math_us, l2_bytes, splits, blocks = min(each)
    dram = 0
    written_before = cache.written_back
    buffers = step["buffers"]
    for number, buffer in enumerate(buffers):
        if number != 2:
            dram += cache.touch(buffer, buffer[2], False)
    if len(buffers) > 2:
        dram += cache.touch(buffers[2], buffers[2][2], True)
        if step["accumulate"]:
            dram += cache.touch(buffers[2], buffers[2][2], False)
    dram += cache.written_back - written_before
    times = {"tensor" if size == 2 else "fma": math_us, "l2": l2_bytes / gpu["l2_gbs"] / 1e3,
             "dram": dram / (gpu["dram_gbs"] * gpu["dram_efficiency"]) / 1e3}
    limit = max(times, key=times.get)
    reduction = gpu["launch_us"] + gpu["ramp_us"] if splits > 1 else 0  # a kernel that sums the parts
    return {"us": gpu["launch_us"] + gpu["library_fill_us"] + times[limit] + reduction, "limit": limit, "times": times,
            "filled": min(1.0, blocks / multiprocessors), "dram_bytes": dram, "touched_bytes": sum(buffer[2] for buffer in buffers)}


def attention(step, gpu, cache):
    """By the library."""
    pairs = step["batch"] * step["heads"] * step["length"] * step["key_length"] * (0.5 if step["causal"] else 1)
    flops = pairs * step["head_size"] * 4 * (2.5 if step["backward"] else 1)
    dram = sum(cache.touch(buffer, buffer[2], False) for buffer in step["buffers"])
    times = {"tensor": flops / (gpu["library_bf16_tflops"] * 1e6 * (0.55 if step["backward"] else 0.65)),
             "dram": dram / (gpu["dram_gbs"] * gpu["dram_efficiency"]) / 1e3}
    limit = max(times, key=times.get)
    return {"us": gpu["launch_us"] + gpu["library_fill_us"] + times[limit], "limit": limit, "times": times, "filled": 1.0, "dram_bytes": dram,
            "touched_bytes": sum(buffer[2] for buffer in step["buffers"])}


def transform(step, gpu, cache):
    """By the library: each pass reads and writes all of it, through memory where it is larger than what the cache keeps."""
    passes = transform_passes(step["points"])
    whole = step["points"] * step["signals"] * {"F32": 4, "F64": 8}[step["dtype"]]
    dram = sum(cache.touch(buffer, buffer[2], number == 1) for number, buffer in enumerate(step["buffers"]))
    between = 2 * (passes - 1) * whole
    dram += between if whole > cache.capacity else 0
    times = {"l2": 2 * passes * whole / gpu["l2_gbs"] / 1e3, "dram": dram / (gpu["dram_gbs"] * gpu["dram_efficiency"]) / 1e3}
    limit = max(times, key=times.get)
    return {"us": passes * gpu["launch_us"] + gpu["library_fill_us"] + times[limit], "limit": limit, "times": times, "dram_bytes": dram,
            "touched_bytes": sum(buffer[2] for buffer in step["buffers"])}


def transform_passes(points):
    """Kernels of a transform: one holds 8192 points without large prime factors; others are convolutions of at least twice as many (Bluestein)."""
    rest = points
    for prime in (2, 3, 5, 7):
        while rest % prime == 0:
            rest //= prime
    if rest > 1:
        return 1 + 2 * transform_passes(1 << (2 * points - 1).bit_length())
    passes, reach = 1, 8192
    while reach < points:
        passes, reach = passes + 1, reach * 8192
    return passes


KINDS = {"kernel": kernel, "product": product, "attention": attention, "transform": transform}


def predict(counts, programs, gpu):
    """Rows of all steps in order, as they come a second time: the cache holds what the run before has left. `us` is what each takes
    by itself, `end` when it has ended, branches side by side and programs one after another."""
    cache = L2(gpu)
    for _ in range(2):
        rows, begin = [], 0.0
        for program in programs:
            own, before = [], {}
            for step in counts["programs"].get(program, []):
                row = KINDS[step["kind"]](step, gpu, cache)
                branch, after = step.get("branch", 0), step.get("after", [])
                if gpu["overlaps_launches"] and before.get(branch) == step["kind"] == "kernel" and not after:
                    row["us"] -= gpu["launch_us"] - gpu["dependent_launch_us"]
                before[branch] = step["kind"]
                times = step.get("times", 1)
                own.append({"op": step["op"], "location": step["location"], "kind": step["kind"], "kernel": step.get("kernel", ""), **row,
                            "us": row["us"] * times, "dram_bytes": row["dram_bytes"] * times, "launches": times,
                            "step": step.get("step", len(own)), "branch": branch, "after": after})
            ends = side_by_side(own)
            for row, end in zip(own, ends):
                row["end"] = begin + end
            begin += max(ends, default=0.0)
            rows += own
    return rows


def side_by_side(rows):
    """When each row of a program ends. At any time a row takes of each unit what those that began before it leave, up to what it takes by itself;
    its launch and ramp take nothing."""
    queues = collections.defaultdict(collections.deque)
    for number, row in enumerate(rows):
        queues[row["branch"]].append(number)
    last = {row["step"]: number for number, row in enumerate(rows)}
    ends, running, now = [None] * len(rows), [], 0.0
    while True:
        for queue in queues.values():
            if queue and (queue[0] not in [job["row"] for job in running]) and all(step not in last or ends[last[step]] is not None for step in rows[queue[0]]["after"]):
                row = rows[queue[0]]
                longest = row.get("busy", row["times"][row["limit"]])
                busy = longest * row["launches"]
                needs = {unit: us / max(longest, 1e-9) for unit, us in row["times"].items() if unit != "latency"}
                running.append({"row": queue[0], "fixed": max(0.0, row["us"] - busy), "busy": busy, "needs": {**needs, "filled": row["filled"]}})
        if not running:
            return ends
        free, speeds = collections.defaultdict(lambda: 1.0), []
        for job in running:
            speed = 1.0
            if job["fixed"] <= 0:
                speed = min([1.0, *(free[unit] / need for unit, need in job["needs"].items() if need > 1e-9)])
                for unit, need in job["needs"].items():
                    free[unit] = max(0.0, free[unit] - need * speed)
            speeds.append(speed)
        passed = min((job["fixed"] or job["busy"]) / speed for job, speed in zip(running, speeds) if speed > 1e-9)
        now += passed
        for job, speed in zip(running, speeds):
            part = "fixed" if job["fixed"] > 0 else "busy"
            job[part] = job[part] - passed * speed if job[part] - passed * speed > 1e-9 else 0.0
        for job in [job for job in running if not job["fixed"] and not job["busy"]]:
            ends[job["row"]] = now
            queues[rows[job["row"]]["branch"]].popleft()
            running.remove(job)


def total(rows):
    """`us` is what all take side by side, `alone_us` one after another."""
    return {"us": max((row["end"] for row in rows), default=0.0), "alone_us": sum(row["us"] for row in rows),
            "launches": sum(row["launches"] for row in rows), "dram_mb": sum(row["dram_bytes"] for row in rows) / 1e6}


def by_op(rows):
    """Operations, the slowest first: name, launches, microseconds, what limits most of them."""
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row["op"], row["kernel"].split("_")[0] if row["kind"] == "kernel" else row["kind"]].append(row)
    table = []
    for (op, kind), members in groups.items():
        limits = collections.Counter()
        for row in members:
            limits[row["limit"]] += row["us"]
        table.append({"op": op, "kind": kind, "launches": sum(row["launches"] for row in members), "us": sum(row["us"] for row in members),
                      "limit": limits.most_common(1)[0][0], "dram_mb": sum(row["dram_bytes"] for row in members) / 1e6})
    return sorted(table, key=lambda row: -row["us"])


def calibrate(table, measured):
    """A table of devices with constants fitted to measurements: `measured` is [(counts, programs, device, microseconds)].

    Each constant is moved by itself, a few times over, to where the mean of the errors' logarithms is least. What whole steps do not tell
    apart shall stay where single kernels put it: to be moved by a tenth a constant must gain a hundredth.
    """
    table = copy.deepcopy(table)
    before = dict(table["fitted"])

    def error():
        logs = [abs(math.log(total(predict(counts, programs, device(name, table)))["us"] / us)) for counts, programs, name, us in measured]
        moved = sum(abs(math.log(value / before[name])) for name, value in table["fitted"].items())
        return sum(logs) / len(logs) + 0.1 * moved

    steps = [0.7, 0.85, 0.95, 1.05, 1.18, 1.4]
    for _ in range(3):
        for name in table["fitted"]:
            best, value = error(), table["fitted"][name]
            kept = value
            for factor in steps:
                table["fitted"][name] = min(value * factor, 1.0) if "efficiency" in name or "keeps" in name else value * factor
                now = error()
                if now < best - 1e-9:
                    best, kept = now, table["fitted"][name]
            table["fitted"][name] = kept
    table["fitted_sources"] = {name: "fitted by gpu-check --calibrate" for name in table["fitted"]}
    return table
