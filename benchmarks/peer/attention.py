"""Softmax attention with rotary positions, through scaled_dot_product_attention."""

import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    """Causal multi-head attention, rotary positions (half style) on the whole head; `window` positions back, or all."""

    def __init__(self, width, length, heads=16, window=None):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        size = width // heads
        frequency = 10000.0 ** (-torch.arange(0, size, 2) / size)
        angle = torch.outer(torch.arange(length), frequency)
        self.register_buffer("cos", angle.cos(), persistent=False)
        self.register_buffer("sin", angle.sin(), persistent=False)
        back = torch.arange(length)[:, None] - torch.arange(length) if window is not None else None
        mask = (back >= 0) & (back <= window) if window is not None else None
        self.register_buffer("mask", mask, persistent=False)

    def rotate(self, x):
        a, b = x.chunk(2, dim=-1)
        return torch.cat((a * self.cos - b * self.sin, b * self.cos + a * self.sin), dim=-1).to(x.dtype)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        q, k = self.rotate(q), self.rotate(k)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=self.mask, is_causal=self.mask is None)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))
