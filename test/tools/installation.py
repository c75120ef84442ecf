#!/usr/bin/env python3
"""An installation works without the tree that it was built from: installation.py BUILD.

Installs into a folder, and runs the self-test there with the models that came along.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile


def call(*words, folder, environment):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, cwd=folder, env=environment)
    assert done.returncode == 0, f"{words}: exit status {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def main():
    build = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="installation-test-") as name:
        folder = pathlib.Path(name).resolve()
        environment = {key: value for key, value in os.environ.items() if not key.startswith("HYBRID_")}
        environment |= {"XDG_CACHE_HOME": str(folder / "cache"), "XDG_CONFIG_HOME": str(folder / "config")}
        call("cmake", "--install", build, "--prefix", folder / "installed", folder=folder, environment=environment)
        programs, share = folder / "installed/bin", folder / "installed/share/hybrid"
        text = call(programs / "hybrid-run", "selftest", folder=folder, environment=environment)
        found = [json.loads(path.read_text(encoding="utf-8")) for path in share.glob("selftest/*/case.json")]
        cases = sum(case.get("device", "cpu") == "cpu" for case in found)
        assert cases < len(found), found
        assert cases >= 12 and text.splitlines()[-1] == f"selftest: {cases} passed, 0 failed", text

        # The papers' recipes of training are inside.
        text = call(programs / "hybrid-run", "paper", "--presets", folder=folder, environment=environment | {"HYBRID_PAPERS": str(folder)})
        assert "mad-scaling" in text, text

        # What a model uses is the installation's, not the tree's.
        model, listed = share / "models/mad/hyena-swiglu.hyb", folder / "dependencies.json"
        call(programs / "hybridc", model, "--dependencies", listed, "-o", folder / "model.hyx", folder=folder, environment=environment)
        read = [os.path.realpath(file["path"]) for file in json.loads(listed.read_text(encoding="utf-8"))["read"]]
        assert len(read) > 1 and all(path.startswith(str(share)) for path in read), read

        # What editors, man and shells find.
        assert call(programs / "hybrid-lsp", "--version", folder=folder, environment=environment).startswith("hybrid-lsp ")
        for page in ("man/man1/hybridc.1", "bash-completion/completions/hybrid-run", "zsh/site-functions/_hybrid-lsp"):
            assert (folder / "installed/share" / page).stat().st_size > 0, page

        # The last line of the doctor is what can be done here.
        last = call(programs / "hybrid-run", "doctor", folder=folder, environment=environment).splitlines()[-1]
        assert last.startswith("this machine runs cpu:") and "compiles for cpu" in last, last
    print("installation: ok")


if __name__ == "__main__":
    main()
