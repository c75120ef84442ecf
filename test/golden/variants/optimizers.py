"""Optimizers and schedules with other options, shapes and counts than the golden set has, by loops over lists."""
import math


def product(a, b):
    return [[math.fsum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def combined(a, x, b, y):
    return [[a * p + b * q for p, q in zip(r, s)] for r, s in zip(x, y)]


def newton_schulz(x, steps, a, b, c, eps):
    if len(x) > len(x[0]):
        return [list(row) for row in zip(*newton_schulz([list(row) for row in zip(*x)], steps, a, b, c, eps))]
    size = max(math.sqrt(math.fsum(v * v for row in x for v in row)), eps)
    x = [[v / size for v in row] for row in x]
    for _ in range(steps):
        gram = product(x, [list(row) for row in zip(*x)])
        x = combined(a, x, 1, product(combined(b, gram, c, product(gram, gram)), x))
    return x


def muon(p, gradients, config):
    a, b, c = config["ns_coefficients"]
    rows, columns, mu, lr = len(p), len(p[0]), config["momentum"], config["lr"]
    scale = math.sqrt(max(1, rows / columns)) if config["adjust_lr_fn"] == "original" else 0.2 * math.sqrt(max(rows, columns))
    m, trajectory = [[0.0] * columns for _ in range(rows)], []
    for g in gradients:
        m = combined(mu, m, 1 - mu, g)
        u = combined(mu, m, 1 - mu, g) if config["nesterov"] else m
        p = combined(1 - lr * config["weight_decay"], p, -lr * scale, newton_schulz(u, config["ns_steps"], a, b, c, config["eps"]))
        trajectory.append(p)
    return trajectory, m


def lion(p, gradients, config):
    (one, two), lr = config["betas"], config["lr"]
    m, trajectory = [0.0] * len(p), []
    for g in gradients:
        u = [one * a + (1 - one) * b for a, b in zip(m, g)]
        p = [a * (1 - lr * config["weight_decay"]) - lr * ((b > 0) - (b < 0)) for a, b in zip(p, u)]
        m = [two * a + (1 - two) * b for a, b in zip(m, g)]
        trajectory.append(p)
    return trajectory, m


def adamw(p, gradients, rates, decay, config):
    (one, two), eps = config["betas"], config["eps"]
    m, v, trajectory = [0.0] * len(p), [0.0] * len(p), []
    for t, (g, lr) in enumerate(zip(gradients, rates), 1):
        m = [one * a + (1 - one) * b for a, b in zip(m, g)]
        v = [two * a + (1 - two) * b * b for a, b in zip(v, g)]
        p = [x * (1 - lr * decay) - lr * (a / (1 - one**t)) / (math.sqrt(b / (1 - two**t)) + eps) for x, a, b in zip(p, m, v)]
        trajectory.append(p)
    return trajectory, m, v


def left(shape, x):
    return {"linear": 1 - x, "cosine": 0.5 * (1 + math.cos(math.pi * x)), "1-sqrt": 1 - math.sqrt(x)}[shape]


def rate(t, lr, warmup, stable, decay, min_ratio, warmup_type, decay_type):
    if t < warmup:
        share = left(warmup_type, 1 - t / warmup)
    elif t < warmup + stable:
        share = 1.0
    else:
        share = left(decay_type, (t - warmup - stable) / decay) if t < warmup + stable + decay else 0.0
    return lr * (share * (1 - min_ratio) + min_ratio)


def write(cases):
    for number, (shapes, nesterov, adjust, steps, decay) in enumerate((([(7, 2), (1, 5)], False, "match_rms_adamw", 3, 0.0), ([(3, 8)], True, "match_rms_adamw", 5, 0.3), ([(4, 4), (9, 3), (2, 2), (3, 9)], False, "original", 5, 0.1))):
        config = {"steps": 6, "lr": 0.05, "weight_decay": decay, "momentum": 0.9, "nesterov": nesterov, "adjust_lr_fn": adjust, "ns_steps": steps, "ns_coefficients": [3.4445, -4.775, 2.0315], "eps": 1e-7}
        tensors = []
        for i, shape in enumerate(shapes):
            p, g = cases.array(*shape), cases.array(6, *shape)
            trajectory, m = muon(p, g, config)
            tensors += [("input", f"p{i}", p), ("input", f"g{i}", g), ("output", f"p{i}_trajectory", trajectory), ("output", f"momentum{i}", m)]
        cases.add(f"muon_{number}", "muon", config, tensors)
    config = {"steps": 5, "lr": 0.01, "betas": [0.95, 0.98], "weight_decay": 0.0, "sign_of_zero": 0}
    tensors = []
    for i, size in enumerate((17, 3, 64, 1)):
        p, g = cases.array(size), cases.array(5, size)
        if i == 1:
            g = [[0.0] * size for _ in g]
        trajectory, m = lion(p, g, config)
        tensors += [("input", f"p{i}", p), ("input", f"g{i}", g), ("output", f"p{i}_trajectory", trajectory), ("output", f"m{i}", m)]
    cases.add("lion_zeros", "lion", config, tensors)
    schedule = {"warmup": 2, "stable": 3, "decay": 4, "min_ratio": 0.25, "warmup_type": "cosine", "decay_type": "cosine"}
    config = {"steps": 8, "lr": 0.02, "betas": [0.9, 0.99], "eps": 1e-8, "lr_mult": [0.0, 2.0, 1.0, 0.5], "weight_decay": [0.1, 0.05, 0.0, 0.2], "schedule": schedule}
    tensors = []
    for i, factor in enumerate(config["lr_mult"]):
        p, g = cases.array(5 + i), cases.array(8, 5 + i)
        trajectory, m, v = adamw(p, g, [factor * rate(t, config["lr"], **schedule) for t in range(8)], config["weight_decay"][i], config)
        tensors += [("input", f"p{i}", p), ("input", f"g{i}", g), ("output", f"p{i}_trajectory", trajectory), ("output", f"m{i}", m), ("output", f"v{i}", v)]
    cases.add("adamw_four_groups", "adamw_lr_mult", config, tensors)
    for number, (rise, fall, warmup) in enumerate((("cosine", "1-sqrt", 5), ("1-sqrt", "cosine", 3), ("linear", "linear", 0))):
        config = {"kind": "warmup-stable-decay", "steps": 20, "lr": 0.01, "warmup": warmup, "stable": 4, "decay": 7, "min_ratio": 0.2, "warmup_type": rise, "decay_type": fall}
        options = {key: config[key] for key in ("lr", "warmup", "stable", "decay", "min_ratio", "warmup_type", "decay_type")}
        cases.add(f"wsd_{number}", "lr_schedule", config, [("output", "lr", [rate(t, **options) for t in range(20)])])
