#!/usr/bin/env python3
"""Draws Neovim's screen with hybrid-lsp at work: docs/book/editor.svg.

  usage: tools/editors/screenshot.py --bin build/bin [--out FILE]

Neovim runs without a terminal and tells its screen to this program, as it would to any user interface (`nvim --embed`). The program
opens a model with a mistake in it, waits for the server's diagnostics, asks for a hover, and writes the cells as they are as SVG.
Along the way completion, rename and formatting are asked too, and the answers checked. Needs nvim (0.7 or later) and python3-msgpack.
"""

import argparse
import html
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import msgpack

HERE = pathlib.Path(__file__).resolve().parent
COLUMNS, LINES = 122, 21
CELL, ROW, SIZE = 7.8, 17, 13

MODEL = """use std.mixers
use std.channel
use std.heads

/// A stripe of a long convolution and attention.
layer stripe(x: [B, L, D], heads: int = 4) -> [B, L, D] {
  let mixed = x + hyena(rmsnorm(x))
  return mixed + attention(rmsnorm(mixed), heads = heads)
}

model striped(vocab: int = 64, width: int = 96) {
  input tokens: int[B, L]
  let x = embed(tokens, vocab, width)
  repeat 2 {
    x += stripe(x)
    x += swiglu(rmsnorm(x), inner = 3 * width)
  }
  let wide = concat([x, x])
  output logits = untied(rmsnorm(wide), vocab) + x
}
"""


class Editor:
    """Neovim's screen and its remote calls."""

    def __init__(self, folder, server):
        environment = {**os.environ, "XDG_CONFIG_HOME": str(folder / "config"), "XDG_DATA_HOME": str(folder / "data"),
                       "XDG_STATE_HOME": str(folder / "state"), "XDG_CACHE_HOME": str(folder / "cache"), "NVIM_LOG_FILE": str(folder / "log")}
        self.process = subprocess.Popen(["nvim", "--embed", "--clean", "-n", "-i", "NONE"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment,
                                        cwd=folder)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.unpacker = msgpack.Unpacker(raw=False, strict_map_key=False, unicode_errors="replace", ext_hook=lambda code, data: data)
        self.count, self.answers = 0, {}
        self.highlights, self.default, self.cursor = {}, {"foreground": 0xD4D4D4, "background": 0x1E1E1E}, (0, 0)
        self.cells = [[(" ", 0)] * COLUMNS for _ in range(LINES)]
        self.call("nvim_ui_attach", COLUMNS, LINES, {"rgb": True, "ext_linegrid": True})
        self.lua("vim.opt.runtimepath:append(...)", str(HERE / "neovim"))
        self.lua("vim.o.termguicolors = true; vim.o.background = 'dark'; vim.o.signcolumn = 'yes'; vim.o.laststatus = 0; vim.o.ruler = false; "
                 "vim.o.showmode = false; vim.o.shortmess = vim.o.shortmess .. 'F'")
        self.lua("vim.cmd('filetype plugin on'); vim.cmd('syntax on'); vim.cmd('colorscheme slate'); vim.cmd('highlight Normal guibg=#1e1e1e'); "
                 "vim.cmd('highlight NormalFloat guibg=#33384a'); vim.cmd('highlight SignColumn guibg=#1e1e1e')")
        self.lua("vim.cmd('runtime! ftdetect/hybrid.lua'); require('hybrid').setup({ cmd = ... })", [server])

    def pump(self, seconds):
        """Takes in what Neovim says for so long."""
        end = time.time() + seconds
        while time.time() < end:
            data = self.process.stdout.read()
            if not data:
                time.sleep(0.01)
                continue
            self.unpacker.feed(data)
            for message in self.unpacker:
                if message[0] == 1:
                    self.answers[message[1]] = (message[2], message[3])
                elif message[0] == 2 and message[1] == "redraw":
                    for name, *calls in message[2]:
                        for arguments in calls:
                            getattr(self, "on_" + name, lambda *_: None)(*arguments)

    def call(self, method, *arguments):
        self.count += 1
        self.process.stdin.write(msgpack.packb([0, self.count, method, arguments]))
        self.process.stdin.flush()
        end = time.time() + 60
        while self.count not in self.answers and time.time() < end:
            self.pump(0.02)
        error, result = self.answers.pop(self.count)
        if error:
            raise SystemExit(f"{method}: {error}")
        return result

    def lua(self, text, *arguments):
        return self.call("nvim_exec_lua", text, list(arguments))

    def wait(self, what, condition):
        for _ in range(600):
            if result := self.lua(condition):
                return result
            self.pump(0.05)
        raise SystemExit(f"the editor never had {what}")

    # The screen, as :help ui-linegrid describes it

    def on_default_colors_set(self, foreground, background, *_):
        self.default = {"foreground": 0xD4D4D4 if foreground < 0 else foreground, "background": 0x1E1E1E if background < 0 else background}

    def on_hl_attr_define(self, number, colors, *_):
        self.highlights[number] = colors

    def on_grid_line(self, _, row, column, cells, *__):
        highlight = 0
        for text, *rest in cells:
            highlight = rest[0] if rest else highlight
            for _ in range(rest[1] if len(rest) > 1 else 1):
                self.cells[row][column] = (text, highlight)
                column += 1

    def on_grid_clear(self, _):
        self.cells = [[(" ", 0)] * COLUMNS for _ in range(LINES)]

    def on_grid_scroll(self, _, top, bottom, left, right, rows, __):
        for row in range(top, bottom - rows) if rows > 0 else range(bottom - 1, top - rows - 1, -1):
            self.cells[row][left:right] = self.cells[row + rows][left:right]

    def on_grid_cursor_goto(self, _, row, column):
        self.cursor = (row, column)

    def svg(self):
        def color(number):
            return f"#{number:06x}"

        lines = []
        for row, cells in enumerate(self.cells):
            column = 0
            while column < COLUMNS:
                highlight, end = cells[column][1], column
                while end < COLUMNS and cells[end][1] == highlight:
                    end += 1
                style = {**self.default, **self.highlights.get(highlight, {})}
                if style.get("reverse"):
                    style["foreground"], style["background"] = style["background"], style["foreground"]
                x, y, text = column * CELL, row * ROW, "".join(text for text, _ in cells[column:end])
                if style["background"] != self.default["background"]:
                    lines.append(f'<rect x="{x:.1f}" y="{y}" width="{(end - column) * CELL:.1f}" height="{ROW}" fill="{color(style["background"])}"/>')
                if style.get("underline") or style.get("undercurl"):
                    lines.append(f'<path d="M{x:.1f} {y + ROW - 2}h{(end - column) * CELL:.1f}" stroke="{color(style.get("special", style["foreground"]))}"/>')
                if text.strip():
                    weight = ' font-weight="bold"' if style.get("bold") else ""
                    slant = ' font-style="italic"' if style.get("italic") else ""
                    lines.append(f'<text x="{x:.1f}" y="{y + SIZE}" textLength="{(end - column) * CELL:.1f}" fill="{color(style["foreground"])}"'
                                 f'{weight}{slant}>{html.escape(text)}</text>')
                column = end
        width, height = COLUMNS * CELL, LINES * ROW
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" font-family="monospace" font-size="{SIZE}" '
                f'xml:space="preserve">\n<rect width="100%" height="100%" fill="{color(self.default["background"])}"/>\n' + "\n".join(lines) + "\n</svg>\n")


