"""Tiny models in Hugging Face's layout, with weights that mean nothing: a config.json and the shapes of its tensors.

The shapes are written out here from what the formats are, not asked of the program that is tested."""

import json
import random
import struct

WIDTHS = {"F32": 4, "F16": 2, "BF16": 2}


def llama(width=8, heads=2, keys=1, size=4, inner=12, layers=2, vocabulary=16, bias=False, tied=False, **more):
    config = {"model_type": "llama", "hidden_size": width, "num_attention_heads": heads, "num_key_value_heads": keys, "head_dim": size,
              "intermediate_size": inner, "num_hidden_layers": layers, "vocab_size": vocabulary, "hidden_act": "silu", "rms_norm_eps": 1e-5,
              "attention_bias": bias, "mlp_bias": bias, "tie_word_embeddings": tied, "rope_theta": 10000.0, "max_position_embeddings": 64, **more}
    shapes = {"model.embed_tokens.weight": [vocabulary, width], "model.norm.weight": [width]}
    if not tied:
        shapes["lm_head.weight"] = [vocabulary, width]
    for i in range(layers):
        block = {"input_layernorm.weight": [width], "post_attention_layernorm.weight": [width]}
        for name, rows, columns in (("self_attn.q_proj", heads * size, width), ("self_attn.k_proj", keys * size, width),
                                    ("self_attn.v_proj", keys * size, width), ("self_attn.o_proj", width, heads * size),
                                    ("mlp.gate_proj", inner, width), ("mlp.up_proj", inner, width), ("mlp.down_proj", width, inner)):
            block[name + ".weight"] = [rows, columns]
            if bias:
                block[name + ".bias"] = [rows]
        shapes.update({f"model.layers.{i}.{name}": shape for name, shape in block.items()})
    return config, shapes


def qwen2(**more):
    config, shapes = llama(**more)
    for name in [name for name in shapes if name.split(".")[-2] in ("q_proj", "k_proj", "v_proj")]:
        shapes[name.replace("weight", "bias")] = shapes[name][:1]
    del config["attention_bias"], config["mlp_bias"]
    return {**config, "model_type": "qwen2"}, shapes


def gemma2(width=8, **more):
    config, shapes = llama(width=width, tied=True, **more)
    del config["mlp_bias"], config["hidden_act"]
    for i in range(config["num_hidden_layers"]):
        for side in ("pre", "post"):
            shapes[f"model.layers.{i}.{side}_feedforward_layernorm.weight"] = [width]
    return {**config, "model_type": "gemma2", **more}, shapes


def jamba(width=8, layers=4, inner=12, vocabulary=16, experts=3, state=4, rank=2, taps=3):
    config = {"model_type": "jamba", "hidden_size": width, "num_attention_heads": 2, "num_key_value_heads": 1, "intermediate_size": inner,
              "num_hidden_layers": layers, "vocab_size": vocabulary, "num_experts": experts, "num_experts_per_tok": 2, "rms_norm_eps": 1e-6,
              "attn_layer_period": 2, "attn_layer_offset": 1, "expert_layer_period": 4, "expert_layer_offset": 2, "mamba_d_state": state,
              "mamba_d_conv": taps, "mamba_expand": 2, "mamba_dt_rank": rank, "tie_word_embeddings": False}
    wide = 2 * width
    shapes = {"model.embed_tokens.weight": [vocabulary, width], "model.final_layernorm.weight": [width], "lm_head.weight": [vocabulary, width]}
    for i in range(layers):
        block = {"input_layernorm.weight": [width], "pre_ff_layernorm.weight": [width]}
        if i % 2 == 1:
            block.update({f"self_attn.{name}_proj.weight": [rows, width] for name, rows in (("q", width), ("k", width // 2), ("v", width // 2), ("o", width))})
        else:
            block.update({"mamba.in_proj.weight": [2 * wide, width], "mamba.conv1d.weight": [wide, 1, taps], "mamba.conv1d.bias": [wide],
                          "mamba.x_proj.weight": [rank + 2 * state, wide], "mamba.dt_proj.weight": [wide, rank], "mamba.dt_proj.bias": [wide],
                          "mamba.A_log": [wide, state], "mamba.D": [wide], "mamba.out_proj.weight": [width, wide],
                          "mamba.dt_layernorm.weight": [rank], "mamba.b_layernorm.weight": [state], "mamba.c_layernorm.weight": [state]})
        units = [f"feed_forward.experts.{j}." for j in range(experts)] if i % 4 == 2 else ["feed_forward."]
        if i % 4 == 2:
            block["feed_forward.router.weight"] = [experts, width]
        for unit in units:
            block.update({unit + "gate_proj.weight": [inner, width], unit + "up_proj.weight": [inner, width], unit + "down_proj.weight": [width, inner]})
        shapes.update({f"model.layers.{i}.{name}": shape for name, shape in block.items()})
    return config, shapes


def gpt2(width=8, layers=2, vocabulary=16, positions=32, inner=20, prefix="", **more):
    """As old files on the hub are: no prefix, and masks among the tensors."""
    config = {"model_type": "gpt2", "n_embd": width, "n_head": 2, "n_layer": layers, "vocab_size": vocabulary, "n_positions": positions,
              "n_ctx": positions, "n_inner": inner, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, **more}
    shapes = {"wte.weight": [vocabulary, width], "wpe.weight": [positions, width], "ln_f.weight": [width], "ln_f.bias": [width]}
    for i in range(layers):
        for name, columns, rows in (("attn.c_attn", width, 3 * width), ("attn.c_proj", width, width), ("mlp.c_fc", width, inner), ("mlp.c_proj", inner, width)):
            shapes.update({f"h.{i}.{name}.weight": [columns, rows], f"h.{i}.{name}.bias": [rows]})
        shapes.update({f"h.{i}.{name}.{side}": [width] for name in ("ln_1", "ln_2") for side in ("weight", "bias")})
        shapes[f"h.{i}.attn.bias"] = [1, 1, 4, 4]
    return config, {prefix + name: shape for name, shape in shapes.items()}


def number(kind, value):
    if kind == "F16":
        return struct.pack("<e", value)
    return struct.pack("<f", value)[2 if kind == "BF16" else 0:]


def write_safetensors(path, shapes, kind, seed):
    """`kind` is a type for all, or a function of the name."""
    draw = random.Random(seed)
    header, data = {"__metadata__": {"format": "pt"}}, bytearray()
    for name, shape in shapes.items():
        own = kind(name) if callable(kind) else kind
        count = 1
        for size in shape:
            count *= size
        first = len(data)
        for _ in range(count):
            data += number(own, draw.uniform(-0.5, 0.5))
        header[name] = {"dtype": own, "shape": shape, "data_offsets": [first, len(data)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def write(folder, model, kind="F32", shards=0):
    """A folder of a model; with shards the tensors are dealt out to as many files."""
    config, shapes = model
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    if not shards:
        write_safetensors(folder / "model.safetensors", shapes, kind, 1)
        return
    names = sorted(shapes)
    places = {name: f"model-{i % shards + 1:05}-of-{shards:05}.safetensors" for i, name in enumerate(names)}
    for i, place in enumerate(sorted(set(places.values()))):
        write_safetensors(folder / place, {name: shapes[name] for name in names if places[name] == place}, kind, i)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {"total_size": 0}, "weight_map": places}))
