#!/usr/bin/env python3
"""Makes a folder with a tiny model in Hugging Face's layout, whose weights mean nothing.

  usage: make-tiny.py llama|gpt2|jamba FOLDER [KEY=VALUE ...]

Values are JSON; they go to config.json.
"""

import json
import pathlib
import sys

import tiny

kind, folder, *settings = sys.argv[1:]
config, shapes = {"llama": tiny.llama, "gpt2": tiny.gpt2, "jamba": tiny.jamba}[kind]()
for setting in settings:
    key, value = setting.split("=", 1)
    config[key] = json.loads(value)
if not pathlib.Path(folder, "config.json").exists():
    tiny.write(pathlib.Path(folder), (config, shapes))
