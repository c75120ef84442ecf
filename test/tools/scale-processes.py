#!/usr/bin/env python3
"""A scaling study of real trainings by many processes ends with the numbers of one that a single process trained: scale-processes.py BIN kills N | ranks

kills: processes of the study, its first one or workers, are killed N times at random moments, and the same command is given again.
ranks: tasks of a SLURM array at once; and ranks of MPI, of which the first is killed when it has planned and the second trains alone.
"""

import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIZES = ",".join(f"width={width}:heads=1:inner={width}:blocks=A" for width in (8, 16, 24))
RANKS = ("OMPI_", "PMI_", "PMIX_", "SLURM_")


class Studies:
    def __init__(self, binaries, folder):
        self.program, self.folder = pathlib.Path(binaries).resolve() / "hybrid-run", folder
        rng = random.Random(1)
        words = ["".join(rng.choices("etaoinshr", k=rng.randint(1, 6))) for _ in range(40)]
        (folder / "text.txt").write_text(" ".join(rng.choices(words, k=20000)))
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith(RANKS)}
        self.environment["XDG_CACHE_HOME"] = str(folder / "cache")

    def start(self, name, jobs, **environment):
        """In a file of its own stands what it says."""
        command = [self.program, "scale", ROOT / "models/lm/byte-attention.hyb", "--budgets", "1e9,2e9", "--sizes", SIZES, "--batch-sweep", "2",
                   "--batch-tokens", "64", "--length", "32", "--data", "text.txt", "--eval-tokens", "1024", "--out", name,
                   "--threads", "1", "--jobs", str(jobs)]
        log = open(self.folder / f"{name}-{time.monotonic_ns()}.log", "w+", encoding="utf-8")
        process = subprocess.Popen(list(map(str, command)), cwd=self.folder, env=self.environment | environment, stdout=log, stderr=log)
        process.log = log
        return process

    def end(self, process):
        status = process.wait(timeout=900)
        process.log.seek(0)
        said = process.log.read()
        process.log.close()
        assert status == 0, f"exit status {status}\n{said}"
        return said

    def tables(self, name):
        """Every table of a study without the seconds, its last column."""
        return {path.name: [line.rsplit(",", 1)[0] for line in path.read_text(encoding="utf-8").splitlines()] for path in sorted((self.folder / name).glob("*.csv"))}


def read(path):
    try:
        return pathlib.Path(path).read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def workers_of(process):
    """Not the compilers that it may have started."""
    return [int(child) for child in read(f"/proc/{process.pid}/task/{process.pid}/children").split() if "--train-claimed-runs" in read(f"/proc/{child}/cmdline")]


def kill_one(process, rng, most):
    """Kills a process of a study, now and then while it plans; whether one was there to be killed, and whether it was the first."""
    if rng.random() < 0.8:
        while process.poll() is None and not workers_of(process):
            time.sleep(0.02)
    time.sleep(rng.uniform(0, most))
    if process.poll() is not None:
        return False, False
    workers = workers_of(process)
    if workers and rng.random() < 0.8:
        try:
            os.kill(rng.choice(workers), signal.SIGKILL)
        except ProcessLookupError:
            return False, False
        return True, False
    process.kill()
    process.wait()
    return True, True


def check_kills(studies, calm, wanted):
    rng, killed, rounds, begun = random.Random(7), 0, 0, 0
    while killed < wanted:
        name, most = f"killed-{rounds}", 0.5
        process = studies.start(name, 2)
        while killed < wanted and process.poll() is None:
            hit, is_first = kill_one(process, rng, most)
            killed += hit
            begun += hit and (studies.folder / name / "study.sqlite").exists()
            most *= 1.1 if hit else 1  # so that a study ends on a slow machine too
            if is_first:
                process.log.close()
                process = studies.start(name, 2)
        studies.end(process)
        studies.end(studies.start(name, 2))  # a run whose worker was killed four times is tried again
        assert studies.tables(name) == calm, (name, studies.tables(name), calm)
        rounds += 1
    assert begun > 0, "nothing was killed but plans"
    print(f"{killed} kills in {rounds} studies, {begun} of them when runs had begun: the same points")


def check_ranks(studies, calm):
    first, second = (studies.start("array", 1, SLURM_ARRAY_TASK_ID=task, SLURM_ARRAY_TASK_MIN="7") for task in ("7", "8"))
    assert "7 runs planned" in studies.end(first)
    assert "planned" not in studies.end(second), "the second task only trains"
    assert studies.tables("array") == calm, studies.tables("array")

    first = studies.start("mpi", 1, OMPI_COMM_WORLD_RANK="0")
    while "runs planned" not in pathlib.Path(first.log.name).read_text(encoding="utf-8"):
        assert first.poll() is None, pathlib.Path(first.log.name).read_text(encoding="utf-8")
        time.sleep(0.02)
    first.kill()
    first.wait()
    studies.end(studies.start("mpi", 1, OMPI_COMM_WORLD_RANK="1"))
    said = studies.end(studies.start("mpi", 1, OMPI_COMM_WORLD_RANK="0"))
    assert "7 runs planned, 0 left" in said, said
    assert studies.tables("mpi") == calm, studies.tables("mpi")
    print("a SLURM array and ranks of MPI: the same points")


def main():
    with tempfile.TemporaryDirectory(prefix="scale-processes-") as name:
        studies = Studies(sys.argv[1], pathlib.Path(name))
        studies.end(studies.start("calm", 1))
        calm = studies.tables("calm")
        assert {table: len(lines) for table, lines in calm.items()} == {"points.csv": 7, "batches.csv": 2}, calm
        if sys.argv[2] == "kills":
            check_kills(studies, calm, int(sys.argv[3]))
        else:
            check_ranks(studies, calm)


if __name__ == "__main__":
    main()
