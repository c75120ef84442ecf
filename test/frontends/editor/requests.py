#!/usr/bin/env python3
"""Each request of an editor to hybrid-lsp, in sessions of their own.

usage: requests.py SERVER MODELS_DIR
"""

import sys

from session import Refused, Session

PARTS = """use std.layers

/// Twice the input.
/// Nothing is trained.
layer twice(x: [..., D], factor: float = 2.0) -> [..., D] { return x * factor }
"""
MODEL = """use std.mixers
use parts

// ≤ α 𝛼
layer block(x: [B, L, D], heads: int = 2) -> [B, L, D] {
  let normed = rmsnorm(x)
  let y = attention(normed, heads = heads)
  return x + y
}

/// A page.
model page(vocab: int = 16, width: int = 8) {
  input tokens: int[B, L]
  let x = embed(tokens, vocab, width)
  for i in 0..2 { x = block(x) }
  let wide = op.concat([x, twice(x, factor = 3.0)], axis = -1) // 𝛼
  let both = split(wide, 2)
  output logits = linear(wide, vocab)
}
"""
FILES = {"model.hyb": MODEL, "parts.hyb": PARTS}


def refused(session, *arguments):
    try:
        return f"not refused: {session.rename(*arguments)}"
    except Refused as reason:
        return str(reason)


def check(found, expected):
    if found != expected:
        raise AssertionError(f"found\n  {found!r}\nexpected\n  {expected!r}")


def check_contains(text, *parts):
    for part in parts:
        if part not in (text or ""):
            raise AssertionError(f"{part!r} is not in\n{text}")


def diagnostics(session):
    session.open("model.hyb")
    check(session.messages("model.hyb"), [])
    session.change("model.hyb", MODEL.replace("heads = heads", "heads = 3").replace("rmsnorm(x)", "rmsnrm(x)"))
    check_contains("\n".join(session.messages("model.hyb")), "6: there is nothing called 'rmsnrm' here; did you mean 'rmsnorm'?")
    # A fault in a layer of the library is shown where this text calls it.
    session.change("model.hyb", MODEL.replace("heads = heads", "heads = 3"))
    faults = session.messages("model.hyb")
    assert faults and all(fault.startswith("7: ") for fault in faults), faults
    session.change("model.hyb", MODEL + "layer (")
    check(len(session.messages("model.hyb")), 1)
    # The file that it uses, as it is in the editor, not on the disk.
    session.change("model.hyb", MODEL)
    check(session.messages("model.hyb"), [])
    session.open("parts.hyb", PARTS.replace("twice(", "thrice("))
    check(session.messages("parts.hyb"), [])
    check(session.messages("model.hyb"), ["16: there is nothing called 'twice' here; did you mean 'thrice'?"])
    session.change("parts.hyb", PARTS.replace("->", "-> ->"))
    # A fault of its text is shown at the `use`.
    [fault] = session.messages("model.hyb")
    check_contains(fault, "2: in parts.hyb, line 5: ")
    session.close("parts.hyb")
    check(session.messages("model.hyb"), [])
    # A parameter without a default says nothing; a library has no model.
    session.change("model.hyb", MODEL.replace("vocab: int = 16", "vocab: int"))
    check(session.messages("model.hyb"), [])
    session.change("model.hyb", PARTS)
    check(session.messages("model.hyb"), [])


