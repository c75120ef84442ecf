"""usage: watch-terminal.py RUN COMMAND... - watches RUN with COMMAND on a terminal of this program's, while it goes on and ends.

What the terminal shows at the end is what it showed last: each view has taken the place of the one before.
"""
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time

LIMIT = 60  # seconds to wait for a view; only a program that hangs needs them


class Terminal:
    def __init__(self, folder, command):
        own, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("4H", 40, 120, 0, 0))
        self.process = subprocess.Popen(command, cwd=folder, stdin=other, stdout=other, stderr=other, start_new_session=True)
        os.close(other)
        self.own, self.read, self.lines, self.row = own, "", [], 0

    def until(self, expected):
        """Reads on until the lines shown hold the text; those of that moment."""
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            if any(expected in line for line in self.lines):
                return list(self.lines)
            if select.select([self.own], [], [], 1)[0]:
                try:
                    self.take(os.read(self.own, 65536).decode())
                except OSError:  # the program has ended
                    break
        raise AssertionError(f"never showed {expected!r}: {self.read!r}")

    def take(self, text):
        """Lines as they stand on the screen; of what moves, what `watch` writes."""
        self.read += text
        self.lines, self.row = [], 0
        for part in re.split(r"(\x1b\[\d+A|\x1b\[J|\r?\n)", self.read):
            if part.endswith("A") and part.startswith("\x1b"):
                self.row -= int(part[2:-1])
                assert self.row >= 0, "moved above what it has written"
            elif part == "\x1b[J":
                del self.lines[self.row:]
            elif part.endswith("\n"):
                self.row += 1
            elif part:
                assert "\x1b" not in re.sub(r"\x1b\[[\d;]*m", "", part), part
                self.lines += [""] * (self.row + 1 - len(self.lines))
                self.lines[self.row] += part


def main():
    run, command = pathlib.Path(sys.argv[1]), sys.argv[2:]
    metrics, summary = run / "metrics.jsonl", run / "summary.json"
    rows, end = metrics.read_text().splitlines(), summary.read_text()
    trained = [row for row in rows if json.loads(row)["split"] == "train"]
    summary.unlink()
    metrics.write_text(trained[0] + "\n")

    step = lambda row: f" {json.loads(row)['step']}/{json.loads(trained[-1])['step']} "
    terminal = Terminal(run.parent, command + [run.name])
    first = terminal.until(step(trained[0]))
    metrics.write_text("\n".join(rows) + "\n")
    later = terminal.until(step(trained[-1]))
    assert len(first) == len(later) == 2 and first[0].split()[:2] == ["run", "step"] and first != later, (first, later)
    summary.write_text(end)
    last = terminal.until(" done ")
    assert len(last) == 2, last
    assert terminal.process.wait(LIMIT) == 0

    summary.unlink()
    terminal = Terminal(run.parent, command + [run.name])
    terminal.until(step(trained[-1]))
    terminal.process.terminate()
    assert terminal.process.wait(LIMIT) == 0
    summary.write_text(end)


if __name__ == "__main__":
    main()
