"""The MAD models as a good PyTorch user would write them: the peer that Hybrid is measured against.

Sizes and structure follow models/mad/*.hyb; benchmarks/run compares the parameter counts, so that the two sides cannot
drift apart unnoticed.
"""

from torch import nn
from torch.nn import functional as F

from architectures import MODELS
from attention import Attention
from channel import MLP, MixtureOfExperts, SwiGLU
from delta import GatedDeltaNet, KimiDeltaAttention, Mamba2
from hyena import Hyena, HyenaExperts, MultiHeadHyena
from language import NAMES, LanguageModel
from linear_attention import GatedLinearAttention, LinearAttention
from mamba import Mamba
from rwkv import ChannelMix, TimeMix4, TimeMix5, TimeMix6
from rwkv7 import ChannelMix7, TimeMix7

LAYERS = {
    "attention": Attention,
    "sliding-attention": lambda width, length: Attention(width, length, window=32),
    "hyena": Hyena,
    "multihead-hyena": MultiHeadHyena,
    "hyena-experts": HyenaExperts,
    "gated-linear-attention": GatedLinearAttention,
    "linear-attention": LinearAttention,
    "mamba": Mamba,
    "rwkv4": TimeMix4,
    "rwkv5": TimeMix5,
    "rwkv6": TimeMix6,
    "rwkv7": TimeMix7,
    "rwkv7-later": lambda width, length: TimeMix7(width, length, later=True),
    "gated-deltanet": GatedDeltaNet,
    "kimi-delta-attention": KimiDeltaAttention,
    "mamba2": Mamba2,
    "mlp": lambda width, length: MLP(width),
    "swiglu": lambda width, length: SwiGLU(width),
    "moe": lambda width, length: MixtureOfExperts(width),
    "rwkv4-channel": lambda width, length: ChannelMix(width),
    "rwkv5-channel": lambda width, length: ChannelMix(width),
    "rwkv7-channel": lambda width, length: ChannelMix7(width),
}


class Model(nn.Module):
    """Pre-norm residual layers between an embedding and a head of its own."""

    def __init__(self, name, vocab, length, width=128):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        nn.init.normal_(self.embed.weight, std=0.02)
        self.layers = nn.ModuleList(LAYERS[layer](width, length) for layer in MODELS[name])
        mixes = [layer for layer in self.layers if isinstance(layer, TimeMix7)]
        for later in mixes[1:]:
            later.first = (mixes[0],)
        self.norms = nn.ModuleList(nn.RMSNorm(width, eps=1e-5) for _ in range(len(self.layers) + 1))
        self.head = nn.Linear(width, vocab)

    def forward(self, tokens):
        x = self.embed(tokens)
        for norm, layer in zip(self.norms, self.layers):
            x = x + layer(norm(x))
        return self.head(self.norms[-1](x))


def build(name, vocab, length):
    return LanguageModel(name, vocab, length) if name in NAMES else Model(name, vocab, length)


def loss_of(model, tokens, targets):
    logits = model(tokens)
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100)
