"""Trainings by several ranks that mpirun starts, compared with one rank of a batch as large.

  ranks.py equal [--quick] MODEL... | --all
                                losses and gradients of 1, 2 and 4 ranks in f32 and f64, and the same bits twice
  ranks.py parts [--quick] MODEL... | --all
                                the same of ranks that have parts of each sequence, and of both at once
  ranks.py bf16 [--quick] MODEL... | --all
                                the same of 1, 2 and 4 ranks in bf16 on GPUs, where gradients of several weights are one product
  ranks.py traffic [RANKS...]   bytes that a step sends, and those that `hybrid-run info --ranks` says of it
  ranks.py shards [--quick]     the same bits where ranks have shares of the optimizer's state, or of the parameters, with any optimizer; one
                                goes on where the other stopped
  ranks.py resume               a checkpoint of 2 ranks goes on with 1 and 4
  ranks.py signals              SIGTERM and SIGUSR1 to one rank: all stop at one step, with a checkpoint
  ranks.py kills N              ranks are killed N times; each job ends naming the rank, and what it left goes on
  ranks.py refused              what cannot be done says so

HYBRID_TEST_TARGET says what models are compiled for, if not for this CPU.
"""
import json
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

BIN = pathlib.Path(os.environ["HYBRID_BIN"])
ROOT = pathlib.Path(__file__).resolve().parents[2]
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_NUM_THREADS="1",
                   OMPI_MCA_btl_base_warn_component_unused="0")
TARGET = os.environ.get("HYBRID_TEST_TARGET", "")
SEQUENCES = 8  # of a step, over all ranks
LONGER = 64  # positions where ranks have parts: those are whole chunks of the kernels


def launcher(ranks):
    return ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)] if ranks > 1 else []


def small(model, length):
    """A few numbers a layer, of the parameters that the model has."""
    page = (ROOT / f"models/mad/{model}.hyb").read_text()
    sizes = {"vocab": 8, "width": 16, "inner": 16, "heads": 4, "l_max": length}
    return [part for name, size in sizes.items() if re.search(rf"\b{name}: int", page) for part in ("--set", f"{name}={size}")]


