#!/usr/bin/env python3
"""Makes the cases in test/exchange/models: tiny models of transformers with random weights, and what transformers computes with them.

  usage: make-hf-models.py FOLDER        (needs torch, transformers and numpy; these were made with torch 2.15 and transformers 5.23)

A case is a folder as test/exchange/run reads it. Logits are those of transformers in f32, of a whole pass without a cache; greedy tokens are
the arg max after each such pass, so that no fault of a cache gets into them.
"""

import json
import math
import pathlib
import sys

import numpy
import torch
import transformers

SIZES = {"vocab_size": 40, "hidden_size": 16, "num_attention_heads": 4, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
CASES = {
    "falcon_h1": ("FalconH1Config", {
        "intermediate_size": 20, "num_hidden_layers": 2, "num_key_value_heads": 2, "mamba_d_ssm": 24, "mamba_n_heads": 6, "mamba_d_head": 4,
        "mamba_n_groups": 2, "mamba_d_state": 4, "mamba_chunk_size": 8, "mamba_rms_norm": True, "mamba_norm_before_gate": True, "attention_bias": True,
        "projectors_bias": True, "embedding_multiplier": 3.5, "lm_head_multiplier": 0.3, "key_multiplier": 0.6, "attention_out_multiplier": 0.7,
        "attention_in_multiplier": 1.4, "ssm_in_multiplier": 0.8, "ssm_out_multiplier": 1.2, "ssm_multipliers": [0.5, 1.5, 0.7, 1.3, 0.9],
        "mlp_multipliers": [0.6, 1.7]}),
    "falcon_h1_plain": ("FalconH1Config", {
        "intermediate_size": 20, "num_hidden_layers": 1, "num_key_value_heads": 4, "mamba_d_ssm": None, "mamba_n_heads": 4, "mamba_d_head": "auto",
        "mamba_d_state": 4, "mamba_chunk_size": 8, "mamba_proj_bias": True, "mamba_conv_bias": False, "tie_word_embeddings": True,
        "time_step_limit": (0.1, 0.5)}),
    "zamba2": ("Zamba2Config", {
        "num_hidden_layers": 5, "layers_block_type": ["mamba", "hybrid", "hybrid", "mamba", "hybrid"], "mamba_d_state": 4, "n_mamba_heads": 4,
        "mamba_ngroups": 2, "intermediate_size": 20, "adapter_rank": 3, "chunk_size": 8, "num_mem_blocks": 2, "use_shared_attention_adapter": True,
        "use_mem_rope": True, "add_bias_linear": True}),
    "olmo_hybrid": ("OlmoHybridConfig", {
        "intermediate_size": 20, "num_hidden_layers": 3, "num_key_value_heads": 2, "attention_bias": True, "linear_num_key_heads": 1,
        "linear_num_value_heads": 3, "linear_key_head_dim": 5, "linear_value_head_dim": 7,
        "rope_parameters": {"rope_type": "default", "rope_theta": 5000.0}}),
    "kimi_linear": ("KimiLinearConfig", {
        "intermediate_size": 20, "moe_intermediate_size": 6, "num_hidden_layers": 3, "num_key_value_heads": 4, "kv_lora_rank": 7, "qk_rope_head_dim": 4,
        "v_head_dim": 6, "qk_nope_head_dim": 5, "num_experts_per_tok": 2, "num_local_experts": 8, "n_group": 4, "topk_group": 2,
        "linear_attn_config": {"full_attn_layers": [2], "kda_layers": [1, 3], "head_dim": 4, "num_heads": 3, "short_conv_kernel_size": 3}}),
    "nemotron_h_groups": ("NemotronHConfig", {
        "intermediate_size": 20, "num_key_value_heads": 2, "head_dim": 4, "mamba_num_heads": 4, "mamba_head_dim": 4, "n_groups": 2, "ssm_state_size": 4,
        "chunk_size": 8, "n_routed_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 8, "moe_shared_expert_intermediate_size": 6,
        "moe_latent_size": 8, "n_group": 4, "topk_group": 2, "layers_block_type": ["mamba", "moe", "attention"]}),
}


def draw(model):
    """Weights that make every part of the model count."""
    for name, tensor in model.state_dict(keep_vars=True).items():
        tensor = tensor.data
        if "A_log" in name:
            tensor.copy_(torch.log(torch.rand_like(tensor) * 4 + 0.5))
        elif "dt_bias" in name:
            tensor.copy_(torch.randn_like(tensor) * 0.7 - 1)
        elif "correction" in name:
            tensor.copy_(torch.randn_like(tensor) * 0.2)
        elif tensor.dim() >= 2 and "conv" not in name:
            tensor.copy_(torch.randn_like(tensor) / math.sqrt(tensor.shape[-1]))
        else:
            tensor.add_(torch.randn_like(tensor) * 0.3)


def write(folder, kind, settings, seed):
    torch.manual_seed(seed)
    config = getattr(transformers, kind)(**{**SIZES, **settings})
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager", experts_implementation="eager").eval().float()
    draw(model)
    model.save_pretrained(folder)
    draws = numpy.random.RandomState(seed)

    def logits(ids):
        with torch.no_grad():
            return model(torch.tensor(ids), use_cache=False).logits.numpy()

    for name, length in (("", 21), ("_short", 6)):
        ids = draws.randint(0, config.vocab_size, (2, length)).astype(numpy.int64)
        numpy.save(folder / f"input_ids{name}.npy", ids)
        numpy.save(folder / f"logits{name}.npy", logits(ids))
    rows = [list(row) for row in ids]
    for row in rows:
        for _ in range(8):
            row.append(int(logits([row])[0, -1].argmax()))
    numpy.save(folder / "greedy.npy", numpy.array([row[length:] for row in rows], dtype=numpy.int64))
    meta = {"transformers": transformers.__version__, "torch": torch.__version__.split("+")[0], "tolerance": {"suggested_abs_tolerance": 5e-5}}
    (folder / "meta.json").write_text(json.dumps(meta, indent=1) + "\n")


if __name__ == "__main__":
    for i, (name, (kind, settings)) in enumerate(CASES.items()):
        write(pathlib.Path(sys.argv[1]) / name, kind, settings, i)
