"""hybrid.torch in loops of PyTorch's. Run by tools/wheel --test, which has a PyTorch."""

import copy
import io
import unittest

import support
import torch

import hybrid
import hybrid.torch


def delta(**more):
    return hybrid.torch.layer("std.delta", "gated_deltanet", width=8, heads=2, **{"batch": 2, "length": 5, "threads": 1, **more})


class Modules(unittest.TestCase):
    def test_it_trains_as_the_model_does(self):
        model = support.compile_model(seed=7)
        module = hybrid.torch.Module(support.MODEL, batch=support.BATCH, length=support.LENGTH, settings=support.SIZES, threads=1, seed=7)
        optimizer = torch.optim.AdamW(module.parameters(), lr=1e-2, betas=(0.9, 0.98), eps=1e-8, weight_decay=0)
        training = model.training(learning_rate=1e-2, weight_decay=0, beta1=0.9, beta2=0.98, epsilon=1e-8)
        tokens, targets = torch.tensor(support.TOKENS), torch.tensor(support.TARGETS)
        for _ in range(5):
            loss = torch.nn.functional.cross_entropy(module(tokens).flatten(0, 1), targets.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            self.assertAlmostEqual(loss.item(), training.step({"tokens": support.TOKENS, "targets": support.TARGETS}), delta=1e-5)

    def test_arrays_go_to_torch_and_back_without_a_copy(self):
        array = hybrid.Array(hybrid.Spec("x", (2, 3), "f32"))
        tensor = torch.from_dlpack(array)
        tensor[1, 2] = 5
        self.assertEqual(array.tolist(), [[0, 0, 0], [0, 0, 5]])
        del array
        self.assertEqual(tensor.sum().item(), 5)
        model = hybrid.compile(support.LINEAR, batch=1, length=2)
        x = torch.arange(12, dtype=torch.float32).reshape(3, 4).t()[:2].unsqueeze(0)  # lies in another order
        weights = torch.from_dlpack(model.parameters["w"])
        torch.testing.assert_close(torch.from_dlpack(model(x)), x @ weights.t())

    def test_a_gradient_from_the_start_leaves_outputs_of_other_calls_alone(self):
        module = hybrid.torch.layer("std.attention", "lambda_part", inputs={}, size=4, threads=1)
        one, other = module(), module()  # the second one waits at its pause, with its output in place
        with torch.no_grad():
            other.fill_(7)
        one.backward()
        self.assertEqual(other.item(), 7)

    def test_a_module_is_used_twice_before_it_is_differentiated(self):
        module = delta()
        x = torch.randn(2, 5, 8, requires_grad=True)
        (module(x).sum() + module(2 * x).square().sum()).backward()
        both = x.grad.clone()
        x.grad = None
        module(x).sum().backward()
        module(2 * x).square().sum().backward()
        torch.testing.assert_close(x.grad, both)

    def test_what_ran_between_the_two_passes_changes_nothing(self):
        module = delta()
        x, weights = torch.randn(2, 5, 8, requires_grad=True), torch.randn(2, 5, 8)
        (wanted,) = torch.autograd.grad(module(x), x, weights)
        y = module(x)
        with torch.no_grad():
            module(2 * x)
        (found,) = torch.autograd.grad(y, x, weights, retain_graph=True)
        self.assertTrue(torch.equal(found, wanted))
        self.assertTrue(torch.equal(torch.autograd.grad(y, x, weights)[0], wanted), "a second time")
        # Memory that does not begin at 64 bytes is copied, here and there.
        shifted = torch.zeros(81)[1:].view(2, 5, 8).copy_(x.detach()).requires_grad_()
        self.assertTrue(torch.equal(torch.autograd.grad(module(shifted), shifted, torch.zeros(81)[1:].view(2, 5, 8).copy_(weights))[0], wanted))
        # What stands for a saved input is another tensor.
        with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor.tolist(), torch.tensor):
            y = module(x * 1)
        self.assertTrue(torch.equal(torch.autograd.grad(y, x, weights)[0], wanted))

    def test_large_tensors_take_memory_again_that_nobody_has(self):
        module = hybrid.torch.layer("std.channel", "squared_relu", inputs={"x": "[B, L, 256]"}, batch=4, length=64, threads=1)  # 256 KiB
        x = torch.randn(4, 64, 256, requires_grad=True)
        kept, expected = module(x), x.relu().square()
        places = {module(x).data_ptr() for _ in range(4)}
        self.assertLessEqual(len(places), 2)
        self.assertNotIn(kept.data_ptr(), places)
        torch.testing.assert_close(kept, expected)
        kept += 1  # as a tensor of its own, which no view is
        kept.sum().backward()
        torch.testing.assert_close(x.grad, 2 * x.detach().relu())
        gradient = x.grad
        x.grad = None
        module(3 * x).sum().backward()
        torch.testing.assert_close(gradient, 2 * x.detach().relu())
        self.assertEqual(gradient.data_ptr() % 64, 0)
        del module  # and its memory, but not what is still in use
        torch.testing.assert_close(gradient, 2 * x.detach().relu())

    def test_parameters_of_the_forward_pass_count(self):
        module = delta()
        x = torch.randn(2, 5, 8)
        first = module(x)
        with torch.no_grad():
            module(x)
            for parameter in module.parameters():
                parameter.data.mul_(2)  # which no version counter sees
        self.assertFalse(torch.allclose(module(x), first))

    def test_state_dicts_and_copies(self):
        module, other = delta(seed=1), delta(seed=2)
        x = torch.randn(2, 5, 8)
        self.assertFalse(torch.equal(module(x), other(x)))
        file = io.BytesIO()
        torch.save(module.state_dict(), file)
        file.seek(0)
        other.load_state_dict(torch.load(file))
        self.assertTrue(torch.equal(module(x), other(x)))
        self.assertTrue(torch.equal(copy.deepcopy(module)(x), module(x)))
        self.assertIn("gated_deltanet.in.weight", module.state_dict())

    def test_lengths_are_compiled_as_they_are_and_then_padded(self):
        module, exact = delta(exact_lengths=2), delta(exact_lengths=9)
        module(torch.randn(2, 3, 8)), module(torch.randn(2, 4, 8))
        for length in (5, 6, 7, 8):
            x = torch.randn(2, length, 8, requires_grad=True)
            y, wanted = module(x), exact(x)
            torch.testing.assert_close(y, wanted)
            weights = torch.randn_like(y)
            torch.testing.assert_close(torch.autograd.grad(y, x, weights), torch.autograd.grad(wanted, x, weights))
        self.assertEqual({key[1] for key in module._shapes}, {3, 4, 5, 8})  # 5: what it was made with

    def test_what_cannot_be_padded_is_refused(self):
        seen = hybrid.torch.layer("std.mixers", "attention", width=8, heads=2, causal=False, batch=2, length=4, exact_lengths=1)
        seen(torch.randn(2, 4, 8))
        with self.assertRaisesRegex(hybrid.ArrayError, "may see later positions.*raise exact_lengths"):
            seen(torch.randn(2, 6, 8))
        pooled = hybrid.torch.Module("model m() {\n  input x: [B, L, 4]\n  output y = mean(x, axis = 1)\n}\n", exact_lengths=1)
        pooled(torch.randn(1, 16, 4))
        with self.assertRaisesRegex(hybrid.ArrayError, "of the whole sequence"):
            pooled(torch.randn(1, 15, 4))
        scaled = hybrid.torch.Module("model m() {\n  input x: [B, L, 4]\n  output y = x / sum(ones([L]))\n}\n", exact_lengths=1)
        scaled(torch.randn(1, 3, 4))
        with self.assertRaisesRegex(hybrid.ArrayError, "depends on the length itself"):
            scaled(torch.randn(1, 7, 4))

    def test_shapes_dtypes_and_devices_are_named(self):
        module = delta()
        for x, said in [(torch.randn(2, 5, 9), r"\[2, 5, 9\], expected \[B, L, 8\]"), (torch.randn(2, 5, 8).double(), "float64, and the module is"),
                        (torch.zeros(2, 5, 8, dtype=torch.int64), "int64, expected torch.float32"), (torch.empty(2, 5, 8, device="meta"), "is on meta")]:
            with self.assertRaisesRegex(hybrid.ArrayError, said):
                module(x)
        with self.assertRaisesRegex(hybrid.ArrayError, "float16, expected torch.float32 or torch.float64"):
            delta().half()(torch.randn(2, 5, 8).half())
        with self.assertRaisesRegex(hybrid.ArrayError, r"expected \['x'\]"):
            module(torch.randn(2, 5, 8), z=torch.randn(2))
        embed = hybrid.torch.layer("std.layers", "embed", inputs={"tokens": "int[B, L]"}, vocab=5, width=4)
        self.assertEqual(embed(torch.tensor([[1, 4]])).shape, (1, 2, 4))
        with self.assertRaisesRegex(hybrid.ArrayError, "beyond 32 bits"):
            embed(torch.tensor([[1, 2**40]]))
        with self.assertRaisesRegex(hybrid.RunError, r"the id 5 at \[0, 1\]"):
            embed(torch.tensor([[1, 5]]))

    def test_a_gradient_of_a_gradient_is_refused(self):
        x = torch.randn(2, 5, 8, requires_grad=True)
        (gradient,) = torch.autograd.grad(delta()(x).square().sum(), x, create_graph=True)
        with self.assertRaises(RuntimeError):
            gradient.sum().backward()


if __name__ == "__main__":
    torch.manual_seed(0)
    unittest.main()
