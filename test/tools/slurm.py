"""The scripts of tools/cluster on a SLURM of one node, which this starts and ends: a controller, a node of 4 CPUs and an authentication of its own.

  slurm.py train    a training by two ranks that is preempted, waits in the queue and goes on: the bits of one that nothing stopped
  slurm.py study    the same of a study with two workers
"""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

BIN = pathlib.Path(os.environ["HYBRID_BIN"])
ROOT = pathlib.Path(__file__).resolve().parents[2]
SERVICES = ["munged", "slurmctld", "slurmd"]
CLIENTS = ["sbatch", "squeue", "scancel", "scontrol"]

CONFIGURATION = """
ClusterName=test
SlurmctldHost=localhost
SlurmUser={user}
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
MpiDefault=none
SchedulerParameters=sched_interval=2,bf_interval=2,sched_min_interval=100000
SlurmctldParameters=preempt_send_user_signal
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
ReturnToService=2
KillWait=30
NodeName=localhost CPUs=4 State=UNKNOWN
PartitionName=low Nodes=localhost Default=YES MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE GraceTime=120
PartitionName=high Nodes=localhost MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF
"""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Slurm:
    def __init__(self, folder):
        self.folder = folder
        self.processes = []
        for name in ("state", "spool"):
            (folder / name).mkdir()
        key = folder / "key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        (folder / "slurm.conf").write_text(CONFIGURATION.format(folder=folder, ports=free_ports(2), user=subprocess.check_output(["id", "-un"], text=True).strip()))
        self.environment = dict(os.environ, SLURM_CONF=str(folder / "slurm.conf"), OMP_NUM_THREADS="1", HYBRID_RUN=str(BIN / "hybrid-run"),
                                HYBRID_CLUSTER=str(ROOT / "tools/cluster"), OMPI_MCA_btl_base_warn_component_unused="0")

    def __enter__(self):
        files = [f"--{name}={self.folder}/munge.{name.split('-')[0]}" for name in ("socket", "pid-file", "log-file", "seed-file")]
        self.start(["munged", "--foreground", "--force", f"--key-file={self.folder}/key", *files])
        self.until(lambda: (self.folder / "munge.socket").exists(), "munged")
        self.start(["slurmctld", "-D", "-c"])
        self.start(["slurmd", "-D"])
        self.until(lambda: "idle" in self.ask("sinfo", "-h", "-o", "%T", check=False), "SLURM's node")
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
        for process in reversed(self.processes):
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()

    def start(self, command):
        log = (self.folder / f"{command[0]}.out").open("w")
        self.processes.append(subprocess.Popen(command, stdout=log, stderr=log, env=self.environment))

    def until(self, holds, what, limit=240):
        end = time.monotonic() + limit
        while not holds():
            if time.monotonic() > end:
                sys.exit(f"waited {limit} s for {what}\n{self.told()}")
            time.sleep(0.2)

    def told(self):
        return "\n".join(f"== {log.name}\n" + "\n".join(log.read_text().splitlines()[-15:])
                         for log in sorted(self.folder.glob("*.out")) + sorted(self.folder.glob("*.log")))

    def ask(self, *command, check=True, **environment):
        done = subprocess.run(command, capture_output=True, text=True, env=dict(self.environment, **environment), timeout=120)
        if check and done.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout}{done.stderr}{self.told()}")
        return done.stdout

    def submit(self, script, out, *arguments, flags=()):
        text = self.ask("sbatch", "--parsable", "-o", str(self.folder / f"{out.name}.out"), *flags, str(ROOT / "tools/cluster" / script), *arguments, OUT=str(out))
        return text.strip().split(";")[0]

    def state(self, job):
        return re.search(r"JobState=(\w+)", self.ask("scontrol", "show", "job", job))[1]

    def restarts(self, job):
        return int(re.search(r"Restarts=(\d+)", self.ask("scontrol", "show", "job", job))[1])

    def preempt(self, job):
        """Another job takes the whole node for a moment; back when `job` runs again."""
        before = self.restarts(job)
        script = self.folder / "urgent.sh"
        script.write_text("#!/bin/bash\nsleep 1\n")
        self.ask("sbatch", "-p", "high", "-n", "4", "-o", "/dev/null", str(script))
        self.until(lambda: self.restarts(job) > before and self.state(job) != "COMPLETING", f"job {job} to be preempted")
        self.ask("scontrol", "update", f"JobId={job}", "StartTime=now", check=False)  # SLURM lets it wait for two minutes
        self.until(lambda: self.state(job) == "RUNNING", f"job {job} to run again")

    def finish(self, job, out):
        self.until(lambda: self.state(job) not in ("RUNNING", "PENDING", "COMPLETING", "REQUEUED"), f"job {job} to end", 600)
        if self.state(job) != "COMPLETED":
            sys.exit(f"job {job} is {self.state(job)}\n{self.told()}")


