"""Linear attention and its gated form, in chunks."""

import torch
from torch import nn
from torch.nn import functional as F

from scans import linear_scan_chunked


class ProductMap(nn.Module):
    """(A x + a) * (B x + b), shared by the heads."""

    def __init__(self, size):
        super().__init__()
        self.a, self.b = nn.Linear(size, size), nn.Linear(size, size)

    def forward(self, x):
        return self.a(x) * self.b(x)


class LinearAttention(nn.Module):
    """Sums of outer products, normalised: the normaliser is one more value channel, of ones."""

    def __init__(self, width, length, heads=16, chunk=32):
        super().__init__()
        self.heads, self.chunk = heads, chunk
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.map_q, self.map_k = ProductMap(width // heads), ProductMap(width // heads)
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        q, k = self.map_q(q), self.map_k(k)
        y = linear_scan_chunked(q, k, F.pad(v, (0, 1), value=1.0), chunk=self.chunk).float()
        y = y[..., :-1] / (y[..., -1:] + 1e-12)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class GatedLinearAttention(nn.Module):
    """A decay a key channel and token, from a map of rank 16; heads are normed, then gated."""

    def __init__(self, width, length, heads=8, rank=16, temperature=16, chunk=32):
        super().__init__()
        self.heads, self.temperature, self.chunk = heads, temperature, chunk
        self.qkvg = nn.Linear(width, 4 * width, bias=False)
        self.decay_in = nn.Linear(width, rank, bias=False)
        self.decay_out = nn.Linear(rank, width)
        nn.init.zeros_(self.decay_out.bias)
        self.norm = nn.RMSNorm(width // heads, eps=1e-5)
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v, gate = self.qkvg(x).chunk(4, dim=-1)
        decay = F.logsigmoid(self.decay_out(self.decay_in(x)).float()) / self.temperature
        q, k, v, decay = (z.unflatten(-1, (self.heads, -1)).transpose(1, 2) for z in (q, k, v, decay))
        y = linear_scan_chunked(q * q.shape[-1] ** -0.5, k, v, decay, chunk=self.chunk)
        y = self.norm(y.transpose(1, 2)).reshape(batch, length, width)
        return self.out(y * F.silu(gate))
