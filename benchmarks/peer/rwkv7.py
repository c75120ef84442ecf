"""RWKV-7: a state that erases and writes with keys and rates of their own."""

import torch
from torch import nn
from torch.nn import functional as F

from rwkv import projection, token_before
from scans import delta_rule_chunked


class LowRank(nn.Module):
    def __init__(self, width, rank, activation=nn.Identity(), bias=True):
        super().__init__()
        self.inward, self.outward, self.activation = nn.Linear(width, rank, bias=False), nn.Linear(rank, width, bias=bias), activation

    def forward(self, x):
        return self.outward(self.activation(self.inward(x)))


class TimeMix7(nn.Module):
    """The first of a model hands its values on: `first` is that one, in a tuple, so that it is no part of this."""

    def __init__(self, width, length, head_size=16, rank=16, gate_rank=32, later=False):
        super().__init__()
        self.heads, self.first, self.values = width // head_size, None, None
        self.shares = nn.Parameter(torch.rand(6, width))
        self.receptance, self.key, self.value, self.output = (projection(width, width) for _ in range(4))
        self.decay, self.rate = LowRank(width, rank, nn.Tanh()), LowRank(width, rank)
        self.gate = LowRank(width, gate_rank, nn.Sigmoid(), bias=False)
        self.blend = LowRank(width, rank) if later else None
        self.key_scale, self.key_rate, self.bonus = (nn.Parameter(torch.full((width,), x)) for x in (0.85, 1.0, 0.0))
        self.norm = nn.GroupNorm(self.heads, width, eps=16e-5)

    def forward(self, x):
        batch, length, width = x.shape
        change = token_before(x) - x
        xr, xk, xv, xw, xa, xg = (torch.addcmul(x, change, share) for share in self.shares)
        r, k, v = self.receptance(xr), self.key(xk), self.value(xv)
        decay = -0.6065306597126334 * self.decay(xw).float().sigmoid()
        rate, gate = self.rate(xa).sigmoid(), self.gate(xg)
        if self.blend is None:
            self.values = v
        else:
            v = v + (self.first[0].values - v) * self.blend(xv).sigmoid()
        removal = k * self.key_scale
        k = k * (1 + (rate - 1) * self.key_rate)
        r, k, v, decay, rate, removal = (z.float().unflatten(-1, (self.heads, -1)).transpose(1, 2) for z in (r, k, v, decay, rate, removal))
        removal = F.normalize(removal, dim=-1)
        y = delta_rule_chunked(r, k, v, -removal, decay, removal * rate)
        now = (r * k * self.bonus.view(self.heads, 1, -1)).sum(dim=-1, keepdim=True) * v
        y = self.norm(y.transpose(1, 2).reshape(batch * length, width)).view(batch, length, width)
        return self.output((y + now.transpose(1, 2).flatten(2)) * gate)


class ChannelMix7(nn.Module):
    """Squared ReLU with the token before, without a gate."""

    def __init__(self, width, hidden=512):
        super().__init__()
        self.share = nn.Parameter(torch.rand(width))
        self.key, self.value = projection(width, hidden), projection(hidden, width)

    def forward(self, x):
        return self.value(self.key(torch.addcmul(x, token_before(x) - x, self.share)).relu().square())
