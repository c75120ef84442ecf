"""Which layers the peer of each model in models/mad/ has: a mixer along the sequence, then one over channels.

The names are those of peer/model.py. A model file without a line here has no peer, and benchmarks/run says so.
"""

_MIXERS_WITH_EXPERTS = ("attention", "hyena", "multihead-hyena", "hyena-experts", "gated-linear-attention")
_STRIPED = ("hyena", "multihead-hyena", "hyena-experts", "gated-linear-attention")

MODELS = {
    "attention-mlp": ("attention", "mlp") * 2,
    "linear-attention-swiglu": ("linear-attention", "swiglu") * 2,
    "sliding-attention-swiglu": ("sliding-attention", "swiglu") * 2,
    "mamba": ("mamba",) * 4,
    "rwkv": ("rwkv4", "rwkv4-channel") * 2,
    "rwkv5": ("rwkv5", "rwkv5-channel") * 2,
    "rwkv6": ("rwkv6", "rwkv5-channel") * 2,
    "rwkv7": ("rwkv7", "rwkv7-channel", "rwkv7-later", "rwkv7-channel"),
    "gated-deltanet-swiglu": ("gated-deltanet", "swiglu") * 2,
    "kimi-delta-attention-swiglu": ("kimi-delta-attention", "swiglu") * 2,
    "mamba2": ("mamba2",) * 4,
}
for _channel in ("swiglu", "moe"):
    MODELS |= {f"{mixer}-{_channel}": (mixer, _channel) * 2 for mixer in _MIXERS_WITH_EXPERTS}
    MODELS |= {f"striped-{mixer}-{_channel}": (mixer, _channel, "attention", _channel) for mixer in _STRIPED}
    MODELS[f"striped-mamba-{_channel}"] = ("mamba", "mamba", "attention", _channel)