def hover(session):
    session.open("model.hyb")
    check_contains(session.hover("model.hyb", "twice(x"), "layer twice(x: [..., D], factor: float = 2.0) -> [..., D]",
                   "Twice the input.\nNothing is trained.")
    check_contains(session.hover("model.hyb", "attention("), "layer attention(x: [B, L, D], heads: int = 16")
    check_contains(session.hover("model.hyb", "factor ="), "factor: float = 2.0", "a parameter of `twice`")
    check_contains(session.hover("model.hyb", "wide = op"), "`[B, L, 16]`")
    check_contains(session.hover("model.hyb", "heads: int"), "heads: int = 2", "here `2`")
    check_contains(session.hover("model.hyb", "op.concat", 5), "concat(")
    check_contains(session.hover("model.hyb", "D], heads"), "here `8`")
    check(session.hover("model.hyb", "page."), None)
    # Behind characters of two, three and four bytes.
    session.change("model.hyb", MODEL.replace("let wide =", 'require(width > 0, "ä≤𝛼") ; let wide ='))
    check_contains(session.hover("model.hyb", "wide = op"), "`[B, L, 16]`")
    session.change("model.hyb", MODEL.replace("for i in 0..2 { x = block(x) }", "for n in [1, 2] { let part = x[:, :, 0:n] }"))
    check_contains(session.hover("model.hyb", "part ="), "here `[B, L, 1]`, `[B, L, 2]`")
    # A library's places have the values of an open model that runs them.
    session.change("model.hyb", MODEL)
    session.open("parts.hyb")
    check_contains(session.hover("parts.hyb", "x * factor"), "here `[B, L, 8]`")


def definition(session):
    session.open("model.hyb")
    check(session.definition("model.hyb", "twice(x"), [("parts.hyb", 5)])
    check(session.definition("model.hyb", "factor ="), [("parts.hyb", 5)])
    check(session.definition("model.hyb", "use parts", 5), [("parts.hyb", 1)])
    check(session.definition("model.hyb", "normed, heads"), [("model.hyb", 6)])
    check(session.definition("model.hyb", "block(x) }"), [("model.hyb", 5)])
    check(session.definition("model.hyb", "vocab)\n}"), [("model.hyb", 12)])
    [(path, _)] = session.definition("model.hyb", "attention(")
    assert path.endswith("std/mixers.hyb"), path
    check(session.definition("model.hyb", "op.concat", 4), [])


def completion(session):
    session.open("model.hyb")
    found = session.complete("model.hyb", "op.concat", 3)
    assert "concat" in found and "let" not in found, sorted(found)
    check_contains(found["concat"]["detail"], "concat(")
    found = session.complete("model.hyb", "return x + y", len("return x + "))
    for word in ("normed", "heads", "y", "block", "attention", "twice", "return", "softmax"):
        assert word in found, word
    assert "wide" not in found
    check_contains(found["twice"]["documentation"]["value"], "Twice the input.")
    found = session.complete("model.hyb", "attention(normed, ", len("attention(normed, "))
    check(found["kv_heads"]["insertText"], "kv_heads = ")
    check_contains(found["kv_heads"]["detail"], "kv_heads: int = heads")
    # While something is half written.
    session.change("model.hyb", MODEL.replace("return x + y", "let z = twice(y, fac\n  return x + y"))
    assert "factor" in session.complete("model.hyb", "twice(y, fac", len("twice(y, fac"))
    session.change("model.hyb", MODEL.replace("use parts", "use std.\nuse parts"))
    assert "mixers" in session.complete("model.hyb", "use std.\n", len("use std."))
    session.change("model.hyb", "use ")
    found = session.complete("model.hyb", "use ", 4)
    assert "std" in found and "parts" in found, sorted(found)
    check(session.complete("model.hyb", "use ", 0).keys() >= {"use", "model", "layer"}, True)


