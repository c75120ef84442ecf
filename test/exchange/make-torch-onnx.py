#!/usr/bin/env python3
"""Makes the models of test/exchange/torch: two small language models written here in PyTorch, exported by both of its exporters, the tokens
they were asked about and the logits and losses that PyTorch computed.

  usage: make-torch-onnx.py FOLDER

Needs torch, onnx and onnxscript; the files are kept in the tree, so that tests need none of these.
"""

import pathlib
import sys

import numpy
import onnx
import torch
from torch import nn
from torch.nn import functional

VOCABULARY, WIDTH, LENGTH = 13, 16, 8


class Attention(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        b, l, d = x.shape
        q, k, v = (part.view(b, l, self.heads, d // self.heads).transpose(1, 2) for part in self.qkv(x).split(WIDTH, dim=-1))
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(b, l, d))


class Transformer(nn.Module):
    """As GPT-2: learned positions, layer norms in front, attention and a multi-layer perceptron, the table once more as the head."""

    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Embedding(16, WIDTH)
        self.norm1, self.norm2, self.norm = (nn.LayerNorm(WIDTH) for _ in range(3))
        self.attention = Attention(4)
        self.up, self.down = nn.Linear(WIDTH, 32), nn.Linear(32, WIDTH)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1], device=tokens.device))
        x = x + self.attention(self.norm1(x))
        x = x + self.down(functional.gelu(self.up(self.norm2(x))))
        return self.norm(x) @ self.tokens.weight.T


class Convolutional(nn.Module):
    """Causal convolutions of each channel, gated, and a dense one; root mean squares in front."""

    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.scale = nn.Parameter(torch.rand(WIDTH) + 0.5)
        self.inputs = nn.Linear(WIDTH, 2 * WIDTH, bias=False)
        self.depthwise = nn.Conv1d(WIDTH, WIDTH, 4, groups=WIDTH, padding=3)
        self.dense = nn.Conv1d(WIDTH, WIDTH, 3, dilation=2)
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens):
        x = self.tokens(tokens)
        y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.scale
        value, gate = self.inputs(y).chunk(2, dim=-1)
        value = self.depthwise(value.transpose(1, 2))[..., : tokens.shape[1]].transpose(1, 2)
        x = x + value * functional.silu(gate)
        x = x + self.dense(functional.pad(x.transpose(1, 2), (4, 0))).transpose(1, 2)
        return self.head(torch.tanh(x))


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, kind in (("transformer", Transformer), ("convolutional", Convolutional)):
        torch.manual_seed(1)
        model = kind().eval()
        tokens = torch.randint(0, VOCABULARY, (2, LENGTH))
        with torch.no_grad():
            logits = model(tokens)
        numpy.save(folder / f"{name}.tokens.npy", tokens.numpy().astype(numpy.int32))
        numpy.save(folder / f"{name}.logits.npy", logits.numpy())
        torch.onnx.export(model, (tokens,), folder / f"{name}-dynamo.onnx", dynamo=True, external_data=False, input_names=["tokens"],
                          output_names=["logits"], dynamic_shapes=({0: torch.export.Dim("batch", min=2), 1: torch.export.Dim("length", min=3, max=16)},))
        torch.onnx.export(model, (tokens,), folder / f"{name}-script.onnx", dynamo=False, input_names=["input_ids"], output_names=["result"],
                          dynamic_axes={"input_ids": {0: "n", 1: "t"}, "result": {0: "n", 1: "t"}})
        for path in folder.glob("*.onnx"):
            strip(path)


def strip(path):
    """Leaves out what is said about the Python lines that made a node: half of a small file."""
    model = onnx.load(path)
    for node in model.graph.node:
        del node.metadata_props[:]
        node.doc_string = ""
    for value in [*model.graph.value_info, *model.graph.input, *model.graph.output, *model.graph.initializer]:
        del value.metadata_props[:]
        value.doc_string = ""
    del model.graph.value_info[:]
    onnx.save(model, path)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
