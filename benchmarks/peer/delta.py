"""Gated DeltaNet, Kimi delta attention and Mamba-2: a state that erases before it writes, and one with a decay a head."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from scans import delta_rule_chunked, linear_scan_by_head

TAPS = 4


class ShortConvolution(nn.Module):
    """Of each channel, over this position and those before it; then silu."""

    def __init__(self, width, bias=False):
        super().__init__()
        self.taps = nn.Conv1d(width, width, TAPS, groups=width, padding=TAPS - 1, bias=bias)

    def forward(self, x):
        return F.silu(self.taps(x.transpose(1, 2))[..., : x.shape[1]]).transpose(1, 2)


def by_head(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def rate_and_bias(heads, channels):
    """A rate a head, and what the softplus of is a step between 0.001 and 0.1."""
    start = torch.empty(channels).uniform_(math.log(0.001), math.log(0.1)).exp().clamp(min=1e-4)
    return nn.Parameter(torch.empty(heads).uniform_(1, 16).log()), nn.Parameter(start.expm1().log())


class GatedDeltaNet(nn.Module):
    """A decay a head; heads are normed, then gated."""

    def __init__(self, width, length, heads=8):
        super().__init__()
        self.heads, self.width = heads, width
        self.project = nn.Linear(width, 4 * width + 2 * heads, bias=False)
        self.short = ShortConvolution(3 * width)
        self.rate, self.bias = rate_and_bias(heads, heads)
        self.norm = nn.RMSNorm(width // heads, eps=1e-6)
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, x):
        streams, gate, b, a = self.project(x).split([3 * self.width, self.width, self.heads, self.heads], dim=-1)
        q, k, v = (by_head(z, self.heads) for z in self.short(streams).chunk(3, dim=-1))
        decay = (-self.rate.exp() * F.softplus(a.float() + self.bias)).transpose(1, 2)[..., None]
        y = self.erased(q, k, v, b, decay)
        y = self.norm(y.transpose(1, 2)).flatten(2)
        return self.out(y * F.silu(gate))

    @staticmethod
    def erased(q, k, v, b, decay):
        """The rule with keys and queries of length 1, in f32."""
        q, k = (F.normalize(z.float(), dim=-1) for z in (q, k))
        beta = b.float().sigmoid().transpose(1, 2)[..., None]
        return delta_rule_chunked(q * q.shape[-1] ** -0.5, k, beta * v.float(), beta * decay.exp() * k, decay)


class KimiDeltaAttention(nn.Module):
    """A decay a key channel from as many numbers as a head has, and a gate from such too."""

    def __init__(self, width, length, heads=8):
        super().__init__()
        self.heads, self.width, rank = heads, width, width // heads
        self.parts = [3 * width, rank, rank, heads]
        self.project = nn.Linear(width, sum(self.parts), bias=False)
        self.short = ShortConvolution(3 * width)
        self.rate, self.bias = rate_and_bias(heads, width)
        self.decay_out, self.gate_out = nn.Linear(rank, width, bias=False), nn.Linear(rank, width, bias=False)
        self.norm = nn.RMSNorm(rank, eps=1e-6)
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, x):
        streams, low, gate, b = self.project(x).split(self.parts, dim=-1)
        q, k, v = (by_head(z, self.heads) for z in self.short(streams).chunk(3, dim=-1))
        step = by_head(F.softplus(self.decay_out(low).float() + self.bias), self.heads)
        y = GatedDeltaNet.erased(q, k, v, b, -self.rate.exp()[:, None, None] * step)
        y = self.norm(y.transpose(1, 2)).flatten(2)
        return self.out(y * self.gate_out(gate).sigmoid())


class Mamba2(nn.Module):
    def __init__(self, width, length, head_size=32, states=4, expand=2):
        super().__init__()
        inner = expand * width
        self.heads, self.states = inner // head_size, states
        self.parts = [inner, inner + 2 * states, self.heads]
        self.project = nn.Linear(width, sum(self.parts), bias=False)
        self.short = ShortConvolution(inner + 2 * states, bias=True)
        self.rate, self.bias = rate_and_bias(self.heads, self.heads)
        self.skip = nn.Parameter(torch.ones(self.heads))
        self.norm = nn.RMSNorm(inner, eps=1e-5)
        self.out = nn.Linear(inner, width, bias=False)

    def forward(self, x):
        z, mixed, rate = self.project(x).split(self.parts, dim=-1)
        mixed = self.short(mixed)
        u, b, c = mixed.split([mixed.shape[-1] - 2 * self.states, self.states, self.states], dim=-1)
        step = F.softplus(rate.float() + self.bias).transpose(1, 2)
        u = by_head(u.float(), self.heads)
        y = linear_scan_by_head(c.float()[:, None], b.float()[:, None], u * step[..., None], -self.rate.exp()[:, None] * step)
        y = (y + self.skip[:, None, None] * u).transpose(1, 2).flatten(2)
        return self.out(self.norm(y * F.silu(z)))
