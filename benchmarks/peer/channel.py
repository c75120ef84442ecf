"""Layers that mix over channels: MLP, SwiGLU and a mixture of experts."""

import torch
from torch import nn
from torch.nn import functional as F


class MLP(nn.Module):
    def __init__(self, width, inner=512):
        super().__init__()
        self.up = nn.Linear(width, inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)

    def forward(self, x):
        return self.down(F.gelu(self.up(x), approximate="tanh"))


class SwiGLU(nn.Module):
    def __init__(self, width, inner=512):
        super().__init__()
        self.gate = nn.Linear(width, inner, bias=False)
        self.up = nn.Linear(width, inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Router(nn.Module):
    """The chosen experts of each token, and their weights: a softmax over the largest logits."""

    def __init__(self, width, experts, active):
        super().__init__()
        self.active = active
        self.scores = nn.Linear(width, experts, bias=False)

    def forward(self, x):
        logits, choices = self.scores(x).topk(self.active, dim=-1)
        return logits.softmax(dim=-1), choices

    def dense(self, x):
        """The weights of all experts, zero for those that were not chosen."""
        weights, choices = self(x)
        zeros = torch.zeros(*choices.shape[:-1], self.scores.out_features, dtype=weights.dtype, device=x.device)
        return zeros.scatter(-1, choices, weights)


class MixtureOfExperts(nn.Module):
    """SwiGLU experts. `form` is how they are computed; the results are equal:

    dense  all experts as one wide SwiGLU, unchosen ones weighed by zero. The fastest for experts as small as MAD's:
           three products of whole matrices instead of 3 * experts thin ones and their gathers.
    loop   only the chosen ones, a gather and a scatter for each expert.
    """

    def __init__(self, width, experts=8, active=2, inner=16, form="dense"):
        super().__init__()
        self.form, self.experts, self.inner = form, experts, inner
        self.router = Router(width, experts, active)
        bound = width**-0.5
        self.gate = nn.Parameter(torch.empty(experts * inner, width).uniform_(-bound, bound))
        self.up = nn.Parameter(torch.empty(experts * inner, width).uniform_(-bound, bound))
        bound = inner**-0.5
        self.down = nn.Parameter(torch.empty(experts, inner, width).uniform_(-bound, bound))

    def forward(self, x):
        if self.form == "loop":
            return self.loop(x)
        weights = self.router.dense(x).repeat_interleave(self.inner, dim=-1)
        hidden = F.silu(F.linear(x, self.gate)) * F.linear(x, self.up) * weights
        return hidden @ self.down.flatten(0, 1)

    def loop(self, x):
        rows = x.flatten(0, -2)
        weights, choices = self.router(rows)
        gates, ups = self.gate.chunk(self.experts), self.up.chunk(self.experts)
        y = torch.zeros_like(rows)
        for expert in range(self.experts):
            token, slot = torch.where(choices == expert)
            chosen = rows[token]
            hidden = F.silu(F.linear(chosen, gates[expert])) * F.linear(chosen, ups[expert])
            y = y.index_add(0, token, ((hidden @ self.down[expert]) * weights[token, slot, None]).to(y.dtype))
        return y.view_as(x)
