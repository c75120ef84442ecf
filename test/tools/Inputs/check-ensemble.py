"""Checks what --cost=json and info tell of six replicas against one, and against what a session allocates.

usage: check-ensemble.py ONE.json SIX.json INFO.json BENCH.json
"""

import json
import sys


def stride(size):
    return (size + 255) // 256 * 256


def main(paths):
    one, six, info, bench = (json.load(open(path, encoding="utf-8")) for path in paths)
    alone, all_of_them = one["memory"], six["memory"]
    assert alone["replicas"] == 1 and alone["port_bytes"] > 0, alone
    assert all_of_them["replicas"] == 6 and info["replicas"] == 6
    for name in ("parameter_bytes", "gradient_bytes", "moment_bytes"):
        assert all_of_them[name] >= 6 * alone[name], name
        assert all_of_them[name] < 6 * (alone[name] + 512), name
    assert all_of_them["parameter_bytes"] == 6 * stride(alone["parameter_bytes"])
    for name in ("constant_bytes", "arena_bytes", "scratch_bytes_per_thread"):
        assert all_of_them[name] == alone[name], name
    for name in ("parameters", "forward_flops", "fixed_state_elements", "training_step"):
        assert six[name] == one[name], name
    for name in ("parameter_bytes", "gradient_bytes", "moment_bytes", "arena_bytes", "port_bytes", "total_bytes", "evaluation_bytes"):
        assert info["memory"][name] == all_of_them[name], name
    assert info["parameter_bytes"] == alone["parameter_bytes"]
    assert bench["replicas"] == 6
    assert bench["allocated_bytes"] == all_of_them["evaluation_bytes"], (bench["allocated_bytes"], all_of_them)


if __name__ == "__main__":
    main(sys.argv[1:])
