"""Sequences that are read token by token, each from the state that the tokens before have left."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Union

from . import _library
from .arrays import Array, ArrayLike, Memory, Spec, memory_of
from .errors import ArrayError
from .session import Session

Tokens = Union[int, Sequence[int], ArrayLike]


class Decoder(_library.Owned):
    """At the start of as many sequences as the model was compiled for (its batch). Run nothing else of the model meanwhile."""

    def __init__(self, session: Session) -> None:
        session.program("step")
        handle = ctypes.c_void_p()
        _library.call("decoder_create", session.handle, ctypes.byref(handle))
        super().__init__("decoder_close", handle, session)
        self._session = session
        self.rows: int = _library.ask("decoder_rows", handle)
        self.vocabulary: int = _library.ask("decoder_vocabulary", handle)

    @property
    def position(self) -> int:
        """Tokens of each sequence so far."""
        return int(_library.ask("decoder_position", self.handle))

    def step(self, tokens: Tokens) -> Array:
        """Takes the next tokens, [rows] or [rows, count] (a number: of one row), and gives the logits behind the last: f64 [rows, vocabulary]."""
        taken, count = self._tokens(tokens)
        logits = Array(Spec("logits", (self.rows, self.vocabulary), "f64"))
        with self._session.lock:
            _library.call("decoder_take", self.handle, ctypes.cast(taken.address, ctypes.POINTER(ctypes.c_int32)), count)
            for row in range(self.rows):
                place = ctypes.cast(logits.address + row * self.vocabulary * 8, ctypes.POINTER(ctypes.c_double))
                _library.call("decoder_logits", self.handle, row, place)
        return logits

    def restart(self) -> None:
        """Back to the start; also to be called when parameters have changed."""
        _library.call("decoder_restart", self.handle)

    def remember(self, count: int) -> None:
        """From here on up to `count` tokens of each row can be taken back."""
        _library.call("decoder_remember", self.handle, count)

    def take_back(self, count: int) -> None:
        _library.call("decoder_take_back", self.handle, count)

    def _tokens(self, tokens: Tokens) -> tuple[Memory, int]:
        if isinstance(tokens, int):
            tokens = [tokens]
        shape = tuple(getattr(tokens, "shape", ())) or _shape_of(tokens)
        if shape[:1] != (self.rows,) or len(shape) > 2 or 0 in shape:
            raise ArrayError(f"tokens are {list(shape)}, expected [{self.rows}] or [{self.rows}, count]")
        return memory_of(tokens, Spec("tokens", shape, "i32"), "decoder's"), shape[1] if len(shape) == 2 else 1


def _shape_of(numbers: object) -> tuple[int, ...]:
    shape: list[int] = []
    while isinstance(numbers, (list, tuple)):
        shape.append(len(numbers))
        numbers = numbers[0] if numbers else 0
    return tuple(shape)
