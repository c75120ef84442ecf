//===- ScalarFunctions.td - functions of elements ---------------*- tablegen -*-===//
//
// Every elementwise function once: its value, its derivative and what it is called. The enums of
// hybrid.unary and hybrid.binary, code for CPU and CUDA, gradients, the language and its
// documentation are made of this table, so that a new function is one definition here.
//
// Formulas are C++ over a type T that stands for a scalar on the CPU, a piece of CUDA source, a tensor
// of the graph or a plain number (dialect/ScalarFunctions.h). They know + - * /, numbers, constant(1, x) of
// the type of x, and every function of this table by its name; they also know <, == and
// select(condition, a, b). A function without a formula is one that each of these types has itself.
// Formulas must neither overflow nor cancel at large arguments.
//
//===----------------------------------------------------------------------===//
#ifndef HYBRID_SCALAR_FUNCTIONS_TD
#define HYBRID_SCALAR_FUNCTIONS_TD
include "mlir/IR/EnumAttr.td"

/// A function of one value. Numbers are those of the enum: 0, 1, 2, ...
class Hybrid_UnaryFunction<string symbol, int number, string name, string text>
    : I32EnumAttrCase<symbol, number, name> {
  string meaning = text;
  code formula = "";    // of x
  code derivative = ""; // of x and y = f(x); none without it
  bit wholeNumbers = 0; // the language gives an integer for an integer
}

def Hybrid_Neg : Hybrid_UnaryFunction<"Neg", 0, "neg", "-x"> {
  let formula = "-x";
  let derivative = "constant(-1, x)";
  let wholeNumbers = 1;
}
def Hybrid_Exp : Hybrid_UnaryFunction<"Exp", 1, "exp", "eˣ"> { let derivative = "y"; }
def Hybrid_Log : Hybrid_UnaryFunction<"Log", 2, "log", "natural logarithm"> { let derivative = "reciprocal(x)"; }
def Hybrid_Sin : Hybrid_UnaryFunction<"Sin", 3, "sin", "sine"> { let derivative = "cos(x)"; }
def Hybrid_Cos : Hybrid_UnaryFunction<"Cos", 4, "cos", "cosine"> { let derivative = "-sin(x)"; }
def Hybrid_Tanh : Hybrid_UnaryFunction<"Tanh", 5, "tanh", "hyperbolic tangent"> { let derivative = "1 - square(y)"; }
def Hybrid_Sigmoid : Hybrid_UnaryFunction<"Sigmoid", 6, "sigmoid", "σ(x) = 1/(1 + e⁻ˣ)"> {
  let formula = "1 / (1 + exp(-x))";
  let derivative = "y * (1 - y)";
}
def Hybrid_Silu : Hybrid_UnaryFunction<"Silu", 7, "silu", "x σ(x)"> {
  let formula = "x / (1 + exp(-x))";
  let derivative = [{
    T s = sigmoid(x);
    return s * (x * (1 - s) + 1);
  }];
}
def Hybrid_Gelu : Hybrid_UnaryFunction<"Gelu", 8, "gelu", "x Φ(x), Φ the normal distribution's"> {
  let formula = "x * 0.5 * (1 + erf(x * (std::numbers::sqrt2 / 2)))";
  let derivative = [{ // Φ(x) + x φ(x)
    T phi = (erf(x * (std::numbers::sqrt2 / 2)) + 1) * 0.5;
    T density = exp(square(x) * -0.5) * (1 / std::sqrt(2 * std::numbers::pi));
    return phi + x * density;
  }];
}
def Hybrid_GeluTanh : Hybrid_UnaryFunction<"GeluTanh", 9, "gelu_tanh", "x/2 (1 + tanh(√(2/π) (x + 0.044715 x³)))"> {
  let formula = "x * 0.5 * (1 + tanh(x * std::sqrt(2 / std::numbers::pi) * (1 + 0.044715 * (x * x))))";
  let derivative = [{ // ½(1+T) + ½ x (1-T²) √(2/π)(1 + 3·0.044715 x²)
    double c = std::sqrt(2 / std::numbers::pi);
    T squared = square(x);
    T t = tanh(x * (squared * 0.044715 + 1) * c);
    T slope = (squared * (3 * 0.044715) + 1) * c;
    T second = x * (1 - square(t)) * slope;
    return (t + 1 + second) * 0.5;
  }];
}
def Hybrid_Relu : Hybrid_UnaryFunction<"Relu", 10, "relu", "max(x, 0)"> {
  let formula = "max(x, constant(0, x))";
  let derivative = "less(constant(0, x), x)";
}
def Hybrid_Softplus : Hybrid_UnaryFunction<"Softplus", 11, "softplus", "log(1 + eˣ)"> {
  let formula = "max(x, constant(0, x)) + log1p(exp(-abs(x)))";
  let derivative = "sigmoid(x)";
}
def Hybrid_Sqrt : Hybrid_UnaryFunction<"Sqrt", 12, "sqrt", "square root"> { let derivative = "reciprocal(y) * 0.5"; }
def Hybrid_Rsqrt : Hybrid_UnaryFunction<"Rsqrt", 13, "rsqrt", "1/√x"> {
  let formula = "1 / sqrt(x)";
  let derivative = "square(y) * y * -0.5";
}
def Hybrid_Abs : Hybrid_UnaryFunction<"Abs", 14, "abs", "absolute value"> {
  let derivative = "sign(x)";
  let wholeNumbers = 1;
}
def Hybrid_Square : Hybrid_UnaryFunction<"Square", 15, "square", "x²"> {
  let formula = "x * x";
  let derivative = "x * 2";
}
def Hybrid_Sign : Hybrid_UnaryFunction<"Sign", 16, "sign", "-1, 0 or 1; no gradient"> {
  let formula = "select(0 < x, 1, select(x < 0, -1, 0))";
  let wholeNumbers = 1;
}
def Hybrid_LogSigmoid : Hybrid_UnaryFunction<"LogSigmoid", 17, "log_sigmoid", "log σ(x)"> {
  let formula = "-softplus(-x)";
  let derivative = "sigmoid(-x)";
}
def Hybrid_Erf : Hybrid_UnaryFunction<"Erf", 18, "erf", "error function"> {
  let derivative = "exp(-square(x)) * (2 / std::sqrt(std::numbers::pi))";
}
def Hybrid_Reciprocal : Hybrid_UnaryFunction<"Reciprocal", 19, "reciprocal", "1/x"> {
  let formula = "1 / x";
  let derivative = "-square(y)";
}
def Hybrid_Elu : Hybrid_UnaryFunction<"Elu", 20, "elu", "x above 0, else eˣ - 1"> {
  let formula = "select(0 < x, x, expm1(min(x, constant(0, x))))"; // the exponential of min(x, 0) never overflows
  let derivative = [{ // 1 above 0, else eˣ = y + 1
    T positive = less(constant(0, x), x);
    return positive + (1 - positive) * (y + 1);
  }];
}
def Hybrid_Expm1 : Hybrid_UnaryFunction<"Expm1", 21, "expm1", "eˣ - 1, exact near 0"> { let derivative = "y + 1"; }
def Hybrid_Log1p : Hybrid_UnaryFunction<"Log1p", 22, "log1p", "log(1 + x), exact near 0"> { let derivative = "reciprocal(x + 1)"; }
def Hybrid_StopGradient : Hybrid_UnaryFunction<"StopGradient", 23, "stop_gradient", "x itself; no gradient"> {
  let formula = "x";
  let wholeNumbers = 1;
}

