"""A compiled model: named parameters, outputs, gradients, training, decoding."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

from .arrays import Array, ArrayLike, Memory, Spec, memory_of
from .compiler import compile_to_file
from .decoding import Decoder
from .errors import ArrayError
from .executable import Executable, ParameterSpec, Program
from .session import GRADIENT, Session, named
from .training import Training

Inputs = Union[Mapping[str, ArrayLike], ArrayLike]


@dataclass(frozen=True)
class Gradients:
    """Of a sum of outputs weighed by their cotangents. `outputs` are what forward gives."""

    outputs: dict[str, Array]
    inputs: dict[str, Array]
    parameters: dict[str, Array]


class Parameters(Mapping[str, Array]):
    """The model's parameters by name: reading one copies it out, assigning one copies it in."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.specs: dict[str, ParameterSpec] = {spec.name: spec for spec in session.executable.parameters}
        self._index = {name: index for index, name in enumerate(self.specs)}

    def __getitem__(self, name: str) -> Array:
        array = Array(self.specs[name])
        self._session.read(self._index[name], written(array))
        return array

    def __setitem__(self, name: str, value: ArrayLike) -> None:
        self._session.write(self._index[name], memory_of(value, self.specs[name], "parameter"))

    def update(self, values: Mapping[str, ArrayLike]) -> None:
        """All of them, or those that are named; names that are none are refused before any is changed."""
        if unknown := [name for name in values if name not in self.specs]:
            raise ArrayError(f"the model has no parameters {unknown}; it has {list(self.specs)}")
        for name, value in values.items():
            self[name] = value

    def __iter__(self) -> Iterator[str]:
        return iter(self.specs)

    def __len__(self) -> int:
        return len(self.specs)


class Model:
    """An executable with its memory. Its parameters are drawn with seed 0 unless told otherwise."""

    def __init__(self, executable: Executable, *, threads: int = 0, seed: int | None = 0) -> None:
        self.executable = executable
        self.session = Session(executable, threads)
        self.parameters = Parameters(self.session)
        if seed is not None:
            self.initialize(seed)

    @property
    def inputs(self) -> tuple[Spec, ...]:
        return self._described.inputs

    @property
    def outputs(self) -> tuple[Spec, ...]:
        return self._described.outputs

    @property
    def _described(self) -> Program:
        programs = self.executable.programs
        return programs["forward"] if "forward" in programs else self.session.program("step")

    def initialize(self, seed: int) -> None:
        """Draws the parameters as the model's text says."""
        self.session.initialize(seed)

    def forward(self, inputs: Inputs) -> dict[str, Array]:
        """The outputs by name. One input needs no name."""
        program = self.session.program("forward")
        outputs = {spec.name: Array(spec) for spec in program.outputs}
        self.session.run("forward", self._given(inputs, program.inputs), {name: written(array) for name, array in outputs.items()})
        return outputs

    def __call__(self, inputs: Inputs) -> Array | dict[str, Array]:
        """The output of a model that has one, else all by name."""
        outputs = self.forward(inputs)
        return next(iter(outputs.values())) if len(outputs) == 1 else outputs

    def vjp(self, inputs: Inputs, cotangents: Inputs) -> Gradients:
        """Gradients of the floating point inputs and of the trained parameters. An output without a cotangent counts nothing."""
        program = self.session.program("vjp")
        weighed = tuple(Spec(spec.name.removeprefix("cotangent."), spec.shape, spec.dtype) for spec in program.inputs if spec.name.startswith("cotangent."))
        given = self._given(inputs, self.session.program("forward").inputs)
        weights = cotangents if isinstance(cotangents, Mapping) else {weighed[0].name: cotangents} if len(weighed) == 1 else self._unnamed("cotangents", weighed)
        zero = {spec.name: Array(spec) for spec in weighed}
        memories = self._given({**zero, **weights}, weighed, "cotangent of")
        outputs = {spec.name: Array(spec) for spec in program.outputs}
        parameters = {spec.name: Array(spec) for spec in self.executable.parameters if spec.trained}
        with self.session.lock:
            self.session.run("vjp", {**given, **{f"cotangent.{name}": memory for name, memory in memories.items()}},
                             {name: written(array) for name, array in outputs.items()})
            for index, spec in enumerate(self.executable.parameters):
                if spec.trained:
                    self.session.read(index, written(parameters[spec.name]), GRADIENT)
        return Gradients({spec.name: outputs[spec.name] for spec in self.outputs},
                         {spec.name: outputs["grad." + spec.name] for spec in self.inputs if "grad." + spec.name in outputs}, parameters)

    def training(self, **hyper: float) -> Training:
        """A training of these parameters; see Training for what it takes."""
        return Training(self.session, **hyper)

    def decoder(self) -> Decoder:
        """Sequences that are read token by token, by a model compiled with decode=True."""
        return Decoder(self.session)

    def _given(self, inputs: Inputs, specs: tuple[Spec, ...], what: str = "input") -> dict[str, Memory]:
        if not isinstance(inputs, Mapping):
            inputs = {specs[0].name: inputs} if len(specs) == 1 else self._unnamed("inputs", specs)
        if unknown := [name for name in inputs if name not in {spec.name for spec in specs}]:
            raise ArrayError(f"there is no {what} {unknown}; there is {named(specs)}")
        if missing := tuple(spec for spec in specs if spec.name not in inputs):
            raise ArrayError(f"{what} {named(missing)} is not given")
        return {spec.name: memory_of(inputs[spec.name], spec, what) for spec in specs}

    @staticmethod
    def _unnamed(what: str, specs: tuple[Spec, ...]) -> Any:
        raise ArrayError(f"the {what} need names: expected a mapping of {named(specs)}")

    def __repr__(self) -> str:
        return f"Model({named(self.inputs)} -> {named(self.outputs)}, {sum(spec.elements for spec in self.executable.parameters)} parameters)"


def written(array: Array) -> Memory:
    """An array of ours as a place to write to."""
    return Memory(array.address, array.spec.bytes, array)


def compile(  # noqa: A001 - hybrid.compile is what it does
    source: str | os.PathLike[str], *, batch: int = 32, length: int = 128, precision: str = "f32", model: str | None = None, decode: bool = False,
    optimizer: Sequence[str] = (), memory: str | None = None, target: str | None = None, settings: Mapping[str, object] | None = None,
    threads: int = 0, seed: int | None = 0, **params: object,
) -> Model:
    """Compiles a model's file or text for a batch and a length, or finds what was compiled before.

    `params` are the model's own (`width=256`); those called like an argument here come as `settings`. `model` says which one of several in the file.
    With `decode`, programs that take a sequence token by token are made in place of those that train. `seed`: None leaves parameters zero. Raises
    CompileError with the compiler's message."""
    flags = [f"--batch={batch}", f"--length={length}", f"--precision={precision}"]
    flags += [f"--{name}={value}" for name, value in (("model", model), ("memory", memory), ("target", target)) if value is not None]
    flags += [f"--optimizer={each}" for each in optimizer] + (["--decode"] if decode else [])
    path = compile_to_file(source, {**(settings or {}), **params}, flags)
    return Model(Executable(path), threads=threads, seed=seed)


def load(path: str | os.PathLike[str], *, threads: int = 0, seed: int | None = 0, trust: bool = False) -> Model:
    """A model that hybridc compiled. `trust`: run its machine code though another user made it."""
    return Model(Executable(os.fspath(path), trust), threads=threads, seed=seed)
