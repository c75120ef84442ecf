"""Compiled models and layers as torch.nn.Module, for a loop, an optimizer and a checkpoint of PyTorch's.

torch is imported and never linked: any version that has torch.autograd.Function works. Tensors lie on the CPU; their memory is read and written where
it is."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.autograd.function import once_differentiable

from . import compiler
from ._recycled import Recycled
from .arrays import Memory, Spec
from .errors import ArrayError, CompileError
from .executable import Executable
from .layers import layer_model
from .session import GRADIENT, Session

_DTYPES = {"f32": torch.float32, "f64": torch.float64, "i32": torch.int32}
_PRECISIONS = {torch.float32: "f32", torch.float64: "f64"}


def _memory(tensor: torch.Tensor) -> Memory:
    return Memory(tensor.data_ptr(), tensor.numel() * tensor.element_size(), tensor)


def _whole(tensor: torch.Tensor) -> torch.Tensor:
    """Row by row without gaps. What is so is not asked for again, which is a call of its own."""
    return tensor if tensor.is_contiguous() else tensor.contiguous()


def _empty(spec: Spec) -> torch.Tensor:
    return torch.empty(spec.shape, dtype=_DTYPES[spec.dtype])


class _Call:
    """One forward pass, which backward may follow; `addresses` are those of its inputs."""

    def __init__(self, inputs: Sequence[torch.Tensor]) -> None:
        self.addresses = [tensor.data_ptr() for tensor in inputs]


class _Shape:
    """The model compiled for one batch and length, with memory of its own."""

    def __init__(self, path: str, threads: int) -> None:
        self.executable = Executable(path)
        self.session = Session(self.executable, threads)
        self.forward = self.session.program("forward")
        self.vjp = self.executable.programs.get("vjp")
        # Which outputs have no gradient.
        self.constants = [index for index, spec in enumerate(self.forward.outputs) if self.vjp is None or "cotangent." + spec.name not in self.vjp.input]
        self.sizes = [spec.bytes for spec in self.executable.parameters]
        self.memory = Recycled([*self.sizes, *(port.bytes for port in (*self.forward.outputs, *self.forward.inputs))])
        self.holder: _Call | None = None  # whose parameters are in the session
        self.paused: _Call | None = None  # whose gradients go on from what is in the session

    def hold(self, call: _Call | None, parameters: Sequence[torch.Tensor]) -> None:
        """Sees that the session has these parameters; copies them unless it has those of the same call."""
        if call is not None and self.holder is call:
            return
        whole = [_whole(tensor) for tensor in parameters]
        self.session.write_all([tensor.data_ptr() for tensor in whole], [tensor.numel() * tensor.element_size() for tensor in whole])
        self.holder = call

    def empty(self, spec: Spec) -> torch.Tensor:
        return self.memory.empty(spec.shape, _DTYPES[spec.dtype], spec.bytes)

    def outputs(self, call: _Call | None, inputs: Sequence[torch.Tensor], parameters: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """With a call, the program of gradients computes them as far as that, and pauses."""
        outputs = [self.empty(spec) for spec in self.forward.outputs]
        given = {spec.name: _memory(tensor) for spec, tensor in zip(self.forward.inputs, inputs)}
        results = {spec.name: _memory(tensor) for spec, tensor in zip(self.forward.outputs, outputs)}
        with self.session.lock:
            self.hold(call, parameters)
            self.paused = None
            if call is not None and self.vjp is not None and self.vjp.pauses:
                self.session.run_to_pause("vjp", given, results)
                self.paused = call
            else:
                self.session.run("forward", given, results)
        return outputs

    def gradients(self, call: _Call, inputs: Sequence[torch.Tensor], parameters: Sequence[torch.Tensor], cotangents: Sequence[torch.Tensor | None],
                  of_inputs: Sequence[bool], of_parameters: Sequence[bool]) -> list[torch.Tensor | None]:
        """Those asked for, of inputs and then of parameters. Outputs are computed again where the session did something else since the call."""
        vjp = self.session.program("vjp")
        given = {}
        for spec, cotangent in zip(self.forward.outputs, cotangents):
            if (port := vjp.input.get("cotangent." + spec.name)) is not None:
                dense = torch.zeros(port.shape, dtype=_DTYPES[port.dtype]) if cotangent is None else _whole(cotangent)
                given[port.name] = _memory(dense)
        results: list[torch.Tensor | None] = []
        wanted = {}
        for spec, asked in zip(self.forward.inputs, of_inputs):
            results.append(self.empty(spec) if asked else None)
            if asked:
                wanted["grad." + spec.name] = _memory(results[-1])  # type: ignore[arg-type]
        found = [self.empty(spec) if asked else None for spec, asked in zip(self.executable.parameters, of_parameters)]
        places = [0 if tensor is None else tensor.data_ptr() for tensor in found]
        with self.session.lock:
            # Hooks of saved tensors may have brought others in place of those that the session reads.
            if self.paused is call and [tensor.data_ptr() for tensor in inputs] == call.addresses:
                self.session.resume("vjp", given, wanted)
            else:
                self.hold(call, parameters)
                self.session.run("vjp", {**given, **{spec.name: _memory(tensor) for spec, tensor in zip(self.forward.inputs, inputs)}}, wanted)
            self.paused = None
            self.session.read_all(places, self.sizes, GRADIENT)
        return results + found


class _Apply(torch.autograd.Function):
    """forward runs program "vjp" to its pause, and backward from there; program "forward" where no gradient is wanted."""

    @staticmethod
    def forward(ctx: Any, shape: _Shape, count: int, is_recorded: bool, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        inputs, parameters = [_whole(tensor) for tensor in tensors[:count]], tensors[count:]
        ctx.call = _Call(inputs) if is_recorded and any(ctx.needs_input_grad) else None
        outputs = tuple(shape.outputs(ctx.call, inputs, parameters))
        ctx.shape, ctx.count = shape, count
        ctx.save_for_backward(*inputs, *parameters)
        ctx.set_materialize_grads(False)
        if shape.constants:
            ctx.mark_non_differentiable(*(outputs[index] for index in shape.constants))
        return outputs

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *cotangents: torch.Tensor | None) -> tuple[Any, ...]:
        saved, needed = ctx.saved_tensors, ctx.needs_input_grad[3:]
        found = ctx.shape.gradients(ctx.call, saved[: ctx.count], saved[ctx.count :], cotangents, needed[: ctx.count], needed[ctx.count :])
        return (None, None, None, *found)


class Module(torch.nn.Module):
    """A model's file or text as a module, whose parameters have the names that the model gives them.

    Inputs come in the model's order or by name; one output is a tensor, several are a dict. float32 and float64 are computed as such; the module's
    parameters say which (`module.double()`). `precision="bf16"` rounds what float32 matrix products multiply.

    Each batch and length is compiled when it is first met, and `max_shapes` of them are kept with their memory. After `exact_lengths` lengths a causal
    model is compiled for powers of two only, and shorter sequences are padded behind their end; a model that is not causal, or computes something else
    when it is padded, refuses a further length. `batch` and `length` are what the parameters are found out with: give those of the training."""

    def __init__(self, source: str | os.PathLike[str], *, batch: int = 1, length: int = 16, precision: str = "f32", model: str | None = None,
                 threads: int = 0, seed: int = 0, exact_lengths: int = 4, max_shapes: int = 8, settings: Mapping[str, object] | None = None,
                 **params: object) -> None:
        super().__init__()
        self._source, self._settings = source, {**(settings or {}), **params}
        self._precision, self._model, self._threads = precision, model, threads
        self._exact_lengths, self._max_shapes = exact_lengths, max_shapes
        self._shapes: OrderedDict[tuple[int, int, str], _Shape] = OrderedDict()
        self._lengths: list[int] = []
        self._padded: set[int] = set()
        # Sequences are cut along the axes that a description names; it needs a size that the model takes.
        self._positions = compiler.describe_positions(source, self._settings, self._flags(batch, length, precision))
        shape = self._shape(batch, length, "f64" if precision == "f64" else "f32")
        shape.session.initialize(seed)
        self._names: list[str] = []
        self._places: list[tuple[dict[str, Any], str]] = []  # of the parameters, in their modules
        for index, spec in enumerate(shape.executable.parameters):
            value = _empty(spec)
            shape.session.read(index, _memory(value))
            self._names.append(spec.name)
            self._register(spec.name, value, spec.trained)

    def forward(self, *inputs: torch.Tensor, **named: torch.Tensor) -> torch.Tensor | dict[str, torch.Tensor]:
        tensors = self._in_order(inputs, named)
        parameters = [place[name] for place, name in self._places]
        precision = self._precision_of(tensors, parameters)
        sizes = self._sizes(tensors)
        length = sizes.get("L", 1)
        compiled = self._length_for(length, sizes.get("B", 1), precision)
        shape = self._shape(sizes.get("B", 1), compiled, precision)
        ready = [self._converted(spec, self._pad(tensor, spec.name, compiled - length)) for spec, tensor in zip(shape.forward.inputs, tensors)]
        outputs: tuple[torch.Tensor, ...] = _Apply.apply(shape, len(ready), torch.is_grad_enabled(), *ready, *parameters)
        if compiled != length:
            outputs = tuple(output.narrow(1, 0, length) for output in outputs)
        if len(outputs) == 1:
            return outputs[0]
        return {spec.name: output for spec, output in zip(shape.forward.outputs, outputs)}

    def extra_repr(self) -> str:
        what = "<text>" if compiler.is_text(self._source) else os.fspath(self._source)
        return f"{what}, inputs={self._positions['inputs']}, precision={self._precision}"

    def __getstate__(self) -> dict[str, Any]:
        """Without what is compiled: a copy compiles again, from the cache."""
        return {**self.__dict__, "_shapes": OrderedDict()}

    # Parameters have dots in their names: each part is a module of its own.
    def _register(self, name: str, value: torch.Tensor, trained: bool) -> None:
        *folders, last = name.split(".")
        place: torch.nn.Module = self
        for folder in folders:
            if folder not in place._modules:
                place.add_module(folder, torch.nn.Module())
            place = place._modules[folder]  # type: ignore[assignment]
        if trained:
            place.register_parameter(last, torch.nn.Parameter(value))
        else:
            place.register_buffer(last, value)
        self._places.append((place._parameters if trained else place._buffers, last))

    def _flags(self, batch: int, length: int, precision: str) -> list[str]:
        return [f"--batch={batch}", f"--length={length}", f"--precision={precision}"] + ([f"--model={self._model}"] if self._model else [])

    def _shape(self, batch: int, length: int, precision: str) -> _Shape:
        key = (batch, length, precision)
        if key not in self._shapes:
            asked = self._precision if precision == "f32" else precision
            path = compiler.compile_to_file(self._source, self._settings, self._flags(batch, length, asked))
            self._shapes[key] = _Shape(path, self._threads)
            while len(self._shapes) > self._max_shapes:
                self._shapes.popitem(last=False)
        self._shapes.move_to_end(key)
        return self._shapes[key]

    def _in_order(self, inputs: Sequence[torch.Tensor], named: Mapping[str, torch.Tensor]) -> list[torch.Tensor]:
        specs = next(reversed(self._shapes.values())).forward.inputs if self._shapes else self._shape(1, 16, "f32").forward.inputs
        names = [spec.name for spec in specs]
        given = dict(zip(names, inputs))
        if len(inputs) > len(names) or set(given) & set(named) or set(given) | set(named) != set(names):
            raise ArrayError(f"{len(inputs)} inputs and {sorted(named)} are given, expected {names}")
        given.update(named)
        for name, tensor in given.items():
            if not isinstance(tensor, torch.Tensor):
                raise ArrayError(f"input '{name}' is of {type(tensor).__name__}, expected a tensor")
            if tensor.device.type != "cpu":
                raise ArrayError(f"input '{name}' is on {tensor.device}; the model is compiled for the CPU: move it with .cpu()")
        return [given[name] for name in names]

    def _precision_of(self, tensors: Sequence[torch.Tensor], parameters: Sequence[torch.Tensor]) -> str:
        real = next((tensor for tensor in (*parameters, *tensors) if tensor.is_floating_point()), None)
        dtype = _DTYPES["f64" if self._precision == "f64" else "f32"] if real is None else real.dtype
        if dtype not in _PRECISIONS:
            raise ArrayError(f"the module's dtype is {dtype}, expected torch.float32 or torch.float64: use .float(), and precision='bf16' for bf16 products")
        for name, tensor in zip(self._names, parameters):
            if not tensor.is_cpu:
                raise ArrayError(f"parameter '{name}' is on {tensor.device}; the model is compiled for the CPU: move the module with .cpu()")
            if tensor.dtype is not dtype:
                raise ArrayError(f"parameter '{name}' is {tensor.dtype}, and others are {dtype}")
        for name, tensor in zip(self._positions["inputs"], tensors):
            if tensor.is_floating_point() and tensor.dtype != dtype:
                raise ArrayError(f"an input is {tensor.dtype}, and the module is {dtype}: convert one of them")
        return _PRECISIONS[dtype]

    def _sizes(self, tensors: Sequence[torch.Tensor]) -> dict[str, int]:
        """Of the free dimensions."""
        sizes: dict[str, int] = {}
        for spec, tensor in zip(next(reversed(self._shapes.values())).forward.inputs, tensors):
            dims = self._positions["inputs"][spec.name]
            shape = list(tensor.shape)
            fits = len(dims) == len(shape) and all(
                size > 0 and size == (dim if isinstance(dim, int) else sizes.setdefault(dim, size)) for dim, size in zip(dims, shape))
            if not fits:
                raise ArrayError(f"input '{spec.name}' is {shape}, expected [{', '.join(map(str, dims))}]" + (f" with {sizes}" if sizes else ""))
        return sizes

    def _length_for(self, length: int, batch: int, precision: str) -> int:
        """The length to compile for."""
        if length in self._lengths:
            return length
        if len(self._lengths) < self._exact_lengths:
            self._lengths.append(length)
            return length
        if why := self._why_not_padded():
            raise ArrayError(f"{length} is one length more than exact_lengths={self._exact_lengths}, and the model is not padded: {why}; raise exact_lengths")
        padded = 1 << (length - 1).bit_length()
        if padded not in self._padded:
            self._check_padding(padded, batch, precision)
            self._padded.add(padded)
        return padded

    def _why_not_padded(self) -> str:
        if self._positions["causal"] is not True:
            return f"its output '{self._positions.get('output', '')}' may see later positions"
        without = {spec.name for spec in next(iter(self._shapes.values())).forward.outputs} - set(self._positions["along"])
        if without:
            return f"its outputs {sorted(without)} are of the whole sequence"
        if any(dims[1:2] != ["L"] for dims in self._positions["inputs"].values() if "L" in dims):
            return "an input has its positions in another dimension than the second"
        return ""

    def _check_padding(self, padded: int, batch: int, precision: str) -> None:
        """That the model computes at the padded length what it does at a length of its own, or ArrayError: a filter, say, may depend on the length."""
        own = max((length for length in self._lengths if length < padded), default=None)
        if own is None:
            return
        short, long = self._shape(batch, own, precision), self._shape(batch, padded, precision)
        parameters = [place[name].detach() for place, name in self._places]
        draw = torch.Generator().manual_seed(0)
        inputs = [torch.randn(spec.shape, generator=draw, dtype=_DTYPES[spec.dtype]) if spec.is_float else torch.zeros(spec.shape, dtype=torch.int32)
                  for spec in short.forward.inputs]
        longer = [self._pad(tensor, spec.name, padded - own) for spec, tensor in zip(short.forward.inputs, inputs)]
        for spec, one, other in zip(short.forward.outputs, short.outputs(None, inputs, parameters), long.outputs(None, longer, parameters)):
            cut = other.narrow(1, 0, own)
            if not torch.allclose(one, cut, rtol=1e-3, atol=1e-4 * float(one.abs().max())):
                raise ArrayError(f"output '{spec.name}' is another at length {padded} than at {own}: the model depends on the length itself and is not "
                                 f"padded; raise exact_lengths={self._exact_lengths}")

    def _pad(self, tensor: torch.Tensor, name: str, count: int) -> torch.Tensor:
        if count == 0 or "L" not in self._positions["inputs"][name]:
            return tensor
        return torch.nn.functional.pad(tensor, [0, 0] * (tensor.dim() - 2) + [0, count])

    @staticmethod
    def _converted(spec: Spec, tensor: torch.Tensor) -> torch.Tensor:
        wanted = _DTYPES[spec.dtype]
        if tensor.dtype == wanted:
            return tensor
        if wanted == torch.int32 and tensor.dtype in (torch.int64, torch.int16, torch.uint8, torch.int8):
            whole = tensor.to(torch.int32)
            if tensor.dtype == torch.int64 and not torch.equal(whole.to(torch.int64), tensor):
                raise ArrayError(f"input {spec} has numbers beyond 32 bits")
            return whole
        raise ArrayError(f"input {spec} is {tensor.dtype}, expected {wanted}")


def layer(module: str, name: str, *, width: int | None = None, inputs: Mapping[str, str] | None = None,
          outputs: Sequence[str] | Mapping[str, int] = ("y",), page: str = "", settings: Mapping[str, object] | None = None, batch: int = 1, length: int = 16, precision: str = "f32", threads: int = 0, seed: int = 0, exact_lengths: int = 4, max_shapes: int = 8,
          **arguments: object) -> Module:
    """A layer of models/std, or of a page, as a module: `layer("std.delta", "gated_deltanet", width=64, heads=4)`; see hybrid.layer_model."""
    text = layer_model(module, name, width=width, inputs=inputs, outputs=outputs, page=page, settings=settings, **arguments).text
    return Module(text, batch=batch, length=length, precision=precision, threads=threads, seed=seed, exact_lengths=exact_lengths, max_shapes=max_shapes)


__all__ = ["ArrayError", "CompileError", "Module", "layer"]