def request(editor, method, parameters):
    """The server's answer to one request about the buffer."""
    return editor.lua("local parameters = vim.tbl_deep_extend('force', { textDocument = vim.lsp.util.make_text_document_params() }, select(2, ...)) "
                      "local answers = vim.lsp.buf_request_sync(0, (...), parameters, 20000) "
                      "for _, answer in pairs(answers or {}) do return answer.result end", method, parameters)


def check(what, holds, expected):
    if not holds:
        raise SystemExit(f"{what}: expected {expected}")
    print(f"{what}: {expected}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=HERE.parent.parent / "docs" / "book" / "editor.svg")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "striped.hyb").write_text(MODEL)
        editor = Editor(folder, str(arguments.bin.resolve() / "hybrid-lsp"))
        editor.call("nvim_command", "edit striped.hyb")
        faults = editor.wait("a diagnostic", "local all = vim.diagnostic.get(0); return #all > 0 and vim.tbl_map(function(d) return d.message end, all) or nil")
        print("diagnostics:", *faults)
        lines = MODEL.splitlines()
        row = next(i for i, line in enumerate(lines) if "let wide" in line)
        items = request(editor, "textDocument/completion", {"position": {"line": row, "character": len("  let wide = con")}})
        items = items["items"] if isinstance(items, dict) else items
        check("completion", any(item["label"] == "concat" for item in items), f"{len(items)} items, concat among them")
        changes = request(editor, "textDocument/rename", {"position": {"line": row, "character": 7}, "newName": "doubled"})
        check("rename", sum(map(len, changes["changes"].values())) == 2, "both places of a name")
        edits = request(editor, "textDocument/formatting", {"options": {"tabSize": 2, "insertSpaces": True}})
        check("formatting", not edits, "no edit of a text that is formatted")
        editor.call("nvim_win_set_cursor", 0, [next(i for i, line in enumerate(lines) if "x += stripe" in line) + 1, 10])
        editor.lua("vim.lsp.buf.hover()")
        editor.wait("a hover", "return #vim.api.nvim_list_wins() > 1")
        editor.pump(0.5)
        arguments.out.write_text(editor.svg())
        editor.process.kill()
    print(arguments.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
