"""A model in Python computes what hybrid-run does, bit by bit."""

import pathlib
import tempfile
import unittest

import support

import hybrid


class Outputs(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def test_forward_and_gradients_are_those_of_hybrid_run(self):
        model = support.compile_model(seed=7)
        shape = model.outputs[0].shape
        cotangent = [((7 * i) % 11 - 5) / 8 for i in range(model.outputs[0].elements)]
        support.write_npy(self.folder / "cotangent.npy", shape, cotangent)
        wanted = support.reference(self.folder / "out", "forward", "--cotangent", f"logits={self.folder / 'cotangent.npy'}")
        self.assertEqual(support.flat(model(support.TOKENS).tolist()), wanted["output.logits"])
        weights = hybrid.Array(model.outputs[0])
        weights.memory.cast("B").cast("f")[:] = memoryview(support.npy.array.array("f", cotangent))
        found = model.vjp(support.TOKENS, weights)
        self.assertEqual(support.flat(found.outputs["logits"].tolist()), wanted["output.logits"])
        self.assertEqual(found.inputs, {}, "tokens have no gradient")
        self.assertEqual(set(found.parameters), set(model.parameters))
        for name, gradient in found.parameters.items():
            self.assertEqual(support.flat(gradient.tolist()), wanted["grad." + name], name)

    def test_an_input_and_an_output_may_have_one_name(self):
        model = hybrid.compile("model twice() {\n  input y: [B, L, 2]\n  output y = y + y\n}\n", batch=1, length=2, threads=1)
        self.assertEqual(model([[[1, 2], [3, 4]]]).tolist(), [[[2, 4], [6, 8]]])
        found = model.vjp([[[1, 2], [3, 4]]], [[[1, 0], [0, -1]]])
        self.assertEqual(found.outputs["y"].tolist(), [[[2, 4], [6, 8]]])
        self.assertEqual(found.inputs["y"].tolist(), [[[2, 0], [0, -2]]])

    def test_training_is_that_of_hybrid_run_and_goes_on_from_its_state(self):
        steps = {"learning_rate": 1e-2, "weight_decay": 0.1, "beta1": 0.9, "beta2": 0.98, "epsilon": 1e-8}
        wanted = support.reference(
            self.folder / "out", "replay", "--input", "targets=2x8xi32=" + ",".join(map(str, support.flat(support.TARGETS))), "--steps=3",
            "--schedule=constant", "--lr=0.01", "--warmup=0", "--weight-decay=0.1", "--beta1=0.9", "--beta2=0.98", "--eps=1e-8", "--clip=0")
        batch = {"tokens": support.TOKENS, "targets": support.TARGETS}
        model = support.compile_model(seed=7)
        training = model.training(**steps)
        first = training.step(batch)
        state = training.state_dict()
        losses = [first, training.step(batch), training.step(batch)]
        self.assertEqual(losses, wanted["loss"])
        for name, parameter in model.parameters.items():
            self.assertEqual(support.flat(parameter.tolist()), wanted["final." + name], name)
        other = support.compile_model(seed=1).training(**steps)
        other.load_state_dict(state)
        self.assertEqual(other.step_count, 1)
        self.assertEqual([other.step(batch), other.step(batch)], losses[1:])

    def test_decoding_gives_the_logits_of_forward(self):
        whole = support.compile_model(seed=7)(support.TOKENS).tolist()
        decoder = support.compile_model(seed=7, decode=True).decoder()
        for position in range(support.LENGTH):
            logits = decoder.step([row[position] for row in support.TOKENS]).tolist()
            for row in range(support.BATCH):
                for one, other in zip(logits[row], whole[row][position]):
                    self.assertAlmostEqual(one, other, delta=1e-5)
        self.assertEqual(decoder.position, support.LENGTH)
        decoder.restart()
        again = decoder.step([row[:3] for row in support.TOKENS]).tolist()
        self.assertAlmostEqual(again[1][0], whole[1][2][0], delta=1e-5)

    def test_parameters_are_drawn_read_and_set_by_name(self):
        one, other = hybrid.compile(support.LINEAR, batch=1, length=2, seed=3), hybrid.compile(support.LINEAR, batch=1, length=2, seed=4)
        self.assertEqual(list(one.parameters), ["w"])
        self.assertTrue(one.parameters.specs["w"].trained)
        self.assertNotEqual(one.parameters["w"].tolist(), other.parameters["w"].tolist())
        other.parameters.update(one.parameters)
        self.assertEqual(one.parameters["w"].tolist(), other.parameters["w"].tolist())
        one.parameters["w"] = [[1, 0, 2], [0, 1, 0]]
        self.assertEqual(one([[[1, 2, 3], [4, 5, 6]]]).tolist(), [[[7, 2], [16, 5]]])

    def test_two_models_at_once_do_not_mix(self):
        narrow, wide = hybrid.compile(support.LINEAR, batch=1, length=1), hybrid.compile(support.LINEAR, batch=1, length=2, width=5)
        narrow.parameters["w"], wide.parameters["w"] = [[1, 1, 1]] * 2, [[1, 1, 1, 1, 1]] * 2
        for _ in range(2):
            self.assertEqual(narrow([[[1, 2, 3]]]).tolist(), [[[6, 6]]])
            self.assertEqual(wide([[[1, 2, 3, 4, 5], [0, 0, 0, 0, 1]]]).tolist(), [[[15, 15], [1, 1]]])


class Refusals(unittest.TestCase):
    def test_the_compilers_message_is_the_exceptions(self):
        with self.assertRaises(hybrid.CompileError) as caught:
            hybrid.compile("model m() {\n  input x: [B, L, 4]\n  output y = swigloo(x)\n}\n")
        self.assertIn("<text>:3:14: error: there is nothing called 'swigloo'", str(caught.exception))
        with self.assertRaisesRegex(hybrid.CompileError, "nowhere.hyb is not there"):
            hybrid.compile("nowhere.hyb")
        with self.assertRaisesRegex(hybrid.CompileError, "widht"):
            hybrid.compile(support.LINEAR, widht=8)

    def test_arrays_must_fit(self):
        model = hybrid.compile(support.LINEAR, batch=1, length=2)
        for wrong, said in [([[[1, 2, 3]]], "another shape"), (memoryview(bytes(24)), r"'x' f32 \[1, 2, 3\]: the array given is B \[24\]"),
                            ({"z": [[[1, 2, 3]]]}, r"no input \['z'\]"), ({}, "'x' f32 .* is not given"), (object(), "is no array")]:
            with self.assertRaisesRegex(hybrid.ArrayError, said):
                model.forward(wrong)
        with self.assertRaisesRegex(hybrid.ArrayError, "no parameters"):
            model.parameters.update({"v": [1]})
        with self.assertRaisesRegex(hybrid.RunError, "without program 'train'"):
            model.training()
        with self.assertRaisesRegex(hybrid.RunError, "without program 'step'"):
            model.decoder()

    def test_an_id_that_is_none_is_named(self):
        model = support.compile_model()
        with self.assertRaisesRegex(hybrid.RunError, r"holds the id 777 at \[0, 1\]"):
            model([[1, 777, 3, 4, 5, 6, 7, 8], support.TOKENS[1]])


class Layers(unittest.TestCase):
    def test_a_layer_is_a_model(self):
        layer = hybrid.layer_model("std.delta", "gated_deltanet", width=8, heads=2)
        model = hybrid.compile(layer.text, batch=2, length=5)
        self.assertEqual([spec.shape for spec in (*model.inputs, *model.outputs)], [(2, 5, 8), (2, 5, 8)])
        self.assertIn("gated_deltanet.in.weight", model.parameters)

    def test_a_layer_with_states_has_several_outputs(self):
        layer = hybrid.layer_model("std.recurrences", "min_gru", inputs={"x": "[B, L, 4]", "state = before": "[B, 1, 4]"}, outputs=("y", "state"),
                                   return_state=True)
        outputs = hybrid.compile(layer.text, batch=1, length=3).forward({"x": [[[1, 2, 3, 4]] * 3], "before": [[[0, 0, 0, 0]]]})
        self.assertEqual({name: array.shape for name, array in outputs.items()}, {"y": (1, 3, 4), "state": (1, 1, 4)})


if __name__ == "__main__":
    unittest.main()
