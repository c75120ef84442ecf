"""The wheel's commands: they become the programs that it carries."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from . import _files
from .errors import RunError


def _become(name: str) -> NoReturn:
    try:
        path = str(_files.program(name))
    except RunError as error:
        sys.exit(f"{name}: {error}")
    os.execv(path, [path, *sys.argv[1:]])


def hybridc() -> NoReturn:
    _become("hybridc")


def hybrid_run() -> NoReturn:
    _become("hybrid-run")
