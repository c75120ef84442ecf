"""A layer of the library, or of a page of one's own, as a model of that one layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .compiler import setting_text


@dataclass(frozen=True)
class Layer:
    """The text of a model that is one layer."""

    text: str


def layer_model(module: str, layer: str, *, width: int | None = None, inputs: Mapping[str, str] | None = None, 
                outputs: Sequence[str] | Mapping[str, int] = ("y",), page: str = "", settings: Mapping[str, object] | None = None,
                **arguments: object) -> Layer:
    """A model of `layer`, which `use module` brings: `layer_model("std.delta", "gated_deltanet", width=64, heads=4)`.

    Its input is x [B, L, width], unless `inputs` says others, in the layer's order and as the language writes them:
    `inputs={"tokens": "int[B, L]"}`; one that the layer takes by name only is written "name = x: [B, L]" with the layer's name before "=".
    A layer with several results has as many `outputs`; a mapping says which of them each is. Other arguments, or `settings` where one is called like an
    argument here, are the layer's own; strings come as the language writes them, such as
    `routing='"softmax_topk"'` or `filter="sine_filter with (width = 16)"`. `page` is text before the model: uses and layers of one's own."""
    arguments = {**(settings or {}), **arguments}
    if inputs is None:
        if width is None:
            raise TypeError("layer_model() takes width, or inputs")
        inputs = {"x": f"[B, L, {width}]"}
    elif width is not None:
        arguments = {"width": width, **arguments}
    declared, words = [], []
    for name, shape in inputs.items():
        argument, _, own = name.rpartition("=")
        declared.append(f"  input {own.strip()}: {shape}\n")
        words.append(f"{argument.strip()} = {own.strip()}" if argument else own.strip())
    words += [f"{name} = {setting_text(value)}" for name, value in arguments.items()]
    call = f"{layer}({', '.join(words)})"
    if len(outputs) == 1 and not isinstance(outputs, Mapping):
        body = f"  output {outputs[0]} = {call}\n"
    else:
        places = outputs if isinstance(outputs, Mapping) else {name: i for i, name in enumerate(outputs)}
        body = f"  let results = {call}\n" + "".join(f"  output {name} = results[{place}]\n" for name, place in places.items())
    use = f"use {module}\n" if module else ""
    return Layer(f"{use}{page}\nmodel layer {{\n{''.join(declared)}{body}}}\n")
