#!/usr/bin/env python3
"""Imports tiny models that are made here: what cannot be imported is refused by name and leaves nothing behind, what can comes back bit by bit.

  usage: test/exchange/tiny-models.py --bin build/bin
"""

import argparse
import importlib.machinery
import importlib.util
import json
import pathlib
import struct
import subprocess
import tempfile
import unittest

import tiny

HERE = pathlib.Path(__file__).resolve().parent
loader = importlib.machinery.SourceFileLoader("cases", str(HERE / "run"))
cases = importlib.util.module_from_spec(importlib.util.spec_from_loader("cases", loader))
loader.exec_module(cases)
BIN = None


class Exchange(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.source, self.out = self.folder / "source", self.folder / "out"
        self.runner = cases.Runner(BIN, self.folder)

    def refused(self, *words, verb=("import", "hf"), source=None, out=None):
        """The program must say all of these, and make no folder. The result is what it said."""
        out = out or self.out
        result = subprocess.run([str(BIN / "hybrid-run"), *verb, str(source or self.source), "--out", str(out)], capture_output=True, text=True,
                                timeout=60)
        self.assertEqual(result.returncode, 1, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)
        self.assertFalse(out.exists(), "a folder was left behind")
        return result.stderr

    def comes_back(self, length=8):
        """Imported it runs, and exported it is what it was."""
        self.runner.run("import", "hf", self.source, "--out", self.out)
        tokens = ",".join(str(i % 7) for i in range(2 * length))
        self.runner.run("forward", self.out / "model.hyb", "--params", self.out / "model.safetensors", "--batch", 2, "--length", length,
                        "--input", f"tokens=2x{length}xi32={tokens}", "--out", self.folder / "forward", "--threads", 1)
        logits = cases.npy.read_npy(self.folder / "forward" / "output.logits.npy")
        self.assertTrue(all(abs(x) < 1e6 for x in logits.data))
        self.runner.run("export", "hf", self.out, "--out", self.folder / "back")
        self.assertEqual(cases.safetensors_of(self.source), cases.safetensors_of(self.folder / "back"))
        self.assertEqual(json.loads((self.source / "config.json").read_text()), json.loads((self.folder / "back" / "config.json").read_text()))

    # What comes back

    def test_types_and_shards(self):
        kinds = {"norm": "F32", "mlp": "F16"}
        tiny.write(self.source, tiny.llama(bias=True, tied=True), lambda name: next((k for w, k in kinds.items() if w in name), "BF16"), shards=3)
        self.comes_back()

    def test_rotary_of_yarn(self):
        tiny.write(self.source, tiny.llama(rope_scaling={"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}))
        self.comes_back()

    def test_rotary_of_yarn_as_deepseek_spells_it(self):
        tiny.write(self.source, tiny.llama(rope_scaling={"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "truncate": False,
                                                         "mscale": 0.7, "mscale_all_dim": 1.2}))
        self.comes_back()
        self.assertIn(", truncated = false), gain = 0.94", (self.out / "model.hyb").read_text())

    def test_rotary_of_linear(self):
        tiny.write(self.source, tiny.llama(rope_scaling={"rope_type": "linear", "factor": 2.0}))
        self.comes_back()

    def test_of_two_scalings_the_older_key_counts(self):
        tiny.write(self.source, tiny.llama(rope_parameters={"rope_type": "dynamic", "factor": 4.0}, rope_scaling={"rope_type": "linear", "factor": 2.0}))
        self.comes_back()

    def test_qwen2_without_a_window(self):
        tiny.write(self.source, tiny.qwen2(use_sliding_window=True, sliding_window=None, max_window_layers=0))
        self.comes_back()
        self.assertNotIn("window", (self.out / "model.hyb").read_text())

    def test_gemma2_reads_one_key_of_its_activation(self):
        tiny.write(self.source, tiny.gemma2(hidden_act="gelu"))
        self.comes_back()
        tiny.write(self.folder / "other", tiny.gemma2())
        self.runner.run("import", "hf", self.folder / "other", "--out", self.folder / "usual")
        self.assertEqual((self.out / "model.hyb").read_text(), (self.folder / "usual" / "model.hyb").read_text())

    def test_old_gpt2_with_masks(self):
        tiny.write(self.source, tiny.gpt2(scale_attn_by_inverse_layer_idx=True))
        self.comes_back()

    def test_jamba(self):
        tiny.write(self.source, tiny.jamba())
        self.comes_back()

    def test_a_tied_head_that_is_stored(self):
        config, shapes = tiny.llama(tied=True)
        tiny.write(self.source, (config, {**shapes, "lm_head.weight": shapes["model.embed_tokens.weight"]}))
        self.comes_back()

    def test_a_checkpoint_is_rounded_to_the_original_types(self):
        tiny.write(self.source, tiny.llama(), "BF16")
        self.runner.run("import", "hf", self.source, "--out", self.out)
        tiny.write(self.folder / "other", tiny.llama(), "F32")
        self.runner.run("import", "hf", self.folder / "other", "--out", self.folder / "f32")
        self.runner.run("export", "hf", self.out, "--checkpoint", self.folder / "f32" / "model.safetensors", "--out", self.folder / "back")
        back, other = cases.safetensors_of(self.folder / "back"), cases.safetensors_of(self.folder / "other")
        for name, (kind, shape, data) in other.items():
            values = struct.unpack(f"<{len(data) // 4}f", data)
            self.assertEqual(back[name][:2], ("BF16", shape))
            for value, (low, high) in zip(values, zip(back[name][2][::2], back[name][2][1::2])):
                rounded = struct.unpack("<f", bytes((0, 0, low, high)))[0]
                self.assertLessEqual(abs(rounded - value), abs(value) / 256)

    def test_training_begins_with_what_was_imported(self):
        tiny.write(self.source, tiny.llama(vocabulary=256))
        self.runner.run("import", "hf", self.source, "--out", self.out)
        text, run = self.folder / "text", self.folder / "run"
        text.write_text("what was read is read again, and once more\n" * 40)
        self.runner.run("train", self.out / "model.hyb", "--data", f"text:{text}", "--batch", 2, "--length", 8, "--steps", 1, "--lr", 1e-12,
                        "--min-lr", 0, "--weight-decay", 0, "--init-from", self.out / "model.safetensors", "--out", run, "--quiet", "--threads", 1)
        trained = cases.safetensors_of(run / "checkpoints")
        for name, (kind, shape, data) in cases.safetensors_of(self.out).items():
            self.assertEqual(trained[name][:2], (kind, shape))
            for x, y in zip(struct.unpack(f"<{len(data) // 4}f", data), struct.unpack(f"<{len(data) // 4}f", trained[name][2])):
                self.assertAlmostEqual(x, y, delta=1e-6)
        self.runner.run("export", "hf", self.out, "--checkpoint", run / "checkpoints" / "best.safetensors", "--out", self.folder / "back")
        self.assertEqual(cases.safetensors_of(self.folder / "back").keys(), cases.safetensors_of(self.source).keys())

    # What is refused

    def test_unknown_key(self):
        tiny.write(self.source, tiny.llama(attention_flavour=3, rope_scaling={"rope_type": "linear", "factor": 2.0, "spice": 1}))
        text = self.refused("config.json", "'attention_flavour', 'rope_scaling.spice' are not known here")
        self.assertNotIn("hidden_size", text)

    def test_values(self):
        tiny.write(self.source, tiny.llama(hidden_act="swoosh", pruned_heads={"1": [0]}, quantization_config={"bits": 4}))
        self.refused("'hidden_act' is 'swoosh'", "silu", "'pruned_heads'", "'quantization_config'")

    def test_sizes(self):
        config, shapes = tiny.llama()
        tiny.write(self.source, ({**config, "hidden_size": -3, "num_hidden_layers": 10 ** 9, "num_key_value_heads": "two"}, shapes))
        self.refused("'hidden_size' is -3", "'num_hidden_layers' is 1000000000", "'num_key_value_heads' is \"two\"")

    def test_experts(self):
        config, shapes = tiny.jamba()
        tiny.write(self.source, ({**config, "num_experts": 10 ** 7}, shapes))
        self.refused(f"10000000 experts in {config['num_hidden_layers']} layers are more than 262144")

    def test_unknown_model_type(self):
        tiny.write(self.source, ({**tiny.llama()[0], "model_type": "lllama"}, tiny.llama()[1]))
        self.refused("'model_type' is 'lllama'", "Known are", "llama")

    def test_rotary_of_a_share(self):
        tiny.write(self.source, tiny.llama(partial_rotary_factor=0.5))
        self.refused("'partial_rotary_factor' is 0.5, expected 1")

    def test_shares_and_sizes_that_a_type_has_itself(self):
        # What these keys say is read by no implementation of the type; with it, an odd number of channels would turn.
        shapes = tiny.llama()[1]
        for config in ({"model_type": "bamba", "hidden_size": 8, "num_attention_heads": 2, "num_key_value_heads": 1, "partial_rotary_factor": 0.25,
                        "num_hidden_layers": 2, "attn_layer_indices": [1], "mamba_n_heads": 4, "mamba_d_head": 4, "mamba_n_groups": 1},
                       {"model_type": "recurrent_gemma", "hidden_size": 8, "num_attention_heads": 2, "head_dim": 2, "intermediate_size": 12,
                        "num_hidden_layers": 3}):
            source = self.folder / config["model_type"]
            tiny.write(source, (config, shapes))
            said = self.refused("tensors are missing", source=source)
            self.assertNotIn("channels of a head", said)

    def test_dynamic_rotary(self):
        tiny.write(self.source, tiny.llama(rope_scaling={"rope_type": "dynamic", "factor": 2.0}))
        self.refused("'rope_type' is 'dynamic'")

    def test_missing_and_surplus_tensors(self):
        config, shapes = tiny.llama()
        shapes["model.layers.1.self_attn.q_proj.weigth"] = shapes.pop("model.layers.1.self_attn.q_proj.weight")
        tiny.write(self.source, (config, shapes))
        self.refused("a tensor is missing: 'model.layers.1.self_attn.q_proj.weight'", "a tensor has no place in the model", "q_proj.weigth'")

    def test_shape(self):
        config, shapes = tiny.llama()
        shapes["model.layers.0.mlp.up_proj.weight"] = [8, 12]
        tiny.write(self.source, (config, shapes))
        self.refused("'model.layers.0.mlp.up_proj.weight'", "is [8, 12]", "makes it [12, 8]")

    def test_missing_shard(self):
        tiny.write(self.source, tiny.llama(), shards=3)
        (self.source / "model-00002-of-00003.safetensors").unlink()
        self.refused("model-00002-of-00003.safetensors' is missing", "index.json")

    def test_shard_outside_of_the_folder(self):
        tiny.write(self.source, tiny.llama(), shards=2)
        index = self.source / "model.safetensors.index.json"
        index.write_text(index.read_text().replace("model-00001", "../model-00001"))
        self.refused("in the same folder")

    def test_tensor_in_another_shard(self):
        tiny.write(self.source, tiny.llama(), shards=2)
        index = json.loads((self.source / "model.safetensors.index.json").read_text())
        index["weight_map"]["model.norm.weight"] = "model-00001-of-00002.safetensors"
        index["weight_map"]["lm_head.weight"] = "model-00002-of-00002.safetensors"
        (self.source / "model.safetensors.index.json").write_text(json.dumps(index))
        self.refused("has no tensor", "says it holds")

    def test_truncated_file(self):
        tiny.write(self.source, tiny.llama())
        weights = self.source / "model.safetensors"
        whole = weights.read_bytes()
        for size in (0, 7, 200, len(whole) - 1):
            weights.write_bytes(whole[:size])
            self.refused("model.safetensors")

    def test_broken_config(self):
        tiny.write(self.source, tiny.llama())
        for text in ("", "{", "[1]", '{"model_type": "llama", "model_type": "gpt2"}', '{"model_type": 3}', "{}", "\xff"):
            (self.source / "config.json").write_bytes(text.encode("latin-1"))
            self.refused("config.json")

    def test_no_weights(self):
        tiny.write(self.source, tiny.llama())
        (self.source / "model.safetensors").unlink()
        self.refused("holds no weights", "model.safetensors.index.json")

    def test_folder_that_is_not_empty(self):
        tiny.write(self.source, tiny.llama())
        self.out.mkdir()
        (self.out / "mine").write_text("kept")
        result = subprocess.run([str(BIN / "hybrid-run"), "import", "hf", str(self.source), "--out", str(self.out)], capture_output=True, text=True)
        self.assertEqual((result.returncode, "not empty" in result.stderr), (1, True), result.stderr)
        self.assertEqual([path.name for path in self.out.iterdir()], ["mine"])

    def test_export_of_what_was_not_imported(self):
        tiny.write(self.source, tiny.llama())
        self.refused("exchange.json", "import", verb=("export", "hf"))

    def test_export_of_another_checkpoint(self):
        tiny.write(self.source, tiny.llama())
        self.runner.run("import", "hf", self.source, "--out", self.out)
        tiny.write(self.folder / "other", tiny.llama(inner=16))
        self.runner.run("import", "hf", self.folder / "other", "--out", self.folder / "wide")
        (self.out / "model.safetensors").write_bytes((self.folder / "wide" / "model.safetensors").read_bytes())
        self.refused("'blocks.0.swiglu.w1.weight'", "[16, 8]", "[12, 8]", verb=("export", "hf"), source=self.out, out=self.folder / "back")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True, type=pathlib.Path)
    arguments, rest = parser.parse_known_args()
    BIN = arguments.bin.resolve()
    unittest.main(argv=[__file__, *rest])
