"""Mamba with its scan in plain PyTorch."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from scans import selective_scan


class Mamba(nn.Module):
    def __init__(self, width, length, expand=2, states=4, taps=4):
        super().__init__()
        inner, self.rank, self.states = expand * width, (width + 15) // 16, states
        self.project = nn.Linear(width, 2 * inner, bias=False)
        self.short = nn.Conv1d(inner, inner, taps, groups=inner, padding=taps - 1, bias=False)
        self.maps = nn.Linear(inner, self.rank + 2 * states, bias=False)
        self.step = nn.Linear(self.rank, inner)
        with torch.no_grad():
            start = torch.empty(inner).uniform_(math.log(0.001), math.log(0.1)).exp().clamp(min=1e-4)
            self.step.bias.copy_(start.expm1().log())
        self.a_log = nn.Parameter(torch.arange(1.0, states + 1).log().repeat(inner, 1))
        self.skip = nn.Parameter(torch.ones(inner))
        self.out = nn.Linear(inner, width, bias=False)

    def forward(self, x):
        u, z = self.project(x).chunk(2, dim=-1)
        u = F.silu(self.short(u.transpose(1, 2))[..., : x.shape[1]]).transpose(1, 2)
        rates, b, c = self.maps(u).split([self.rank, self.states, self.states], dim=-1)
        step = F.softplus(self.step(rates).float())
        y = selective_scan(u.float(), step, -self.a_log.exp(), b.float(), c.float())
        return self.out((y + self.skip * u) * F.silu(z))
