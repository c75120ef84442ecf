"""The MAD models as a good PyTorch user would write them: the peer that Hybrid is measured against.

Fused attention (scaled_dot_product_attention), convolution by real FFT, RMSNorm and linear layers from
torch.nn. Sizes and structure follow models/mad/*.hyb; benchmarks/run compares the parameter counts, so
that the two sides cannot drift apart unnoticed.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    """Causal multi-head attention with rotary positions (half style) on the whole head."""

    def __init__(self, width, heads, length, bias):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=bias)
        self.out = nn.Linear(width, width, bias=bias)
        size = width // heads
        frequency = 10000.0 ** (-torch.arange(0, size, 2) / size)
        angle = torch.outer(torch.arange(length), frequency)
        self.register_buffer("cos", angle.cos(), persistent=False)
        self.register_buffer("sin", angle.sin(), persistent=False)

    def rotate(self, x):
        a, b = x.chunk(2, dim=-1)
        cos, sin = self.cos[: x.shape[-2]], self.sin[: x.shape[-2]]
        return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(self.rotate(q), self.rotate(k), v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class Sine(nn.Module):
    def __init__(self, frequency):
        super().__init__()
        self.frequency = frequency

    def forward(self, x):
        return torch.sin(self.frequency * x)


class ImplicitFilter(nn.Module):
    """Long filter: sine features of the position through a small network, under a decay window."""

    def __init__(self, channels, length, features, hidden, layers):
        super().__init__()
        t = torch.linspace(0, 1, length)
        bands = (features - 1) // 2
        f = torch.linspace(1e-4, bands - 1, bands) if bands > 1 else torch.tensor([1e-4])
        angle = torch.outer(2 * math.pi * torch.arange(length) / length, f)
        self.z = nn.Parameter(torch.cat((t[:, None], angle.cos(), -angle.sin()), dim=1))
        frequency = nn.Parameter(torch.ones(hidden))
        parts = [nn.Linear(features, hidden), Sine(frequency)]
        for _ in range(layers):
            parts += [nn.Linear(hidden, hidden), Sine(frequency)]
        self.network = nn.Sequential(*parts, nn.Linear(hidden, channels, bias=False))
        delta = torch.linspace(math.log(1e-2) / 1.5, math.log(1e-2) / 0.3, channels).abs()
        self.register_buffer("window", torch.exp(-t[:, None] * delta), persistent=False)

    def forward(self, length):
        return (self.network(self.z[:length]) * self.window[:length]).T  # (channels, length)


class Hyena(nn.Module):
    """Order 2: gate, long convolution, gate, on three streams behind a short convolution."""

    def __init__(self, width, inner, groups, length, taps, features, hidden, layers):
        super().__init__()
        self.inner, self.groups = inner, groups
        self.project = nn.Linear(width, 3 * inner // groups)
        self.short = nn.Conv1d(3 * inner, 3 * inner, taps, groups=3 * inner, padding=taps - 1)
        self.filter = ImplicitFilter(inner, length, features, hidden, layers)
        self.skip = nn.Parameter(torch.randn(inner))
        self.out = nn.Linear(inner, width)

    def forward(self, x):
        length = x.shape[1]
        streams = self.project(x).transpose(1, 2)
        if self.groups > 1:
            streams = streams.repeat(1, self.groups, 1)
        g0, g1, v = self.short(streams)[..., :length].split(self.inner, dim=1)
        w = g1 * v
        spectrum = torch.fft.rfft(w, n=2 * length) * torch.fft.rfft(self.filter(length), n=2 * length)
        y = torch.fft.irfft(spectrum, n=2 * length)[..., :length] + self.skip[:, None] * w
        return self.out((y * g0).transpose(1, 2))


class SwiGLU(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.gate = nn.Linear(width, inner, bias=False)
        self.up = nn.Linear(width, inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Model(nn.Module):
    """Pre-norm residual layers, one letter each: A attention, H Hyena, S SwiGLU."""

    def __init__(self, layers, vocab, length, width=128, heads=16, inner=512, attention_bias=False,
                 head_bias=False, hyena=None):
        super().__init__()
        hyena = {"inner": width, "groups": 1, "taps": 3, "features": 3, "hidden": 16, "layers": 2, **(hyena or {})}
        make = {
            "A": lambda: Attention(width, heads, length, attention_bias),
            "H": lambda: Hyena(width, length=length, **hyena),
            "S": lambda: SwiGLU(width, inner),
        }
        self.embed = nn.Embedding(vocab, width)
        nn.init.normal_(self.embed.weight, std=0.02)
        self.layers = nn.ModuleList(make[letter]() for letter in layers)
        self.norms = nn.ModuleList(nn.RMSNorm(width, eps=1e-5) for _ in range(len(layers) + 1))
        self.head = nn.Linear(width, vocab, bias=head_bias)

    def forward(self, tokens):
        x = self.embed(tokens)
        for norm, layer in zip(self.norms, self.layers):
            x = x + layer(norm(x))
        return self.head(self.norms[-1](x))


def loss_of(model, tokens, targets):
    logits = model(tokens)
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100)
