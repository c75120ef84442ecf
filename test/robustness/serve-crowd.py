#!/usr/bin/env python3
"""Clients by the dozen ask a server for minutes: everyone gets what it would get alone, and the memory stays what it is.

  usage: serve-crowd.py BIN [--seconds N] [--clients N] [--out DIR]

BIN has hybridc, hybrid-run and hybrid-serve. A small model is trained in DIR, if it is not there, and served. All clients but one ask for
completions, a quarter of them as streams; that one asks for much and never reads, again and again. Fails where an answer is an error or another
one than a client gets alone, and where the server's own memory grows by more than 4 MiB in the second half of the time, in which no more
threads are begun. Prints a line every 15 seconds and at the end.
"""
import argparse
import json
import pathlib
import random
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/tools/Inputs"))
from serve import Server, choice

MODEL = ["--batch", "2", "--length", "64", "--set", "l_max=64", "--set", "width=32", "--set", "heads=2", "--set", "inner=32", "--set", "blocks=HA"]
MOST_GROWTH = 4 << 20


def command(binaries, out):
    """The one that serves the model."""
    executable, run = out / "model.hyx", out / "run"
    if not run.exists():
        subprocess.run([binaries / "hybridc", ROOT / "models/lm/byte-striped.hyb", *MODEL, "-o", executable], check=True)
        subprocess.run([binaries / "hybrid-run", "train", executable, "--data", f"text:{__file__}", "--steps", "50", "--lr", "1e-2",
                        "--eval-examples", "4", "--final-examples", "5", "--quiet", "--out", run], check=True, stdout=subprocess.DEVNULL)
    return [str(each) for each in [binaries / "hybrid-run", "serve", executable, "--checkpoint", run / "checkpoints/best.safetensors",
                                   "--port", "0", "--patience", "8"]]


class Crowd:
    def __init__(self, server, seconds, clients):
        self.server, self.end = server, time.monotonic() + seconds
        self.prompts = [" ".join(["def"] * (1 + 9 * i)) + " " + word for i, word in enumerate(["main", "Server", "ask", "os", "in"])]
        self.expected = {prompt: self.ask(prompt) for prompt in self.prompts}
        self.faults, self.seconds, self.lock = [], [], threading.Lock()
        self.threads = [threading.Thread(target=self.client, args=(number,), daemon=True) for number in range(clients - 1)]
        self.threads.append(threading.Thread(target=self.deaf, daemon=True))
        for thread in self.threads:
            thread.start()

    def ask(self, prompt, streams=False):
        fields = {"prompt": prompt, "max_tokens": 60, "temperature": 0}
        if streams:
            return "".join(choice(event)["text"] for event in self.server.stream(**fields))
        return choice(self.server.complete(**fields))["text"]

    def client(self, number):
        dice = random.Random(number)
        while time.monotonic() < self.end:
            prompt, start = dice.choice(self.prompts), time.monotonic()
            try:
                got = self.ask(prompt, streams=number % 4 == 0)
                fault = None if got == self.expected[prompt] else f"{prompt[-9:]!r}: {got!r}, alone {self.expected[prompt]!r}"
            except Exception as error:  # whatever a client may meet is a fault of the server's
                fault = repr(error)
            with self.lock:
                self.seconds.append(time.monotonic() - start)
                self.faults += [fault] if fault else []

    def deaf(self):
        body = json.dumps({"prompt": ["def " * 40] * 40, "max_tokens": 200, "logprobs": 5, "echo": True, "stream": True}).encode()
        while time.monotonic() < self.end:
            with socket.socket() as client:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                client.connect(("127.0.0.1", self.server.port))
                client.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
                time.sleep(min(20, max(0, self.end - time.monotonic())))


def memory(pid):
    """Bytes of its own, without what it has mapped of files."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return 1024 * int(re.search(r"RssAnon:\s*(\d+)", status)[1])


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        out = (options.out or pathlib.Path(temporary)).resolve()
        out.mkdir(parents=True, exist_ok=True)
        server = Server(command(options.bin.resolve(), out))
        try:
            crowd, half = Crowd(server, options.seconds, options.clients), None
            while (left := crowd.end - time.monotonic()) > 0:
                print(f"{options.seconds - left:.0f} s: {len(crowd.seconds)} answers, {len(crowd.faults)} faults, "
                      f"{memory(server.process.pid) / 1e6:.1f} MB", flush=True)
                time.sleep(min(15, left))
                if left <= options.seconds / 2 + 15 and half is None:
                    half = memory(server.process.pid)
            for thread in crowd.threads:
                thread.join(120)
            growth = memory(server.process.pid) - half
            server.stop()
        finally:
            server.process.kill()
    print(f"{len(crowd.seconds)} answers, {len(crowd.faults)} faults, half of them within {statistics.median(crowd.seconds):.2f} s, all within "
          f"{max(crowd.seconds):.2f} s; {growth / 1e3:.0f} kB more than at half time")
    for fault in crowd.faults[:5]:
        print(fault)
    sys.exit(1 if crowd.faults or growth > MOST_GROWTH else 0)


if __name__ == "__main__":
    main()
