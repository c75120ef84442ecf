"""Training steps by the model's own programs: loss, gradients and update in the runtime."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

from . import _library
from .arrays import Array, ArrayLike, Memory, memory_of
from .errors import ArrayError
from .session import MOMENTS, PARAMETER, Session, named, tensors


class Training:
    """AdamW, or the optimizers that the model was compiled with. Attributes may be changed between steps; `clip` is the largest norm of the gradient,
    0: any. `step_count` steps were done."""

    def __init__(self, session: Session, *, learning_rate: float = 1e-3, weight_decay: float = 0.1, beta1: float = 0.9, beta2: float = 0.98,
                 epsilon: float = 1e-8, clip: float = 0.0) -> None:
        self._session, self._program = session, session.program("train")
        session.program("update")
        self.learning_rate, self.weight_decay, self.clip = learning_rate, weight_decay, clip
        self.beta1, self.beta2, self.epsilon = beta1, beta2, epsilon
        self.step_count = 0

    def step(self, batch: Mapping[str, ArrayLike]) -> float:
        """One step on a batch: the inputs of the model and its targets by name. Returns the loss before the update. A loss that is not finite
        raises RunError and changes no parameter."""
        specs = self._program.inputs
        if set(batch) != {spec.name for spec in specs}:
            raise ArrayError(f"a batch of {sorted(batch)} is given, expected {named(specs)}")
        memories = {spec.name: memory_of(batch[spec.name], spec, "input") for spec in specs}
        hyper = _library.Hyper(self.learning_rate, self.weight_decay, self.beta1, self.beta2, self.epsilon, self.clip, self.step_count + 1)
        loss = ctypes.c_double()
        with self._session.lock:
            _library.call("session_train_step", self._session.handle, tensors(memories), len(memories), ctypes.byref(hyper), ctypes.byref(loss))
        self.step_count += 1
        return loss.value

    def state_dict(self) -> dict[str, Any]:
        """The steps done, the parameters, and what the optimizer remembers of each: arrays under "parameters", "moment1" and "moment2"."""
        state: dict[str, Any] = {"step_count": self.step_count}
        for key, slot in self._slots():
            state[key] = {}
            for index, spec in enumerate(self._session.executable.parameters):
                if slot == PARAMETER or spec.trained:
                    array = state[key][spec.name] = Array(spec)
                    self._session.read(index, Memory(array.address, spec.bytes, array), slot)
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on where the state was taken."""
        for key, slot in self._slots():
            for index, spec in enumerate(self._session.executable.parameters):
                if slot == PARAMETER or spec.trained:
                    if spec.name not in state.get(key, {}):
                        raise ArrayError(f"the state has no '{key}' of {spec}")
                    self._session.write(index, memory_of(state[key][spec.name], spec, key), slot)
        self.step_count = int(state["step_count"])

    @staticmethod
    def _slots() -> list[tuple[str, int]]:
        return [("parameters", PARAMETER), ("moment1", MOMENTS[0]), ("moment2", MOMENTS[1])]
