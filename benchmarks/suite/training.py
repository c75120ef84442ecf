"""Training steps of whole models: the MAD baseline, and long sequences."""

import sys

from .processes import ROOT, Compiled, Failure, Peer, Unsupported, last_line, median, median_ratio, take_turns

sys.path.insert(0, str(ROOT / "benchmarks" / "peer"))
from architectures import MODELS  # noqa: E402

VOCAB = 16
BASELINE = (32, 128)
TOKENS = 16384  # a step of the suite `lengths`
LENGTHS = (1024, 4096, 16384)
LONG_MODELS = ("hyena-swiglu", "mamba", "gated-linear-attention-swiglu", "attention-swiglu", "gated-deltanet-swiglu", "kimi-delta-attention-swiglu",
               "rwkv7", "mamba2")
VERY_LONG = (65536, ("hyena-swiglu", "mamba", "gated-deltanet-swiglu", "kimi-delta-attention-swiglu", "rwkv7", "mamba2"))  # without a peer


def model_files():
    return {path.stem: path for path in sorted((ROOT / "models" / "mad").glob("*.hyb"))}


def settings_of(path, length):
    """The positions that the filters of a model are made for are those that it is trained on, as in the peer."""
    takes_length = "l_max: int" in path.read_text(encoding="utf-8")
    return {"vocab": VOCAB, **({"l_max": length} if takes_length else {})}


def start_peer(options, name, dtype, batch, length, mode, limit, vocab=VOCAB):
    """The process, or why there is none."""
    try:
        return Peer(options, "worker.py", "--model", name, "--batch", batch, "--length", length, "--vocab", vocab, "--dtype", dtype,
                    "--mode", mode, limit=limit), None
    except Failure as failure:
        return None, last_line(failure)


def measure(options, name, dtype, batch, length, peers, limit):
    """One row: the sides are ours and those of `peers`, which are eager and compile."""
    if name not in MODELS:
        raise Failure("no peer: add a line to benchmarks/peer/architectures.py")
    path = model_files()[name]
    sides, problems, opened = {}, {}, []
    try:
        sides["ours"] = Compiled(options, path, dtype, batch, length, settings_of(path, length), limit=max(limit, 300))
        opened.append(sides["ours"])
        parameters = sides["ours"].trained_parameters()
        for peer in ("eager", "compile"):
            sides[peer] = None
            if peer in peers:
                sides[peer], problem = start_peer(options, name, dtype, batch, length, peer, limit)
                if problem:
                    problems[peer] = problem
                else:
                    opened.append(sides[peer])
                    if sides[peer].about["parameters"] != parameters:
                        raise Failure(f"ours has {parameters} parameters and the peer {sides[peer].about['parameters']}: they are not the "
                                      "same model; make benchmarks/peer follow models/")
        times, failed = take_turns(sides, options.rounds, lambda side: side.steps(options.steps))
        if "ours" in failed:
            raise Failure(failed["ours"])
        problems |= failed
    finally:
        for side in opened:
            side.close()
    eager, compiled = sides["eager"], sides["compile"]
    milliseconds = median(times["ours"])
    row = {
        "model": name, "dtype": dtype, "batch": batch, "length": length, "threads": options.threads, "parameters": parameters,
        "ms": milliseconds, "peer_eager_ms": median(times["eager"]), "peer_compile_ms": median(times["compile"]),
        "ratio_eager": median_ratio(times, "eager"), "ratio_compile": median_ratio(times, "compile"),
        "tokens_per_second": 1000 * batch * length / milliseconds, "us_per_token": 1000 * milliseconds / (batch * length),
        "peer_tokens_per_second": 1000 * batch * length / median(times["eager"]) if times["eager"] else None,
        "peak_bytes": sides["ours"].peak_bytes, "peer_peak_bytes": eager.peak_bytes or None if eager else None,
        "peer_compile_peak_bytes": compiled.peak_bytes or None if compiled else None,
        "peer_base_bytes": eager.about["base_bytes"] if eager else None,
        "rounds": options.rounds, "steps_a_round": options.steps,
    }
    if compiled:
        row["compile_seconds"] = compiled.about["warm_up_seconds"]
    return row | {f"{peer}_failure": problem for peer, problem in problems.items()}


def cells(options, work):
    """Measures each (name, dtype, batch, length, peers, limit) and yields the rows; failures are told and remembered."""
    refused = {}
    for index, (name, dtype, batch, length, peers, limit) in enumerate(work):
        title = f"[{index + 1}/{len(work)}] {name} {dtype} {batch} x {length}"
        if dtype in refused:
            continue
        try:
            row = measure(options, name, dtype, batch, length, peers, limit)
        except Unsupported as failure:
            refused[dtype] = True
            print(f"{title}: left out, as is every {dtype} row: {failure}", file=sys.stderr, flush=True)
            continue
        except (Failure, OSError, KeyError, ValueError) as failure:
            options.failures.append(f"{title}: {failure}")
            print(f"benchmarks/run: {title}: {failure}", file=sys.stderr, flush=True)
            continue
        ratio = lambda key: "-" if row[key] is None else f"{row[key]:.2f}"
        print(f"{title}: {row['ms']:.1f} ms, {ratio('ratio_eager')} x eager, {ratio('ratio_compile')} x compile", flush=True)
        for peer in ("eager", "compile"):
            if f"{peer}_failure" in row:
                print(f"    {peer}: {row[f'{peer}_failure']}", flush=True)
        yield row


def baseline_work(options):
    peers = ("eager", "compile") if options.compile else ("eager",)
    names = options.model or list(model_files())
    return [(name, dtype, *BASELINE, peers, options.limit_baseline) for dtype in options.dtype for name in names]


def lengths_work(options):
    names = [name for name in LONG_MODELS if not options.model or name in options.model]
    work = [(name, "f32", TOKENS // length, length, ("eager",), options.limit) for name in names for length in LENGTHS]
    length, without_peer = VERY_LONG
    return work + [(name, "f32", 1, length, (), options.limit) for name in names if name in without_peer]
