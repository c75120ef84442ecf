"""A scripted editor: starts hybrid-lsp in a folder of its own, opens texts there and asks."""

import json
import pathlib
import subprocess
import tempfile
import urllib.parse


class Refused(Exception):
    pass


class Session:
    def __init__(self, server, files=(), arguments=()):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name).resolve()
        for name, text in dict(files).items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text(text)
        self.process = subprocess.Popen([str(server), *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.texts, self.versions, self.faults, self.next = {}, {}, {}, 0
        self.capabilities = self.ask("initialize", {"processId": None, "rootUri": self.folder.as_uri(), "capabilities": {}})["capabilities"]
        self.tell("initialized", {})

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.ask("shutdown", None)
            self.tell("exit", None)
            self.process.stdin.close()
            assert self.process.wait(30) == 0, f"exit status {self.process.returncode}"
        else:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.temporary.cleanup()

    # ---- messages ----

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def receive(self):
        length = 0
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise EOFError(f"the server is gone, exit status {self.process.wait()}")
            if not line.strip():
                break
            name, value = line.split(b":")
            if name.lower() == b"content-length":
                length = int(value)
        message = json.loads(self.process.stdout.read(length))
        if message.get("method") == "textDocument/publishDiagnostics":
            self.faults[self.name_of(message["params"]["uri"])] = message["params"]["diagnostics"]
        return message

    def tell(self, method, params):
        self.send({"method": method, "params": params})

    def ask(self, method, params):
        self.next += 1
        self.send({"method": method, "params": params, "id": self.next})
        while True:
            message = self.receive()
            if message.get("id") == self.next and "method" not in message:
                if "error" in message:
                    raise Refused(message["error"]["message"])
                return message["result"]

    # ---- texts ----

    def uri(self, name):
        return (self.folder / name).as_uri()

    def name_of(self, uri):
        path = pathlib.Path(urllib.parse.unquote(urllib.parse.urlparse(uri).path))
        return path.relative_to(self.folder).as_posix() if path.is_relative_to(self.folder) else path.as_posix()

    def open(self, name, text=None):
        self.texts[name] = (self.folder / name).read_text() if text is None else text
        self.versions[name] = 1
        self.tell("textDocument/didOpen", {"textDocument": {
            "uri": self.uri(name), "languageId": "hybrid", "version": 1, "text": self.texts[name]}})

    def change(self, name, text):
        self.texts[name] = text
        self.versions[name] += 1
        self.tell("textDocument/didChange", {"textDocument": {"uri": self.uri(name), "version": self.versions[name]},
                                             "contentChanges": [{"text": text}]})

    def close(self, name):
        del self.texts[name]
        self.tell("textDocument/didClose", {"textDocument": {"uri": self.uri(name)}})

    def position(self, name, needle, inside=0, number=0):
        """Where the `number`th `needle` of a text begins, and so many characters on."""
        text, offset = self.texts[name], -1
        for _ in range(number + 1):
            offset = text.index(needle, offset + 1)
        before = text[:offset + inside]
        line = before[before.rfind("\n") + 1:]
        return {"line": before.count("\n"), "character": len(line.encode("utf-16-le")) // 2}

    # ---- questions ----

    def at(self, method, name, needle, inside=0, number=0, **more):
        return self.ask("textDocument/" + method, {"textDocument": {"uri": self.uri(name)},
                                                   "position": self.position(name, needle, inside, number), **more})

    def hover(self, *where):
        result = self.at("hover", *where)
        return result and result["contents"]["value"]

    def definition(self, *where):
        """[(file, line from 1, the text there)]."""
        return [(self.name_of(place["uri"]), place["range"]["start"]["line"] + 1) for place in self.at("definition", *where)]

    def complete(self, *where):
        return {item["label"]: item for item in self.at("completion", *where)["items"]}

    def rename(self, name, needle, new, inside=0, number=0):
        """The changed texts by file."""
        changes = self.at("rename", name, needle, inside, number, newName=new).get("changes", {})
        return {self.name_of(uri): self.edited(self.name_of(uri), edits) for uri, edits in changes.items()}

    def format(self, name):
        edits = self.ask("textDocument/formatting", {"textDocument": {"uri": self.uri(name)}, "options": {"tabSize": 2, "insertSpaces": True}})
        return self.edited(name, edits)

    def hints(self, name):
        """{"name: shape"} of the whole text."""
        lines = self.texts[name].split("\n")
        hints = self.ask("textDocument/inlayHint", {"textDocument": {"uri": self.uri(name)}, "range": {
            "start": {"line": 0, "character": 0}, "end": {"line": len(lines), "character": 0}}})
        result = []
        for hint in hints:
            before = lines[hint["position"]["line"]][:hint["position"]["character"]]
            result.append(before.replace("[", " ").replace(",", " ").split()[-1] + hint["label"])
        return result

    def edited(self, name, edits):
        text = self.texts.get(name)
        if text is None:
            text = (self.folder / name).read_text()
        lines = text.splitlines(keepends=True)
        starts = [sum(map(len, lines[:number])) for number in range(len(lines) + 1)]
        for edit in sorted(edits, key=lambda each: (each["range"]["start"]["line"], each["range"]["start"]["character"]), reverse=True):
            first, last = (starts[edit["range"][end]["line"]] + edit["range"][end]["character"] for end in ("start", "end"))
            text = text[:first] + edit["newText"] + text[last:]
        return text

    def messages(self, name):
        """["line: message"], after what was sent has been answered."""
        self.ask("textDocument/documentSymbol", {"textDocument": {"uri": self.uri(name)}})
        return [f"{fault['range']['start']['line'] + 1}: {fault['message']}" for fault in self.faults[name]]
