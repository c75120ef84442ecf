"""Where the programs and the runtime are: in the package (a wheel), or in a build folder that HYBRID_BUILD names."""

from __future__ import annotations

import os
from pathlib import Path

from .errors import RunError

PACKAGE = Path(__file__).resolve().parent


def _roots() -> list[Path]:
    """Folders laid out like an installation: bin/, lib/, share/hybrid/."""
    build = os.environ.get("HYBRID_BUILD")
    return [Path(build)] if build else [PACKAGE / "installed"]


def _find(*parts: str) -> Path:
    looked = [root.joinpath(*parts) for root in _roots()]
    for path in looked:
        if path.exists():
            return path
    raise RunError(f"{looked[0]} is not there: install the wheel, or set HYBRID_BUILD to a build folder (cmake --preset release)")


def runtime_library() -> Path:
    return _find("lib", "libhybrid.so")


def program(name: str) -> Path:
    """hybridc or hybrid-run."""
    return _find("bin", name)


def models_folder() -> Path:
    """The library of models: std/, mad/, lm/, ..."""
    return PACKAGE.parents[1] / "models" if os.environ.get("HYBRID_BUILD") else _find("share", "hybrid", "models")
