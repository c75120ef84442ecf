"""The language models of 125 million parameters that Hybrid is timed against: models/hyena/hyena.hyb and models/scaling/striped-hyena.hyb."""

from torch import nn
from torch.nn import functional as F

from attention import Attention
from channel import SwiGLU
from hyena import Hyena

WIDTH, DEPTH = 768, 12


class MLP(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)

    def forward(self, x):
        return self.down(F.gelu(self.up(x), approximate="tanh"))


def hyena(length):
    return Hyena(WIDTH, length, inner=WIDTH, groups=1, hidden=64, frequency=14.0, learn_features=False)


def layers_of(name, length):
    """Mixers and channel mixers in turn."""
    if name == "hyena-125m":
        return [layer for _ in range(DEPTH) for layer in (hyena(length), MLP(WIDTH, 4 * WIDTH))]
    mixers = [Attention(WIDTH, length, heads=12) if i % 4 == 3 else hyena(length) for i in range(DEPTH)]
    return [layer for mixer in mixers for layer in (mixer, SwiGLU(WIDTH, inner=2048))]


class LanguageModel(nn.Module):
    """Pre-norm residual layers; the head is the embedding's table."""

    def __init__(self, name, vocab, length):
        super().__init__()
        self.embed = nn.Embedding(vocab, WIDTH)
        nn.init.normal_(self.embed.weight, std=0.02)
        self.layers = nn.ModuleList(layers_of(name, length))
        norm = nn.LayerNorm if name == "hyena-125m" else nn.RMSNorm
        self.norms = nn.ModuleList(norm(WIDTH, eps=1e-5) for _ in range(len(self.layers) + 1))

    def forward(self, tokens):
        x = self.embed(tokens)
        for norm, layer in zip(self.norms, self.layers):
            x = x + layer(norm(x))
        return F.linear(self.norms[-1](x), self.embed.weight)


NAMES = ("hyena-125m", "striped-hyena-125m")
