"""RWKV versions 4 to 6."""

import torch
from torch import nn
from torch.nn import functional as F

from scans import averages_chunked, linear_scan_chunked


def token_before(x):
    return F.pad(x, (0, 0, 1, -1))


def projection(inputs, outputs):
    return nn.Linear(inputs, outputs, bias=False)


class TokenMix(nn.Module):
    """Shares of this token and of the one before, one vector for each of `count` projections."""

    def __init__(self, width, count):
        super().__init__()
        self.share = nn.Parameter((torch.arange(width) / width).repeat(count, 1))

    def forward(self, x):
        before = token_before(x)
        change = x - before
        return [torch.addcmul(before, change, share) for share in self.share]


class TimeMix4(nn.Module):
    def __init__(self, width, length):
        super().__init__()
        self.mix = TokenMix(width, 3)
        self.key, self.value, self.receptance = (projection(width, width) for _ in range(3))
        self.decay = nn.Parameter(-5 + 8 * (torch.arange(width) / (width - 1)) ** 0.7)
        self.first = nn.Parameter(torch.full((width,), 0.3).log() + (torch.arange(width) % 3 - 1) * 0.5)
        self.output = projection(width, width)

    def forward(self, x):
        k, v, r = self.mix(x)
        k, v = self.key(k).float(), self.value(v).float()
        averaged = averages_chunked(k, v, self.decay.exp(), self.first)
        return self.output(self.receptance(r).sigmoid() * averaged)


class ChannelMix(nn.Module):
    """RWKV's feed-forward layer: squared ReLU, gated, with the token before."""

    def __init__(self, width, hidden=512):
        super().__init__()
        self.mix = TokenMix(width, 2)
        self.key, self.receptance, self.value = projection(width, hidden), projection(width, width), projection(hidden, width)

    def forward(self, x):
        k, r = self.mix(x)
        return self.receptance(r).sigmoid() * self.value(self.key(k).relu().square())


class Eagle(nn.Module):
    """What versions 5 and 6 share: matrices for states, a norm a head, a gate."""

    def __init__(self, width, heads, chunk):
        super().__init__()
        self.heads, self.chunk = heads, chunk
        self.key, self.value, self.receptance, self.gate, self.output = (projection(width, width) for _ in range(5))
        self.decay = nn.Parameter(-6 + 5 * (torch.arange(width) / (width - 1)) ** 0.7)
        self.bonus = nn.Parameter(torch.zeros(width))
        self.norm = nn.GroupNorm(heads, width, eps=64e-5)

    def mixed(self, k, v, r, g, decay):
        batch, length, width = k.shape
        k, v, r = self.key(k), self.value(v), self.receptance(r)
        split = lambda z: z.unflatten(-1, (self.heads, -1)).movedim(-2, 1)
        y = linear_scan_chunked(split(r), split(k), split(v), split(decay.expand(batch, length, width)),
                                self.bonus.unflatten(0, (self.heads, -1)), self.chunk)
        y = self.norm(y.transpose(1, 2).reshape(batch * length, width)).view(batch, length, width)
        return self.output(y * F.silu(self.gate(g)))


class TimeMix5(Eagle):
    def __init__(self, width, length, heads=8, chunk=32):
        super().__init__(width, heads, chunk)
        self.mix = TokenMix(width, 4)

    def forward(self, x):
        return self.mixed(*self.mix(x), -self.decay.exp())


class TimeMix6(Eagle):
    def __init__(self, width, length, heads=8, rank=32, decay_rank=64, chunk=32):
        super().__init__(width, heads, chunk)
        self.mix_x = nn.Parameter(1 - torch.arange(width) / width)
        self.mix_in = nn.Parameter(torch.zeros(width, 5 * rank))
        self.mix_out = nn.Parameter(torch.empty(5, rank, width).uniform_(-0.01, 0.01))
        self.shares = nn.Parameter((1 - torch.arange(width) / width).repeat(5, 1))
        self.decay_in = nn.Parameter(torch.zeros(width, decay_rank))
        self.decay_out = nn.Parameter(torch.empty(decay_rank, width).uniform_(-0.01, 0.01))

    def forward(self, x):
        change = token_before(x) - x
        low = (torch.addcmul(x, change, self.mix_x) @ self.mix_in).tanh().unflatten(-1, (5, -1))
        shares = self.shares[:, None] + low.flatten(0, 1).transpose(0, 1) @ self.mix_out
        w, k, v, r, g = x + change * shares.unflatten(1, x.shape[:2])
        rate = self.decay + (w @ self.decay_in).tanh() @ self.decay_out
        return self.mixed(k, v, r, g, -rate.float().exp())