def command(ranks, out, *flags, model="attention-swiglu", steps=4, batch=None, parts=1, length=16, targets="recall"):
    """`parts`: ranks that have parts of each sequence. `targets`: positions that are scored."""
    shares = ranks // parts
    return launcher(ranks) + [
        str(BIN / "hybrid-run"), "train", str(ROOT / f"models/mad/{model}.hyb"), "--task",
        f"in-context-recall:length={length},vocab=8,train_targets={targets}",
        "--length", str(length), "--batch", str(batch or SEQUENCES // shares), *small(model, length), "--threads", "1", "--steps", str(steps), "--report-every", "1", "--eval-every", "1000", "--eval-examples", "20", "--final-examples",
        "20", "--seed", "3", "--warmup", "0", "--clip", "0.5", "--out", str(out), "--data-parallel", str(shares), *(["--sequence-parallel", str(parts)] if parts > 1 else []), *(["--target", TARGET] if TARGET else []), *flags]


def run(arguments, expect=0, limit=240):
    done = subprocess.run(arguments, capture_output=True, text=True, env=ENVIRONMENT, timeout=limit)
    if expect is not None and (done.returncode == 0) != (expect == 0):
        sys.exit(f"exit status {done.returncode} of {' '.join(arguments)}\n{done.stdout}{done.stderr}")
    return done


def metrics(out):
    return [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]


def tensors(path):
    """Of a safetensors file: name -> numbers."""
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    head = json.loads(data[8:8 + size])
    read = {}
    for name, entry in head.items():
        if name != "__metadata__":
            first, last = entry["data_offsets"]
            kind = {"F32": "f", "F64": "d", "I32": "i"}[entry["dtype"]]
            part = data[8 + size + first:8 + size + last]
            read[name] = struct.unpack(f"<{len(part) // struct.calcsize(kind)}{kind}", part)
    return read


def last(out):
    return sorted((out / "checkpoints").glob("step-*.safetensors"))[-1]


def distance(got, wanted):
    """The largest difference of two tensors."""
    return max((abs(a - b) for a, b in zip(got, wanted)), default=0)


def compare(one, other, tolerance, what, steps=None, behind=1):
    """Losses of every step (of the first `steps`), and the gradients of the first: its first moments are (1 - beta1) times these. Steps carry on
    what the first one rounded. `behind`: the step whose first moments are compared; those of a later one are sums of all gradients until then."""
    for a, b in list(zip(metrics(one), metrics(other), strict=True))[:steps]:
        if abs(a["loss"] - b["loss"]) > tolerance * abs(a["loss"]) * (1 if a["step"] == 1 else 100):
            sys.exit(f"{what}: loss {b['loss']} of step {a['step']} ({a['split']}), expected {a['loss']}")
    first, second = (tensors(next((out / "checkpoints").glob(f"step-{behind:08}*"))) for out in (one, other))
    if first.keys() != second.keys():
        sys.exit(f"{what}: the checkpoints hold different tensors")
    largest = max(abs(x) for name, values in first.items() if name.startswith("moment1.") for x in values)
    assert largest > 0
    worst = 0
    for name, values in first.items():
        if name.startswith("moment1."):
            worst = max(worst, distance(second[name], values) / largest)
    if worst > tolerance:
        sys.exit(f"{what}: gradients differ by {worst:.2e} of the largest, expected {tolerance:.0e}")
    return worst


def equal(folder, models):
    ranks = [2, 4]
    if models[0] == "--quick":
        ranks, models = [2], models[1:]
    elif models[0] == "--all":
        models = sorted(path.stem for path in (ROOT / "models/mad").glob("*.hyb"))
    for model in models:
        for precision in ("f32", "f64"):
            for count in [1] + ranks:
                run(command(count, folder / f"{model}-{precision}-{count}", "--precision", precision, "--checkpoint-every", "1", "--keep", "9", model=model))
        for precision in ("f32", "f64"):
            made = {count: folder / f"{model}-{precision}-{count}" for count in [1] + ranks}
            # In f32 another order of sums may cost what f32 costs one rank, where that is more.
            tolerance = 1e-12 if precision == "f64" else max(1e-6, compare(folder / f"{model}-f64-1", made[1], 1e-3, f"{model} in f32"))
            for count in ranks:
                worst = compare(made[1], made[count], tolerance, f"{model} in {precision} on {count} ranks")
                print(f"{model} {precision} {count} ranks: gradients within {worst:.1e}")
                summary = json.loads((made[count] / "summary.json").read_text())
                if summary["ranks"]["count"] != count or summary["ranks"]["sent_bytes"] == 0:
                    sys.exit(f"{model}: {summary['ranks']}")
    again = folder / "again"
    run(command(ranks[-1], again, "--precision", "f64", "--checkpoint-every", "1", "--keep", "9", model=models[-1]))
    if last(again).read_bytes() != last(made[ranks[-1]]).read_bytes():
        sys.exit("the same run twice left other bits")
    # One batch of 8, two of 4, and one of 4 on each of two ranks are one trajectory.
    for name, count, flags in (("accumulated", 1, ["--accumulate", "2"]), ("both", 2, ["--accumulate", "2"])):
        out = folder / name
        run(command(count, out, "--precision", "f64", "--checkpoint-every", "1", "--keep", "9", *flags, model=models[-1],
                    batch=SEQUENCES // (2 * count)))
        compare(made[1], out, 1e-12, name)
    if TARGET.startswith("cuda"):
        done = run(command(1, folder / "bf16", "--reduce", "bf16", model=models[-1]), expect=1)
        assert "GPUs send gradients as they are" in done.stderr, done.stderr
        return
    rounded = folder / "bf16"
    run(command(2, rounded, "--reduce", "bf16", "--checkpoint-every", "1", model=models[-1]))
    loss, exact = (metrics(out)[1]["loss"] for out in (rounded, made[1]))
    if not 0 < abs(loss - exact) < 0.02:
        sys.exit(f"bf16: loss {loss} after a step, f64 has {exact}")


def parts(folder, models):
    splits = [(2, 2), (4, 4), (4, 2)]  # ranks, and those of them with parts of each sequence
    if models[0] == "--quick":
        splits, models = [(4, 2)], models[1:]
    elif models[0] == "--all":
        models = sorted(path.stem for path in (ROOT / "models/mad").glob("*.hyb"))
    flags = ["--checkpoint-every", "1", "--keep", "9"]
    for model in models:
        wholes = {precision: folder / f"{model}-{precision}" for precision in ("f32", "f64")}
        for precision, whole in wholes.items():
            run(command(1, whole, "--precision", precision, *flags, model=model, length=LONGER))
        # Chunks of the delta rule, and what linear attention divides by, round otherwise where they begin at another position, and products of a
        # rank's fewer tokens may be summed in another order. Where keys of two channels nearly cancel, this costs some times what f32 costs one rank.
        rounded = compare(wholes["f64"], wholes["f32"], 1e-3, f"{model} in f32", 1)
        for precision, tolerance, steps in (("f32", max(1e-5, 4 * rounded), 1), ("f64", 1e-12, None)):
            whole = wholes[precision]
            for count, share in splits:
                out = folder / f"{model}-{precision}-{count}-{share}"
                run(command(count, out, "--precision", precision, *flags, model=model, parts=share, length=LONGER))
                worst = compare(whole, out, tolerance, f"{model} in {precision} on {count} ranks, {share} a sequence", steps)
                print(f"{model} {precision} {count} ranks, {share} a sequence: gradients within {worst:.1e}", flush=True)
    again = folder / "again"
    run(command(count, again, "--precision", "f64", *flags, model=models[-1], parts=share, length=LONGER))
    if last(again).read_bytes() != last(out).read_bytes():
        sys.exit("the same run twice left other bits")


def joined_gradients(model):
    """How many products of a rank's step are gradients of several weights: those have several sources."""
    done = run([str(BIN / "hybridc"), str(ROOT / f"models/mad/{model}.hyb"), "--batch", str(SEQUENCES // 2), "--length", "16",
                *small(model, 16), "--data-parallel", "--target", TARGET, "--precision", "bf16", "--emit", "reduce-gradients", "-o", "-"])
    step = done.stdout[done.stdout.index("schedule.program @train"):]
    return len(re.findall(r'library_matmul [^"]*for "[^"]*, ', step))


def bf16(folder, models):
    """What is rounded to bf16 is of one token, and is so alike on any rank where ranks score as many positions: a mean over half of them is twice
    as much. So every position is scored. Sums over tokens are f32 and only their order differs: the bound is that of f32. Weights that differ in
    the last bit let some activation round otherwise, by 2^-9, in a later step: they stay where they are, so all steps are compared."""
    ranks = [2, 4]
    if models[0] == "--quick":
        ranks, models = [2], models[1:]
    elif models[0] == "--all":
        models = sorted(path.stem for path in (ROOT / "models/mad").glob("*.hyb"))
    joined = 0
    for model in models:
        made = {count: folder / f"{model}-{count}" for count in [1] + ranks}
        for count, out in made.items():
            run(command(count, out, "--precision", "bf16", "--checkpoint-every", "4", "--lr", "1e-12", "--min-lr", "0", model=model, targets="all"))
        products = joined_gradients(model)
        joined += products
        for count in ranks:
            worst = compare(made[1], made[count], 1e-6, f"{model} in bf16 on {count} ranks", behind=4)
            print(f"{model} bf16 {count} ranks, {products} products of joined gradients: gradients within {worst:.1e}", flush=True)
    if joined == 0:
        sys.exit("no gradients are joined in a product: whether ranks sum those was not tested")


def traffic(folder, counts):
    wide = ["--set", "width=64", "--set", "vocab=64"]  # some stripes of parameters
    splits = [split for count in counts for split in ((int(count), 1, []), (int(count), int(count), []), (int(count), 1, ["--shard-optimizer=state", *wide]),
                                                      (int(count), int(count), ["--shard-optimizer=parameters", *wide]))]
    for count, share, flags in splits:
        sent = {}
        for steps in (2, 6):
            out = folder / f"{count}-{share}-{len(flags)}-{steps}"
            run(command(count, out, "--checkpoint-every", "100", *flags, model="mamba", steps=steps, parts=share, length=LONGER))
            sent[steps] = json.loads((out / "summary.json").read_text())["ranks"]["sent_bytes"]
        compiled = folder / f"{count}-{share}.hyx"
        run([str(BIN / "hybridc"), str(ROOT / "models/mad/mamba.hyb"), "--batch", str(SEQUENCES * share // count), "--length", str(LONGER), "--data-parallel",
             "--sequence-parallel", str(share), *small("mamba", LONGER), *flags, "-o", str(compiled)])
        told = json.loads(run([str(BIN / "hybrid-run"), "info", str(compiled), "--json", "--ranks", str(count)]).stdout)["ranks"][0]
        measured, most = (sent[6] - sent[2]) / 4, told["sent_bytes"]
        # Rank 0 has no part before its own, and sums parts that are whole cache lines.
        least = 0.95 * (told["least_sent_bytes"] - told["state_bytes"] / 2)
        print(f"{count} ranks, {share} a sequence {' '.join(flags[:1])}: {measured:.0f} bytes a step, {most} at most", flush=True)
        if not least <= measured <= most:
            sys.exit(f"expected {least:.0f} to {most}")


def shards(folder, flags):
    """Models of some stripes of parameters, of which each rank has some."""
    wide = ["--set", "width=64", "--set", "vocab=64", "--checkpoint-every", "2", "--keep", "9"]
    cases = [("mamba", ["--optimizer", "lion"], 2, 1), ("attention-swiglu", ["--optimizer", "muon"], 4, 2), ("striped-mamba-swiglu", ["--reduce", "bf16", "--accumulate", "2"], 4, 1),
             ("hyena-swiglu", [], 3, 1), ("mamba", ["--precision", "f64"], 4, 4)]
    for number, (model, optimizer, count, share) in enumerate(cases[:2] if flags else cases):
        made = {}
        for kind in ("whole", "state", "parameters"):
            made[kind] = folder / f"{number}-{kind}"
            share_flags = [] if kind == "whole" else [f"--shard-optimizer={kind}"]
            run(command(count, made[kind], *wide, *optimizer, *share_flags, model=model, parts=share, length=LONGER, batch=2))
            if last(made[kind]).read_bytes() != last(made["whole"]).read_bytes():
                sys.exit(f"{model} on {count} ranks, {share} a sequence: shares of the {kind} left other bits")
            sent = json.loads((made[kind] / "summary.json").read_text())["ranks"]["sent_bytes"]
            print(f"{model} {' '.join(optimizer)} {count} ranks, {share} a sequence, shared: {kind}: {sent} bytes sent", flush=True)
    for now, then in (("parameters", "whole"), ("whole", "state")):
        out = folder / f"{then}-{now}"
        shutil.copytree(made[then], out)
        last(out).unlink()
        share_flags = [] if now == "whole" else [f"--shard-optimizer={now}"]
        done = run(command(count, out, *wide, *optimizer, *share_flags, "--resume", model=model, parts=share, length=LONGER, batch=2))
        if "resuming after step 2" not in done.stderr or last(out).read_bytes() != last(made["whole"]).read_bytes():
            sys.exit(f"resumed with shares of {now} behind {then}, the bits are others: {done.stderr}")


def resume(folder):
    whole = folder / "whole"
    run(command(1, whole, "--precision", "f64", "--checkpoint-every", "1", "--keep", "9", steps=6))
    started = folder / "started"
    # A job that is submitted again and again has --resume from the beginning.
    done = run(command(2, started, "--precision", "f64", "--checkpoint-every", "3", "--keep", "9", "--resume", steps=6))
    if "nothing to resume" not in done.stderr:
        sys.exit(f"did not begin: {done.stderr}")
    for count, share in ((1, 1), (4, 1), (2, 2), (4, 2)):
        out = folder / f"on-{count}-{share}"
        shutil.copytree(started, out)
        for later in (out / "checkpoints").glob("*"):
            if later.name != "step-00000003.safetensors":
                later.unlink()
        done = run(command(count, out, "--precision", "f64", "--checkpoint-every", "3", "--keep", "9", "--resume", steps=6, parts=share))
        if "resuming after step 3" not in done.stderr:
            sys.exit(f"did not resume: {done.stderr}")
        wanted, got = tensors(last(whole)), tensors(last(out))
        for name in wanted:
            if distance(wanted[name], got[name]) > 1e-9:
                sys.exit(f"{name} differs by {distance(wanted[name], got[name])} after resuming with {count} ranks, {share} a sequence")
        for a, b in zip(metrics(whole), metrics(out), strict=True):
            if abs(a["loss"] - b["loss"]) > 1e-9:
                sys.exit(f"step {a['step']}: loss {b['loss']} with {count} ranks, expected {a['loss']}")
    print("resumed with 1, 2 and 4 ranks, with all of a sequence and with parts")


def workers(parent):
    """The ranks below mpirun, by their number."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            text = (folder / "environ").read_bytes().split(b"\0")
            if not (folder / "cmdline").read_bytes().startswith(str(BIN / "hybrid-run").encode()):
                continue
            status = (folder / "status").read_text()
        except OSError:
            continue
        if f"PPid:\t{parent}\n" in status:
            for entry in text:
                if entry.startswith(b"OMPI_COMM_WORLD_RANK="):
                    found[int(entry.split(b"=")[1])] = int(folder.name)
    return found


def begin(arguments, out, ranks, steps):
    """Starts a job and waits until it has taken some steps."""
    written = out / "metrics.jsonl"
    before = written.stat().st_mtime_ns if written.exists() else 0  # lines of a job that was killed are not this one's
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=ENVIRONMENT)
    limit = time.monotonic() + 120
    while time.monotonic() < limit:
        began = written.exists() and written.stat().st_mtime_ns > before
        taken = len(written.read_text().splitlines()) if began else 0
        found = workers(process.pid)
        if taken >= steps and len(found) == ranks:
            return process, found
        if process.poll() is not None:
            sys.exit(f"the job ended early: {process.communicate()[0]}")
        time.sleep(0.02)
    process.kill()
    sys.exit("the job did not begin")


def begin_alone(arguments, out):
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=ENVIRONMENT)
    limit = time.monotonic() + 120
    while time.monotonic() < limit and process.poll() is None:
        if (out / "metrics.jsonl").exists() and (out / "metrics.jsonl").stat().st_size > 0:
            return process, out
        time.sleep(0.02)
    process.kill()
    sys.exit(f"did not begin: {process.communicate()[0]}")


def signals(folder):
    for name, rank in (("SIGUSR1", 1), ("SIGTERM", 0)):
        out = folder / name
        process, found = begin(command(2, out, steps=1000000), out, 2, 5)
        os.kill(found[rank], getattr(signal, name))
        text = process.communicate(timeout=60)[0]
        if process.returncode != 0 or f"stopped by {name}" not in text:
            sys.exit(f"{name} to rank {rank}: exit status {process.returncode}\n{text}")
        step = int(re.search(r"stopped by \w+ after step (\d+)", text)[1])
        if last(out).name != f"step-{step:08}.safetensors":
            sys.exit(f"{name}: stopped after step {step}, but the last checkpoint is {last(out).name}")
    print("signals stop all ranks together")


def kills(folder, times):
    random.seed(int(os.environ.get("HYBRID_SEED", "1")))
    out = folder / "run"
    slowest = 0.0
    done = 0
    resumed = []
    for _ in range(times):
        count = random.choice([2, 3, 4])
        if 24 % count:
            sys.exit("ranks share 24 sequences")
        arguments = command(count, out, *resumed, "--checkpoint-every", "3", "--keep", "2", steps=1000000, batch=24 // count)
        process, found = begin(arguments, out, count, done + 3)
        victim = random.choice(sorted(found))
        time.sleep(random.random() * 0.1)
        started = time.monotonic()
        os.kill(found[victim], signal.SIGKILL)
        text = process.communicate(timeout=60)[0]
        slowest = max(slowest, time.monotonic() - started)
        if process.returncode == 0 or f"rank {victim}" not in text:
            sys.exit(f"rank {victim} of {count} was killed: exit status {process.returncode}\n{text}")
        if workers(process.pid):
            sys.exit("ranks live on")
        done = max((int(path.name[5:13]) for path in (out / "checkpoints").glob("step-*.safetensors")), default=0)
        resumed = ["--resume"]
    arguments = command(3, out, "--resume", "--checkpoint-every", "3", "--keep", "2", steps=1000000, batch=8)
    process, found = begin(arguments, out, 3, done + 2)
    os.kill(found[0], signal.SIGUSR1)
    text = process.communicate(timeout=60)[0]
    if process.returncode != 0 or "stopped by SIGUSR1" not in text:
        sys.exit(f"after {times} kills: {text}")
    print(f"{times} kills: every job ended with the rank's name, the slowest in {slowest:.1f} s")


def refused(folder):
    arguments = command(1, folder / "a")
    arguments[arguments.index("--data-parallel") + 1] = "3"
    done = run(arguments, expect=1)
    assert "--data-parallel 3: this process was started alone" in done.stderr, done.stderr
    arguments = command(2, folder / "b")
    arguments[arguments.index("--data-parallel") + 1] = "3"
    done = run(arguments, expect=1)
    assert "2 processes were started together" in done.stderr, done.stderr
    done = run(command(2, folder / "c", "--time-limit", "5"), expect=1)
    assert "no common clock" in done.stderr, done.stderr
    compiled = folder / "one.hyx"
    run([str(BIN / "hybridc"), str(ROOT / "models/mad/attention-swiglu.hyb"), "--batch", "4", "--length", "16", "--set", "vocab=8",
         "--set", "width=16", "--set", "inner=16", "--set", "heads=2", "-o", str(compiled)])
    done = run(launcher(2) + [str(BIN / "hybrid-run"), "train", str(compiled), "--task", "in-context-recall:length=16,vocab=8", "--steps", "2",
                              "--out", str(folder / "d")], expect=1)
    assert "was compiled for one rank" in done.stderr, done.stderr
    # A rank that fails by itself: the first one's folder is not ours.
    (folder / "e").mkdir()
    (folder / "e" / "file").write_text("")
    done = run(command(2, folder / "e"), expect=1, limit=60)
    assert "error: rank 0 of 2" in done.stderr, done.stderr
    # A process alone has no MPI in it.
    process, _ = begin_alone(command(1, folder / "f", steps=1000000), folder / "f")
    maps = pathlib.Path(f"/proc/{process.pid}/maps").read_text()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert "hybrid-mpi" not in maps and "libmpi" not in maps, maps
    print("refused by name")


def main():
    if not shutil.which("mpirun"):
        print("skipped: there is no mpirun (tools/install-dependencies installs it)")
        sys.exit(77)
    started = subprocess.run([*launcher(2), "true"], capture_output=True, text=True, env=ENVIRONMENT, timeout=120)
    if started.returncode != 0:
        print(f"skipped: mpirun starts nothing on this machine:\n{started.stdout}{started.stderr}")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        verb, *rest = sys.argv[1:]
        if verb in ("equal", "parts", "bf16", "traffic", "shards"):
            {"equal": equal, "parts": parts, "bf16": bf16, "traffic": traffic, "shards": shards}[verb](folder, rest)
        elif verb == "kills":
            kills(folder, int(rest[0]))
        else:
            {"resume": resume, "signals": signals, "refused": refused}[verb](folder)


main()
