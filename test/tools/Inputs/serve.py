"""usage: serve.py FOLDER COMMAND... - starts the server that COMMAND names on a free port and acts as its clients.

Streams equal whole answers, echoed log-probabilities add up to those of lm-evaluation-harness' rule, concurrent clients get what they would
get alone, those that come in a burst are kept, and those that are malformed, too large or stop reading harm nobody.
"""
import concurrent.futures
import http.client
import json
import math
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

LIMIT = 60  # seconds that any answer may take; only a server that hangs needs them


class Server:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        self.port = int(re.fullmatch(r"serving '\S+' on http://127\.0\.0\.1:(\d+)\n", line)[1])

    def ask(self, body, path="/v1/completions", method="POST", headers={}):
        """Status, headers and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT)
        connection.request(method, path, body if isinstance(body, (bytes, type(None))) else json.dumps(body),
                           {"Content-Type": "application/json", **headers})
        answer = connection.getresponse()
        result = answer.status, answer.headers, answer.read()
        connection.close()
        return result

    def complete(self, **fields):
        status, _, body = self.ask(fields)
        assert status == 200, (status, body)
        return json.loads(body)

    def stream(self, **fields):
        status, headers, body = self.ask({**fields, "stream": True})
        assert status == 200 and headers["Content-Type"] == "text/event-stream", (status, headers)
        events = [line.removeprefix("data: ") for line in body.decode().split("\n\n") if line]
        assert events[-1] == "[DONE]", events
        return [json.loads(event) for event in events[:-1]]

    def fault(self, field, expected, status=400, **fields):
        got, _, body = self.ask(fields)
        error = json.loads(body)["error"]
        assert got == status and error["param"] == field and expected in error["message"], (got, error)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        rest, _ = self.process.communicate(timeout=LIMIT)
        assert self.process.returncode == 0 and rest == "stopped by SIGTERM\n", (self.process.returncode, rest)


def choice(answer, index=0):
    return answer["choices"][index]


def check_answers(server):
    assert json.loads(server.ask(None, "/health", "GET")[2])["status"] == "ok"
    models = json.loads(server.ask(None, "/v1/models", "GET")[2])
    assert [model["id"] for model in models["data"]] == ["text"]
    assert server.ask(None, "/v2", "GET")[0] == 404

    answer = server.complete(prompt="RUN: hybrid", max_tokens=9, temperature=0, model="text")
    assert choice(answer)["finish_reason"] == "length" and len(choice(answer)["text"]) == 9, answer
    assert answer["usage"] == {"prompt_tokens": 11, "completion_tokens": 9, "total_tokens": 20}
    text = choice(answer)["text"]
    assert choice(server.complete(prompt=list(b"RUN: hybrid"), max_tokens=9, temperature=0))["text"] == text
    stop = text[4:6]
    cut = choice(server.complete(prompt="RUN: hybrid", max_tokens=9, temperature=0, stop=[stop]))
    assert cut["text"] == text[:text.find(stop)] and cut["finish_reason"] == "stop", (text, cut)

    several = server.complete(prompt=["RUN: hybrid", "RUN: not"], n=2, max_tokens=5, seed=3, temperature=1.5)
    assert [each["index"] for each in several["choices"]] == [0, 1, 2, 3]
    assert several["choices"] == server.complete(prompt=["RUN: hybrid", "RUN: not"], n=2, max_tokens=5, seed=3, temperature=1.5)["choices"]
    assert len({each["text"] for each in several["choices"]}) == 4, "draws of their own"
    assert choice(server.complete(prompt="RUN: not", max_tokens=5, temperature=2, top_k=1))["text"] == \
        choice(server.complete(prompt="RUN: not", max_tokens=5, temperature=0))["text"]


def check_tokens(server):
    """What lm-evaluation-harness asks of a server's tokenizer; here tokens are bytes."""
    assert json.loads(server.ask(None, "/tokenizer_info", "GET")[2]) == {"bos_token": None, "chat_template": None, "eos_token": None, "pad_token": None}
    assert json.loads(server.ask({"prompt": "RUN", "add_special_tokens": False}, "/tokenize")[2]) == {"tokens": list(b"RUN")}
    assert json.loads(server.ask({"tokens": list(b"RUN")}, "/detokenize")[2]) == {"prompt": "RUN"}
    for path, body, expected in (("/tokenize", {"prompt": 3}, "prompt: must be a text"), ("/tokenize", {"prompt": "a", "x": 1}, "x"),
                                 ("/detokenize", {"tokens": [256]}, "tokens: must be a list of tokens from 0 to 255"), ("/detokenize", b"{", "the body")):
        status, _, answer = server.ask(body, path)
        assert status == 400 and expected in json.loads(answer)["error"]["message"], (path, body, answer)