def rename(session):
    session.open("model.hyb")
    changed = session.rename("model.hyb", "normed, heads", "inner")
    check(changed, {"model.hyb": MODEL.replace("normed", "inner")})
    # Of the layer alone, not of what is called so elsewhere.
    changed = session.rename("model.hyb", "x: [B", "z")["model.hyb"]
    check_contains(changed, "layer block(z: [B, L, D]", "rmsnorm(z)", "return z + y", "let x = embed", "x = block(x)")
    changed = session.rename("model.hyb", "D], heads", "E")["model.hyb"]
    check_contains(changed, "x: [B, L, E], heads: int = 2) -> [B, L, E]")
    # Over files, those that are not open too.
    check(session.rename("model.hyb", "factor =", "by"),
          {"model.hyb": MODEL.replace("factor =", "by ="), "parts.hyb": PARTS.replace("factor", "by")})
    check(session.rename("model.hyb", "twice(x", "times"),
          {"model.hyb": MODEL.replace("twice", "times"), "parts.hyb": PARTS.replace("twice", "times")})
    check(refused(session, "model.hyb", "attention(", "other"), "'attention' is of the library, which other models use")
    check(refused(session, "model.hyb", "op.concat", "other", 4), "'concat' is an operator of the language")
    check(refused(session, "model.hyb", "normed", "y"), "there is something called 'y' here already")
    check(refused(session, "model.hyb", "twice(x", "wide"), "there is something called 'wide' in 'model.hyb' already")
    check(refused(session, "model.hyb", "normed", "let"), "'let' is not a name: expected letters, digits and '_'")
    check(refused(session, "model.hyb", "normed", "a b"), "'a b' is not a name: expected letters, digits and '_'")
    check(refused(session, "model.hyb", "D], heads", "d"), "the name of a size begins with a capital letter")
    check(refused(session, "model.hyb", "≤", "d"), "there is no name here")


def formatting(session):
    session.open("model.hyb")
    check(session.format("model.hyb"), MODEL.replace("axis = -1) //", "axis = -1)  //"))
    session.change("model.hyb", "layer f(x: [B]) {return x}\nlayer")
    try:
        session.format("model.hyb")
        raise AssertionError("formatted")
    except Refused as reason:
        check(str(reason), "a text with faults of its syntax is not formatted")


def hints(session):
    session.open("model.hyb")
    check(session.hints("model.hyb"), ["normed: [B, L, 8]", "y: [B, L, 8]", "x: [B, L, 8]", "wide: [B, L, 16]"])
    session.change("model.hyb", MODEL.replace("let both = split(wide, 2)", "let [one, two] = split(wide, 2)\n for n in [1, 2] { let part = x[..., 0:n] }"))
    check(session.hints("model.hyb")[-3:], ["one: [B, L, 8]", "two: [B, L, 8]", "part: [B, L, 1], ..."])
    session.open("parts.hyb")
    session.change("parts.hyb", PARTS.replace("{ return x * factor }", "{\n  let y = x * factor\n  return y\n}"))
    check(session.hints("parts.hyb"), ["y: [B, L, 8]"])


def garbage(session):
    """What is no answerable message ends in an error, not in the server's end."""
    session.open("model.hyb")
    for method, params in (("textDocument/hover", {}), ("textDocument/hover", None), ("textDocument/rename", {"newName": 3}),
                           ("textDocument/hover", {"textDocument": {"uri": "http://x"}, "position": {"line": 0, "character": 0}}),
                           ("textDocument/hover", {"textDocument": {"uri": "file:///nowhere.hyb"}, "position": {"line": 0, "character": 0}}),
                           ("no/such", {})):
        try:
            session.ask(method, params)
            raise AssertionError(f"{method} was answered")
        except Refused:
            pass
    for line, character in ((10 ** 6, 0), (0, 10 ** 6), (-1, -1), (3, 5)):
        session.ask("textDocument/hover", {"textDocument": {"uri": session.uri("model.hyb")}, "position": {"line": line, "character": character}})
    session.tell("textDocument/didClose", {"textDocument": {"uri": session.uri("never.hyb")}})
    session.tell("textDocument/didChange", {"textDocument": {"uri": session.uri("new.hyb"), "version": 1}, "contentChanges": []})
    check_contains(session.hover("model.hyb", "twice(x"), "layer twice")


def main():
    server, models = sys.argv[1:3]
    for test in (diagnostics, hover, definition, completion, rename, formatting, hints, garbage):
        with Session(server, FILES, ["-I", models]) as session:
            test(session)
        print(f"{test.__name__}: ok", flush=True)


if __name__ == "__main__":
    main()
