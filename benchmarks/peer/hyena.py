"""Hyena and its relatives: long convolutions by real FFT, filters from a small network."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from channel import Router


def long_convolution(x, filters, skip):
    """x is (batch, ..., length), filters (..., length), skip (...); causal. The transform is in f32 under autocast."""
    length = x.shape[-1]
    x = x.float()
    spectrum = torch.fft.rfft(x, n=2 * length) * torch.fft.rfft(filters.float(), n=2 * length)
    return torch.fft.irfft(spectrum, n=2 * length)[..., :length] + skip[..., None] * x


class Sine(nn.Module):
    def __init__(self, frequency):
        super().__init__()
        self.frequency = frequency

    def forward(self, x):
        return torch.sin(self.frequency * x)


class ImplicitFilter(nn.Module):
    """Long filter: sine features of the position, learned or not, through a small network, under a decay window."""

    def __init__(self, channels, length, hidden, features=3, layers=2, frequency=1.0, learn_features=True):
        super().__init__()
        t = torch.linspace(0, 1, length)
        bands = (features - 1) // 2
        f = torch.linspace(1e-4, bands - 1, bands) if bands > 1 else torch.tensor([1e-4])
        angle = torch.outer(2 * math.pi * torch.arange(length) / length, f)
        self.z = nn.Parameter(torch.cat((t[:, None], angle.cos(), -angle.sin()), dim=1), requires_grad=learn_features)
        frequency = nn.Parameter(torch.full((hidden,), frequency))
        parts = [nn.Linear(features, hidden), Sine(frequency)]
        for _ in range(layers):
            parts += [nn.Linear(hidden, hidden), Sine(frequency)]
        self.network = nn.Sequential(*parts, nn.Linear(hidden, channels, bias=False))
        delta = torch.linspace(math.log(1e-2) / 1.5, math.log(1e-2) / 0.3, channels).abs()
        self.register_buffer("window", torch.exp(-t[:, None] * delta), persistent=False)

    def forward(self, length):
        return (self.network(self.z[:length]) * self.window[:length]).T  # (channels, length)


class ShortStreams(nn.Module):
    """A projection to three streams (`groups`: projected once, used that often), then a short causal convolution."""

    def __init__(self, width, inner, groups=1, taps=3):
        super().__init__()
        self.inner, self.groups = inner, groups
        self.project = nn.Linear(width, 3 * inner // groups)
        self.short = nn.Conv1d(3 * inner, 3 * inner, taps, groups=3 * inner, padding=taps - 1)

    def forward(self, x):
        streams = self.project(x).transpose(1, 2)
        if self.groups > 1:
            streams = streams.repeat(1, self.groups, 1)
        return self.short(streams)[..., : x.shape[1]].split(self.inner, dim=1)


class Hyena(nn.Module):
    """Order 2: gate, long convolution, gate."""

    def __init__(self, width, length, inner=512, groups=4, hidden=4, frequency=1.0, learn_features=True):
        super().__init__()
        self.streams = ShortStreams(width, inner, groups)
        self.filter = ImplicitFilter(inner, length, hidden, frequency=frequency, learn_features=learn_features)
        self.skip = nn.Parameter(torch.randn(inner))
        self.out = nn.Linear(inner, width)

    def operator(self, x):
        g0, g1, v = self.streams(x)
        return (g0 * long_convolution(g1 * v, self.filter(x.shape[1]), self.skip)).transpose(1, 2)

    def forward(self, x):
        return self.out(self.operator(x))


class HyenaExperts(Hyena):
    """Hyena operators of `size` channels as experts: all run, and a token reads the weighted sum of its `active` ones."""

    def __init__(self, width, length, experts=8, active=2, size=16, hidden=16):
        super().__init__(width, length, inner=experts * size, groups=1, hidden=hidden)
        self.router = Router(width, experts, active)
        self.experts = experts
        self.out = nn.Linear(size, width)

    def forward(self, x):
        y = self.operator(x).unflatten(-1, (-1, self.experts))  # channel c = i * experts + expert
        weights = self.router.dense(x)
        return self.out((y * weights[:, :, None, :]).sum(dim=-1))


class MultiHeadHyena(nn.Module):
    """Heads of `head` channels: the outer product of k and v through a head's filter, read by q."""

    def __init__(self, width, length, head=8, hidden=2):
        super().__init__()
        self.head, self.heads = head, width // head
        self.streams = ShortStreams(width, width)
        self.filter = ImplicitFilter(self.heads, length, hidden)
        self.skip = nn.Parameter(torch.randn(self.heads))
        self.out = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, v, k = (s.unflatten(1, (self.heads, self.head)) for s in self.streams(x))
        products = k[:, :, :, None] * v[:, :, None]  # (batch, heads, head, head, length)
        y = long_convolution(products, self.filter(length)[:, None, None], self.skip[:, None, None])
        read = (q[:, :, :, None] * y).sum(dim=2).movedim(-1, 1)
        return self.out(read.reshape(batch, length, width))