def train(slurm, folder):
    flags = [str(ROOT / "models/mad/mamba.hyb"), "--task", "in-context-recall:length=16,vocab=8", "--length", "16", "--batch", "4", "--set", "vocab=8", "--set", "width=16",
             "--steps", "40000", "--eval-every", "10000", "--report-every", "1000", "--eval-examples", "20", "--final-examples", "20", "--seed", "3", "--checkpoint-every", "10000"]
    outs = {}
    for name, preemptions in (("quiet", 0), ("preempted", 2)):
        out = outs[name] = folder / name
        job = slurm.submit("train.sbatch", out, *flags, flags=["-n", "2"])
        for _ in range(preemptions):
            metrics = out / "metrics.jsonl"
            before = metrics.stat().st_size if metrics.exists() else 0
            slurm.until(lambda: metrics.exists() and metrics.stat().st_size > before, "steps of the training")
            slurm.preempt(job)
        slurm.finish(job, out)
        text = (slurm.folder / f"{name}.out").read_text()
        if text.count("stopped by SIGUSR1") != preemptions:
            sys.exit(f"{name}: stopped {text.count('stopped by SIGUSR1')} times, expected {preemptions}\n{text}")
        if json.loads((out / "summary.json").read_text())["ranks"]["count"] != 2:
            sys.exit(f"{name}: not by two ranks\n{text}")
    whole, preempted = (sorted((out / "checkpoints").glob("step-*.safetensors"))[-1] for out in outs.values())
    if whole.name != preempted.name or whole.read_bytes() != preempted.read_bytes():
        sys.exit(f"{preempted} differs from {whole}")
    print("a training that was preempted twice has the bits of one that was not")


def scores(out, flags):
    """Of a study whose runs are all done: what it found."""
    done = subprocess.run([str(BIN / "hybrid-run"), "mad", *flags, "--out", str(out), "--json", "--quiet"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def differences(one, other, where=""):
    """Paths of what differs in two JSON texts, but for what a clock said."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return [path for key in one if "seconds" not in key and "per_second" not in key for path in differences(one[key], other[key], f"{where}.{key}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [path for i, (a, b) in enumerate(zip(one, other)) for path in differences(a, b, f"{where}[{i}]")]
    return [] if one == other else [f"{where}: {one}, {other}"]


def study(slurm, folder):
    flags = [str(ROOT / f"models/mad/{name}.hyb") for name in ("mamba", "hyena-swiglu")] + ["--set", "width=16", "--tasks", "in-context-recall:length=16,vocab=8",
             "--lr", "1e-3", "3e-3", "--wd", "0", "--seeds", "2", "--steps", "10000", "--batch", "4", "--test-examples", "64"]
    found = {}
    for name, preemptions in (("alone", 0), ("often", 2)):
        out = folder / name
        job = slurm.submit("study.sbatch", out, *flags, flags=["-n", "2"])
        for _ in range(preemptions):
            slurm.until(lambda: (out / "study.sqlite").exists() and slurm.state(job) == "RUNNING", "the study")
            time.sleep(2)
            if slurm.state(job) != "RUNNING":
                sys.exit(f"the study is {slurm.state(job)} before it could be preempted: give it more steps")
            slurm.preempt(job)
        slurm.finish(job, out)
        found[name] = scores(out, flags)
    if differ := differences(found["alone"], found["often"]):
        sys.exit("the studies differ:\n" + "\n".join(differ))
    print("a study that was preempted has the numbers of one that was not")


def main():
    missing = [name for name in SERVICES + CLIENTS if not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")]
    if missing:
        print(f"skipped: there is no {', '.join(missing)} (Debian's packages slurmctld, slurmd, slurm-client and munge)")
        sys.exit(77)
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "slurm").mkdir()
        with Slurm(folder / "slurm") as slurm:
            {"train": train, "study": study}[sys.argv[1]](slurm, folder)


main()