def check_streams(server):
    for fields in ({"temperature": 0, "echo": True, "logprobs": 2}, {"seed": 5, "n": 3}, {"stop": "u", "temperature": 0, "logprobs": 0},
                   {"max_tokens": 0, "echo": True}):
        fields = {"prompt": ["RUN: hybrid-run", "cmp"], "max_tokens": 12, **fields}
        whole, joined = server.complete(**fields)["choices"], {}
        for event in server.stream(**fields):
            [part] = event["choices"]
            before = joined.setdefault(part["index"], {"text": "", "finish_reason": None, "logprobs": None})
            before["text"] += part["text"]
            assert before["finish_reason"] is None, "goes on behind its end"
            before["finish_reason"] = part["finish_reason"]
            for key, values in (part["logprobs"] or {}).items():
                before["logprobs"] = before["logprobs"] or {}
                before["logprobs"].setdefault(key, []).extend(values)
        for each in whole:
            assert joined[each["index"]] == {key: each[key] for key in ("text", "finish_reason", "logprobs")}, (each, joined)


def check_logprobs(server, evaluation):
    """As lm-evaluation-harness asks and adds up; `evaluation` has what eval found for the same texts."""
    for context, text in evaluation["texts"]:
        prompt = list((context + text).encode())
        got = choice(server.complete(prompt=[prompt], temperature=0, max_tokens=1, logprobs=1, seed=1234, echo=True))
        logprobs = got["logprobs"]
        assert len({len(values) for values in logprobs.values()} | {len(prompt) + 1}) == 1
        assert logprobs["token_logprobs"][0] is None and logprobs["top_logprobs"][0] is None
        assert logprobs["text_offset"] == list(range(len(prompt) + 1))
        assert "".join(logprobs["tokens"]) == got["text"] and got["text"].startswith(context + text)
        scored = slice(len(context), -1)
        total = sum(logprobs["token_logprobs"][scored])
        greedy = all(own == max(top.values()) for own, top in zip(logprobs["token_logprobs"][scored], logprobs["top_logprobs"][scored]))
        expected, is_greedy = evaluation["scores"][context + text]
        assert math.isclose(total, expected, rel_tol=1e-4, abs_tol=1e-4) and greedy == is_greedy, (total, expected, greedy)
        # The first entry is the argument of the maximum, and that is what greedy decoding adds.
        assert logprobs["token_logprobs"][-1] == max(logprobs["top_logprobs"][-1].values())
        bare = choice(server.complete(prompt=[prompt], temperature=0, max_tokens=0, logprobs=1, echo=True))
        assert bare["logprobs"]["token_logprobs"] == logprobs["token_logprobs"][:-1] and bare["text"] == context + text


    likely = choice(server.complete(prompt="RUN: not", max_tokens=5, temperature=0))["text"]
    for text, is_greedy in ((likely, True), (likely[:-1] + "\x01", False)):
        logprobs = choice(server.complete(prompt="RUN: not" + text, temperature=0, max_tokens=1, logprobs=1, echo=True))["logprobs"]
        assert is_greedy == all(logprobs["token_logprobs"][i] == max(logprobs["top_logprobs"][i].values()) for i in range(8, 13)), logprobs