/// A function of two values.
class Hybrid_BinaryFunction<string symbol, int number, string name, string inLanguage, string text>
    : I32EnumAttrCase<symbol, number, name> {
  string language = inLanguage; // an operator sign, or a name
  string parameters = "a, b";
  string meaning = text;
  code formula = "";  // of a and b
  code gradient = ""; // sets da and db, with dy the gradient of the result; none without it
}

def Hybrid_Add : Hybrid_BinaryFunction<"Add", 0, "add", "+", "sum"> {
  let formula = "a + b";
  let gradient = "da = db = dy;";
}
def Hybrid_Sub : Hybrid_BinaryFunction<"Sub", 1, "sub", "-", "difference"> {
  let formula = "a - b";
  let gradient = "da = dy; db = -dy;";
}
def Hybrid_Mul : Hybrid_BinaryFunction<"Mul", 2, "mul", "*", "product"> {
  let formula = "a * b";
  let gradient = "da = dy * b; db = dy * a;";
}
def Hybrid_Div : Hybrid_BinaryFunction<"Div", 3, "div", "/", "quotient"> {
  let formula = "a / b";
  let gradient = "da = dy / b; db = -(da * (a / b));";
}
def Hybrid_Max : Hybrid_BinaryFunction<"Max", 4, "max", "maximum", "the larger; equal ones pass the gradient to a"> {
  let gradient = "T second = less(a, b); db = dy * second; da = dy * (1 - second);";
}
def Hybrid_Min : Hybrid_BinaryFunction<"Min", 5, "min", "minimum", "the smaller; equal ones pass the gradient to a"> {
  let gradient = "T second = less(b, a); db = dy * second; da = dy * (1 - second);";
}
def Hybrid_Equal : Hybrid_BinaryFunction<"Equal", 6, "equal", "equal", "1 where a = b, else 0; no gradient"> {
  let formula = "select(a == b, 1, 0)";
}
def Hybrid_Less : Hybrid_BinaryFunction<"Less", 7, "less", "less", "1 where a < b, else 0; no gradient"> {
  let formula = "select(a < b, 1, 0)";
}
def Hybrid_Atan2 : Hybrid_BinaryFunction<"Atan2", 8, "atan2", "atan2", "angle of the point (x, y) in (-π, π]"> {
  let parameters = "y, x";
  let gradient = "T scaled = dy / (a * a + b * b); da = scaled * b; db = -(scaled * a);";
}
def Hybrid_Masked : Hybrid_BinaryFunction<"Masked", 9, "masked", "masked", "x · mask, and 0 where mask is 0, whatever x is there"> {
  let parameters = "x, mask";
  let formula = "select(b == constant(0, b), 0, a * b)";
  let gradient = "T there = 1 - equal(b, constant(0, b)); da = masked(dy, b); db = masked(dy * a, there);";
}
#endif
