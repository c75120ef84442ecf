"""What a .hyx holds: parameters, programs, their inputs and outputs."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cached_property

from . import _library
from .arrays import Spec, type_name


@dataclass(frozen=True)
class ParameterSpec(Spec):
    """A parameter; `trained`: training changes it, and vjp gives its gradient."""

    trained: bool


@dataclass(frozen=True)
class Program:
    """`pauses`: it runs in two parts, outputs first and gradients when the cotangents are there."""

    name: str
    inputs: tuple[Spec, ...]
    outputs: tuple[Spec, ...]
    pauses: bool

    @cached_property
    def input(self) -> dict[str, Spec]:
        return {spec.name: spec for spec in self.inputs}

    @cached_property
    def output(self) -> dict[str, Spec]:
        return {spec.name: spec for spec in self.outputs}


def _spec(info: _library.TensorInfo) -> Spec:
    return Spec(info.name.decode(), tuple(info.shape[: info.rank]), type_name(info.type))


class Executable(_library.Owned):
    """A verified .hyx. Its code runs when this user's hybridc made it, or with `trust`."""

    def __init__(self, path: str, trust: bool = False) -> None:
        handle = ctypes.c_void_p()
        _library.call("executable_load_trusted" if trust else "executable_load", str(path).encode(), ctypes.byref(handle))
        super().__init__("executable_close", handle)
        self.path = str(path)
        self.device: str = _library.ask("executable_device", handle).decode()
        self.programs = {program.name: program for program in map(self._program, range(_library.ask("program_count", handle)))}
        self.parameters = tuple(map(self._parameter, range(_library.ask("parameter_count", handle))))

    def _program(self, index: int) -> Program:
        name = _library.ask("program_name", self.handle, index)
        ports = []
        for kind in ("input", "output"):
            specs = []
            for port in range(_library.ask(kind + "_count", self.handle, name)):
                info = _library.TensorInfo()
                _library.call(kind + "_info", self.handle, name, port, ctypes.byref(info))
                specs.append(_spec(info))
            ports.append(tuple(specs))
        inputs, outputs = ports
        return Program(name.decode(), inputs, outputs, bool(_library.ask("program_pauses", self.handle, name)))

    def _parameter(self, index: int) -> ParameterSpec:
        info = _library.TensorInfo()
        _library.call("parameter_info", self.handle, index, ctypes.byref(info))
        spec = _spec(info)
        return ParameterSpec(spec.name, spec.shape, spec.dtype, bool(_library.ask("parameter_is_trained", self.handle, index)))
