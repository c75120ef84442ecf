#!/usr/bin/env python3
"""Makes test/exchange/operators/: operators.onnx and its inputs. Every output is how far an operator is from what ONNX's reference evaluator, an
independent implementation, computed of the same inputs: all of them are nearly 0 wherever the model is right.

  usage: make-operators-onnx.py FOLDER

Needs onnx and numpy; the files are kept in the tree, so that tests need neither.
"""

import pathlib
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

SETS = [helper.make_opsetid("", 27)]
generator = numpy.random.default_rng(1)
INPUTS = {
    "x": generator.standard_normal((2, 6, 8)).astype(numpy.float32),
    "y": generator.standard_normal((2, 6, 8)).astype(numpy.float32),
    "tokens": generator.integers(0, 5, (2, 6)).astype(numpy.int32),
}


class Case:
    """A formula: nodes by name, with constants among their inputs."""

    def __init__(self, name):
        self.name, self.nodes = name, []

    def value(self, what):
        if isinstance(what, str):
            return what
        name = f"{self.name}.{len(self.nodes)}"
        array = numpy.asarray(what)
        array = array.astype(numpy.float32) if array.dtype.kind == "f" else array
        self.nodes.append(helper.make_node("Constant", [], [name], name=name, value=numpy_helper.from_array(array)))
        return name

    def __call__(self, op, *inputs, outputs=1, **attributes):
        names = [self.value(each) for each in inputs]
        results = [f"{self.name}.{len(self.nodes)}.{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, names, results, name=f"{self.name}.{op}", **attributes))
        return results if outputs > 1 else results[0]


def cases():
    """Names, and what each computes of x, y and tokens: one value, or several."""
    ints = lambda *values: numpy.array(values, numpy.int64)
    table = generator.standard_normal((5, 8))
    heads = lambda g, x: g("Transpose", g("Reshape", x, ints(2, 6, 2, 4)), perm=[0, 2, 1, 3])
    causal = numpy.tril(numpy.ones((6, 6), bool))
    window = causal & ~numpy.tril(numpy.ones((6, 6), bool), -3)
    positive = lambda g, x: g("Add", g("Abs", x), 0.5)

    for op in ("Neg", "Exp", "Sin", "Cos", "Tanh", "Sigmoid", "Relu", "Softplus", "Abs", "Sign", "Erf", "Elu", "Gelu", "Swish"):
        yield op.lower(), lambda g, op=op: g(op, "x")
    for op in ("Log", "Sqrt", "Reciprocal"):
        yield op.lower(), lambda g, op=op: g(op, positive(g, "x"))
    yield "gelu_tanh", lambda g: g("Gelu", "x", approximate="tanh")
    yield "leaky_relu", lambda g: g("LeakyRelu", "x", alpha=0.1)
    for op in ("Add", "Sub", "Mul", "Div", "Max", "Min"):
        yield op.lower(), lambda g, op=op: g(op, "x", "y")
    for op in ("Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Equal"):
        yield op.lower(), lambda g, op=op: g("Where", g(op, "x", "y"), "x", g("Mul", "y", 2.0))
    yield "logic", lambda g: g("Cast", g("Or", g("And", g("Less", "x", "y"), g("Not", g("Less", "x", 0.0))), g("Xor", g("Less", "y", 0.0), g("Less", "x", 0.0))), to=1)
    for power in (2.0, 3.0, 0.5, -1.0, -0.5, 1.7):
        yield f"pow_{power}", lambda g, power=power: g("Pow", positive(g, "x"), power)
    yield "clip", lambda g: g("Clip", "x", -0.5, 0.5)
    yield "where_infinity", lambda g: g("Softmax", g("Where", causal[:, :1], "x", g.value(numpy.float32(-numpy.inf))), axis=-1)
    yield "slice_steps", lambda g: g("Slice", "x", ints(1, -1), ints(6, -100), ints(1, 2), ints(2, -1))
    yield "slice_back", lambda g: g("Slice", "x", ints(-2), ints(-8), ints(2), ints(-3))
    yield "split_uneven", lambda g: g("Split", "x", ints(3, 5), axis=-1, outputs=2)
    yield "split_rest", lambda g: g("Split", "x", axis=2, num_outputs=3, outputs=3)
    yield "concat", lambda g: g("Concat", "x", "y", "x", axis=-2)
    yield "pad", lambda g: g("Pad", "x", ints(0, 2, 1, 0, 1, 3))
    yield "pad_value", lambda g: g("Pad", "x", ints(1, 1), 3.0, ints(2))
    yield "tile", lambda g: g("Tile", "x", ints(1, 2, 3))
    yield "expand", lambda g: g("Expand", g("Slice", "x", ints(0), ints(1), ints(1)), ints(2, 4, 8))
    yield "squeeze", lambda g: g("Squeeze", g("Unsqueeze", "x", ints(0, -1)), ints(0))
    yield "flatten", lambda g: g("Flatten", "x", axis=2)
    yield "reshape", lambda g: g("Reshape", "x", ints(0, -1, 2, 2))
    yield "trilu", lambda g: g("Trilu", "x", numpy.int64(1), upper=0)
    yield "gather", lambda g: g("Gather", "x", ints(0, 2, -1), axis=2)
    yield "gather_table", lambda g: g("Gather", "x", numpy.array([[3, 1], [4, 5]]), axis=1)
    yield "embedding", lambda g: g("Gather", table, "tokens")
    yield "embedding_wide", lambda g: g("Gather", table.reshape(5, 2, 4), "tokens")
    for op in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceSumSquare", "ReduceL2", "ReduceLogSumExp"):
        yield op.lower(), lambda g, op=op: g(op, "x", ints(-1, 0), keepdims=0)
    yield "cumsum", lambda g: g("CumSum", "x", numpy.int64(1))
    yield "cumsum_rest", lambda g: g("CumSum", "x", numpy.int64(-1), exclusive=1, reverse=1)
    yield "top_k", lambda g: g("TopK", "x", ints(3), outputs=2)[0]
    yield "gather_elements", lambda g: g("GatherElements", "y", g("TopK", "x", ints(3), outputs=2)[1], axis=2)
    yield "scatter_elements", lambda g: (lambda top: g("ScatterElements", numpy.zeros((2, 6, 8)), top[1], top[0], axis=2))(g("TopK", "x", ints(2), outputs=2))
    yield "ids_equal", lambda g: g("Cast", g("Equal", g("TopK", "x", ints(2), outputs=2)[1], numpy.int64(3)), to=1)
    yield "softmax", lambda g: g("Softmax", "x", axis=1)
    yield "log_softmax", lambda g: g("LogSoftmax", "x")
    yield "layer_norm", lambda g: g("LayerNormalization", "x", table[0], table[1], epsilon=1e-3)
    yield "rms_norm", lambda g: g("RMSNormalization", "x", table[2], epsilon=1e-3)
    yield "matmul", lambda g: g("MatMul", "x", table.T)
    yield "matmul_batch", lambda g: g("MatMul", "x", g("Transpose", "y", perm=[0, 2, 1]))
    yield "matmul_broadcast", lambda g: g("MatMul", heads(g, "x"), g("Transpose", g("Slice", heads(g, "y"), ints(0), ints(1), ints(1)), perm=[0, 1, 3, 2]))
    yield "matmul_vector", lambda g: g("MatMul", "x", table[3])
    yield "gemm", lambda g: g("Gemm", g("Reshape", "x", ints(12, 8)), table, table[:, 0], transB=1, alpha=0.5, beta=2.0)
    yield "gemm_columns", lambda g: g("Gemm", g("Reshape", "x", ints(12, 8)), g("Reshape", "y", ints(12, 8)), transA=1)
    for name, shape, options in (("causal", (6, 1, 3), dict(group=6, pads=[2, 0])), ("both", (6, 1, 3), dict(group=6, pads=[1, 1])),
                                 ("late", (6, 1, 3), dict(group=6, pads=[4, 0])), ("dilated", (6, 1, 3), dict(group=6, pads=[4, 0], dilations=[2])),
                                 ("dense", (4, 6, 3), dict(pads=[2, 1])), ("groups", (4, 3, 2), dict(group=2, dilations=[3]))):
        weight, bias = generator.standard_normal(shape), generator.standard_normal(shape[0])
        yield f"conv_{name}", lambda g, weight=weight, bias=bias, options=options: g("Conv", "x", weight, bias, **options)
    yield "conv_state", lambda g: g("CausalConvWithState", "x", generator.standard_normal((6, 1, 4)), outputs=2)
    yield "dft", lambda g: g("DFT", g("Unsqueeze", "x", ints(-1)), numpy.int64(12), numpy.int64(1), onesided=1)
    yield "dft_back", lambda g: g("DFT", g("DFT", g("Unsqueeze", "x", ints(-1)), numpy.int64(10), numpy.int64(2), onesided=1), numpy.int64(10), numpy.int64(2), onesided=1, inverse=1)
    scores = lambda g: g("MatMul", g("Mul", heads(g, "x"), 0.3), g("Transpose", heads(g, "y"), perm=[0, 1, 3, 2]))
    end = lambda g, s: g("MatMul", g("Softmax", s, axis=-1), heads(g, "x"))
    yield "written_attention", lambda g: end(g, scores(g))
    yield "written_causal", lambda g: end(g, g("Add", scores(g), numpy.where(causal, 0, -numpy.inf)))
    yield "written_window", lambda g: end(g, g("Where", window, scores(g), -1e9))
    yield "written_filled", lambda g: end(g, g("Where", ~causal, -1e9, scores(g)))
    yield "written_capped", lambda g: end(g, g("Add", g("Mul", g("Tanh", g("Div", scores(g), 2.0)), 2.0), numpy.where(causal, 0, -numpy.inf)))
    yield "written_slope", lambda g: end(g, g("Add", scores(g), numpy.where(causal, numpy.arange(6) - 5.0, -numpy.inf)))
    yield "attention", lambda g: g("Attention", heads(g, "x"), heads(g, "y"), heads(g, "x"), is_causal=1)
    yield "attention_flat", lambda g: g("Attention", "x", g("Slice", "y", ints(0), ints(4), ints(2)), g("Slice", "x", ints(4), ints(8), ints(2)), window, q_num_heads=4, kv_num_heads=2, scale=0.4)
    angles = numpy.arange(6)[:, None] * numpy.array([1.0, 0.1])
    cosines, sines = (numpy.broadcast_to(part, (2, 6, 2)).copy() for part in (numpy.cos(angles), numpy.sin(angles)))
    for interleaved in (0, 1):
        yield f"rotary_{interleaved}", lambda g, interleaved=interleaved: g("RotaryEmbedding", heads(g, "x"), cosines, sines, interleaved=interleaved)
    yield "rotary_part", lambda g: g("RotaryEmbedding", "x", numpy.cos(angles[:, :1]), numpy.sin(angles[:, :1]), numpy.tile(numpy.arange(6), (2, 1)), num_heads=2, rotary_embedding_dim=2)
    decay, beta = -numpy.abs(generator.standard_normal((2, 6, 2))), numpy.abs(generator.standard_normal((2, 6, 2))) * 0.3
    past = generator.standard_normal((2, 2, 4, 4))
    for rule, more in (("linear", []), ("gated", [past, decay]), ("delta", [past, "", beta]), ("gated_delta", [past, decay, beta])):
        yield f"linear_attention_{rule}", lambda g, rule=rule, more=more: g("LinearAttention", "x", "y", "x", *more, q_num_heads=2, kv_num_heads=2, update_rule=rule, outputs=2)


def model_of(nodes, outputs):
    types = {"tokens": TensorProto.INT32}
    inputs = [helper.make_tensor_value_info(name, types.get(name, TensorProto.FLOAT), value.shape) for name, value in INPUTS.items()]
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    return helper.make_model(helper.make_graph(nodes, "operators", inputs, results), opset_imports=SETS, ir_version=13)


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    nodes, outputs = [], []
    for name, write in cases():
        case = Case(name)
        results = write(case)
        results = [results] if isinstance(results, str) else results
        expected = ReferenceEvaluator(model_of(case.nodes, results)).run(None, INPUTS)
        nodes += case.nodes
        for i, (result, value) in enumerate(zip(results, expected)):
            difference = Case(f"{name}.difference{i}")
            worst = difference("ReduceMax", difference("Abs", difference("Sub", result, value.astype(numpy.float32))), keepdims=0)
            difference.nodes[-1].output[0] = f"{name}{i}"
            nodes += difference.nodes
            outputs.append(f"{name}{i}")
    onnx.save(model_of(nodes, outputs), folder / "operators.onnx")
    for name, value in INPUTS.items():
        numpy.save(folder / f"{name}.npy", value)
    print(f"{len(outputs)} outputs")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
