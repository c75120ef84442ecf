// The language Hybrid for tree-sitter. The parser that `tree-sitter generate` makes of it is not kept here.
// A statement ends with its line, which this grammar does not see: what is written on several lines, outside of brackets, it
// may take for one statement more.

const sign = { or: 1, and: 2, not: 3, compare: 4, add: 5, multiply: 6, negate: 7, call: 8 };

const listOf = (rule) => optional(seq(rule, repeat(seq(",", rule)), optional(",")));

module.exports = grammar({
  name: "hybrid",
  extras: ($) => [/\s/, $.comment],
  word: ($) => $.name,

  rules: {
    file: ($) => repeat(choice($.use, $.definition)),

    comment: (_) => token(seq("//", /[^\n]*/)),
    use: ($) => prec.right(seq("use", $.name, repeat(seq(".", $.name)), optional(";"))),
    definition: ($) =>
      seq(
        field("kind", choice("layer", "model")),
        field("name", $.name),
        optional(seq("(", listOf($.parameter), ")")),
        optional(seq("->", field("result", $._type))),
        field("body", $.block),
      ),
    parameter: ($) =>
      seq(field("name", $.name), ":", field("type", $._type), optional(seq("=", field("default", $._expression)))),
    _type: ($) => choice($.word_type, $.shape),
    word_type: (_) => choice("int", "float", "bool", "string", "layer"),
    shape: ($) => seq(optional("int"), "[", listOf(choice("...", $._expression)), "]"),

    block: ($) => seq("{", repeat(choice($._statement, ";")), "}"),
    _statement: ($) =>
      choice($.let, $.assign, $.for, $.repeat, $.if, $.return, $.topology, $.input, $.output, $.evaluate),
    let: ($) => seq("let", $._pattern, "=", $._expression),
    _pattern: ($) => choice($.name, seq("[", listOf(seq($.name, optional("..."))), "]")),
    assign: ($) => seq($.name, choice("=", "+=", "-=", "*=", "/="), $._expression),
    for: ($) =>
      seq("for", $.name, optional(seq(",", $.name)), "in", $._expression, optional(seq("..", $._expression)), $.block),
    repeat: ($) => seq("repeat", $._expression, $.block),
    if: ($) => prec.right(seq("if", $._expression, $.block, optional(seq("else", choice($.if, $.block))))),
    return: ($) => seq("return", $._expression),
    topology: ($) => seq("topology", $._expression, "{", repeat(seq($.name, "=", $.block)), "}"),
    input: ($) => seq("input", $.name, ":", $._type),
    output: ($) => seq("output", $.name, "=", $._expression),
    evaluate: ($) => $.call,

    _expression: ($) =>
      choice(
        $.name, $.number, $.string, $.boolean, $.operator, $.list, $.parenthesis,
        $.call, $.with, $.index, $.unary, $.binary, $.conditional,
      ),
    boolean: (_) => choice("true", "false"),
    operator: ($) => seq("op", ".", $.name),
    list: ($) => seq("[", listOf($._expression), "]"),
    parenthesis: ($) => seq("(", $._expression, ")"),
    call: ($) => prec.left(sign.call, seq(field("layer", $._expression), "(", listOf($.argument), ")")),
    with: ($) => prec.left(sign.call, seq(field("layer", $._expression), "with", "(", listOf($.argument), ")")),
    argument: ($) => seq(optional(seq(field("name", $.name), "=")), field("value", $._expression)),
    index: ($) => prec.left(sign.call, seq($._expression, "[", listOf($._subscript), "]")),
    _subscript: ($) => choice("...", $._expression, $.range),
    range: ($) => prec.right(seq(optional($._expression), ":", optional($._expression))),
    unary: ($) => choice(prec(sign.negate, seq("-", $._expression)), prec(sign.not, seq("not", $._expression))),
    binary: ($) =>
      choice(
        ...[
          [sign.or, "or"], [sign.and, "and"],
          [sign.compare, choice("==", "!=", "<", "<=", ">", ">=")],
          [sign.add, choice("+", "-")], [sign.multiply, choice("*", "/", "%")],
        ].map(([level, signs]) => prec.left(level, seq($._expression, signs, $._expression))),
      ),
    conditional: ($) => prec.right(seq("if", $._expression, "then", $._expression, "else", $._expression)),

    name: (_) => /[A-Za-z_][A-Za-z0-9_]*/,
    number: (_) => /([0-9][0-9_]*(\.[0-9]+)?|\.[0-9]+)([eE][+-]?[0-9]+)?/,
    string: (_) => token(seq('"', repeat(choice(/[^"\\\n]/, /\\./)), '"')),
  },
});