def check_faults(server):
    server.fault("temperature", "must be a number from 0 to 100", prompt="a", temperature=-1)
    server.fault("max_tokens", "must be a number from 0 to 300", prompt="a", max_tokens=301)
    server.fault("prompt", "must be a text", max_tokens=1)
    server.fault("prompt[1]", "must be a text or a list of tokens from 0 to 255", prompt=[[1], [256]])
    server.fault("prompt", "is empty", prompt="")
    server.fault("promt", "is not supported", promt="a")
    server.fault("model", "there is only 'text'", 404, prompt="a", model="other")
    server.fault("logprobs", "must be a number from 0 to 20", prompt="a", logprobs=21)
    server.fault("stop", "must be a text or a list", prompt="a", stop=[1])
    server.fault("n", "must be at least 1", prompt="a", n=0)
    server.fault("best_of", "is not supported", prompt="a", best_of=2)
    for body in (b"", b"{", b"[" * 100000, b"\xff\xfe", b'{"prompt": "a", "prompt": "b"}', b"null", b'{"prompt": "\\ud800"}'):
        status, _, answer = server.ask(body)
        assert status == 400 and json.loads(answer)["error"]["message"], (body, status, answer)
    status, _, answer = server.ask(b" " * 100_001)
    assert status == 413 and json.loads(answer)["error"]["message"] == "the body has more than 100000 bytes", (status, answer)
    # The same without a length: in chunks.
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=LIMIT)
    try:
        connection.request("POST", "/v1/completions", (b" " * 1000 for _ in range(500)), encode_chunked=True,
                           headers={"Transfer-Encoding": "chunked"})
        assert connection.getresponse().status == 413
    except (ConnectionError, BrokenPipeError):
        pass  # refused while it was still sending
    raw = socket.create_connection(("127.0.0.1", server.port), timeout=LIMIT)
    raw.sendall(b"\x00\x01 no HTTP at all\r\n\r\n")
    raw.recv(100)
    raw.close()


def check_crowd(server):
    """More clients than may be in work, and between them one that never reads, and one that goes away."""
    prompts = [f"RUN: {word}" for word in ("hybrid-run", "cmp", "not", "rm", "cp", "FileCheck")]
    expected = {prompt: choice(server.complete(prompt=prompt, max_tokens=40, temperature=0)) for prompt in prompts}
    head = b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s"
    body = json.dumps({"prompt": ["RUN: " * 40] * 40, "max_tokens": 300, "logprobs": 20, "echo": True, "stream": True}).encode()
    deaf = socket.socket()
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deaf.connect(("127.0.0.1", server.port))
    deaf.sendall(head % (len(body), body))
    gone = socket.create_connection(("127.0.0.1", server.port))
    gone.sendall(head % (len(body), body))
    gone.close()
    slow = socket.create_connection(("127.0.0.1", server.port))
    slow.sendall(b"POST /v1/completions HTTP/1.1\r\nContent-Le")

    def client(number):
        for i in range(3):
            prompt = prompts[(number + i) % len(prompts)]
            got = choice(server.complete(prompt=prompt, max_tokens=40, temperature=0))
            assert got == expected[prompt], (prompt, got, expected[prompt])

    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        for done in [pool.submit(client, number) for number in range(20)]:
            done.result(timeout=LIMIT)
    # The deaf one is given up after --patience.
    while json.loads(server.ask(None, "/health", "GET")[2])["requests"]:
        time.sleep(0.1)
    deaf.close()
    slow.close()


def check_burst(server):
    """Clients that come while the server can't look: the kernel keeps them, and resets none."""
    server.process.send_signal(signal.SIGSTOP)
    with concurrent.futures.ThreadPoolExecutor(48) as pool:
        answers = [pool.submit(server.complete, prompt="RUN:", max_tokens=1, temperature=0) for _ in range(48)]
        time.sleep(0.5)
        server.process.send_signal(signal.SIGCONT)
        for answer in answers:
            choice(answer.result(timeout=LIMIT))


def check_full(server):
    """One in work and one waiting: the third is told to come again."""
    body = json.dumps({"prompt": ["RUN: " * 100] * 100, "max_tokens": 300, "n": 10}).encode()
    waiting = []
    for _ in range(2):
        waiting.append(socket.create_connection(("127.0.0.1", server.port)))
        waiting[-1].sendall(b"POST /v1/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        while json.loads(server.ask(None, "/health", "GET")[2])["requests"] < len(waiting):
            time.sleep(0.05)
    status, headers, answer = server.ask({"prompt": "a"})
    assert status == 503 and headers["Retry-After"] == "1" and "try again later" in answer.decode(), (status, answer)
    return waiting


def main():
    evaluation, command = json.load(open(sys.argv[1])), sys.argv[2:]
    server = Server(command + ["--max-tokens", "300", "--max-request", "100000", "--patience", "8"])
    try:
        check_answers(server)
        check_tokens(server)
        check_streams(server)
        check_logprobs(server, evaluation)
        check_faults(server)
        check_crowd(server)
        check_burst(server)
        server.stop()
        server = Server(command + ["--in-work", "1", "--queue", "1"])
        waiting = check_full(server)
        server.stop()  # with requests in work, whose clients are told
        assert b"the server was stopped" in waiting[0].recv(10000)
    finally:
        server.process.kill()


if __name__ == "__main__":
    main()
