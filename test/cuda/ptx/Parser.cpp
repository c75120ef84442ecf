//===- Parser.cpp - PTX as NVRTC writes it ----------------------------------===//
#include "test/cuda/ptx/Lexer.h"
#include "test/cuda/ptx/Syntax.h"
#include <algorithm>
#include <cstring>
#include <utility>

namespace hybrid::ptx {
namespace {

/// Bytes of a type: ".b32", ".f64"; 0 for a predicate, -1 for what is no type.
int bytesOf(std::string_view type) {
  static constexpr std::pair<std::string_view, int> types[] = {
      {".pred", 0}, {".b8", 1},  {".u8", 1},  {".s8", 1},  {".b16", 2},  {".u16", 2},
      {".s16", 2},  {".f16", 2}, {".b32", 4}, {".u32", 4}, {".s32", 4},  {".f32", 4},
      {".b64", 8},  {".u64", 8}, {".s64", 8}, {".f64", 8}, {".b128", 16}};
  for (auto [name, bytes] : types)
    if (name == type)
      return bytes;
  return -1;
}

class Parser {
public:
  Parser(std::string_view text, std::string &complaint)
      : lexer(text), token(lexer.next()), ahead(lexer.next()), complaint(complaint) {}

  std::optional<Module> run();

private:
  using Scope = std::map<std::string, uint32_t, std::less<>>;

  bool fail(const std::string &what) {
    if (complaint.empty())
      complaint = "line " + std::to_string(token.line) + ": " + what;
    return false;
  }
  void advance() { token = std::exchange(ahead, lexer.next()); }
  bool accept(std::string_view what) {
    if (!token.is(what))
      return false;
    advance();
    return true;
  }
  bool expect(std::string_view what) {
    if (accept(what))
      return true;
    return fail("expected '" + std::string(what) + "', not '" + std::string(token.text) + "'");
  }
  bool word(std::string &into) {
    if (token.kind != Token::Kind::Word)
      return fail("expected a name, not '" + std::string(token.text) + "'");
    into = token.text;
    advance();
    return true;
  }
  bool integer(int64_t &into) {
    bool negative = accept("-");
    if (token.kind != Token::Kind::Integer)
      return fail("expected a number, not '" + std::string(token.text) + "'");
    into = static_cast<int64_t>(negative ? 0 - token.bits : token.bits);
    advance();
    return true;
  }

  bool directive();
  bool variable(Variable &into);
  bool content(Variable &into, int elementBytes);
  bool parameters(std::vector<Variable> &into);
  bool function(bool isEntry);
  bool launchBounds(Function &into);
  bool body();
  bool registers();
  void addVariable(Variable made);
  bool statement();
  bool operand(Operand &into);
  bool plainOperand(Operand &into);
  bool operandsUntil(std::string_view end, std::vector<Operand> &into);
  bool skipLine();
  const uint32_t *findRegister(std::string_view name) const;

  Lexer lexer;
  Token token, ahead;
  std::string &complaint;
  Module module;
  Function current;
  std::vector<Scope> scopes;
};

std::optional<Module> Parser::run() {
  while (token.kind != Token::Kind::End)
    if (!directive())
      return std::nullopt;
  if (module.target.empty() && fail("the text names no .target"))
    return std::nullopt;
  return complaint.empty() ? std::optional(std::move(module)) : std::nullopt;
}

/// Drops a directive that nothing here depends on.
bool Parser::skipLine() {
  for (int line = token.line; token.line == line && token.kind != Token::Kind::End;)
    advance();
  return true;
}

bool Parser::directive() {
  if (token.is(".version") || token.is(".address_size"))
    return skipLine();
  if (accept(".target")) {
    std::string feature;
    if (!word(module.target))
      return false;
    while (accept(","))
      if (!word(feature))
        return false;
    return true;
  }
  if (token.is(".file") || token.is(".loc"))
    return skipLine();
  while (accept(".visible") || accept(".weak") || accept(".extern") || accept(".common")) {
  }
  if (accept(".entry"))
    return function(true);
  if (accept(".func"))
    return function(false);
  if (token.is(".global") || token.is(".const") || token.is(".shared")) {
    Variable made;
    if (!variable(made) || !expect(";"))
      return false;
    module.variables.push_back(std::move(made));
    return true;
  }
  return fail("'" + std::string(token.text) + "' is no directive that is known here");
}

/// .space .align N .type name[count] = content
bool Parser::variable(Variable &into) {
  static constexpr std::pair<std::string_view, Variable::Space> spaces[] = {
      {".global", Variable::Space::Global},
      {".const", Variable::Space::Global},
      {".shared", Variable::Space::Shared},
      {".local", Variable::Space::Local},
      {".param", Variable::Space::Parameter}};
  bool known = false;
  for (auto [name, space] : spaces)
    if (!known && accept(name))
      into.space = space, known = true;
  if (!known)
    return fail("'" + std::string(token.text) + "' is no space of variables");
  int64_t number = 0;
  if (accept(".align")) {
    if (!integer(number))
      return false;
    into.alignment = static_cast<uint64_t>(number);
  }
  const int element = bytesOf(token.text);
  if (element <= 0)
    return fail("'" + std::string(token.text) + "' is no type of variables");
  advance();
  if (!word(into.name))
    return false;
  into.alignment = std::max(into.alignment, static_cast<uint64_t>(element));
  into.bytes = static_cast<uint64_t>(element);
  bool isOpen = false;
  while (accept("[")) {
    if (accept("]")) {
      isOpen = true;
      continue;
    }
    if (!integer(number) || !expect("]"))
      return false;
    into.bytes *= static_cast<uint64_t>(number);
  }
  if (isOpen)
    into.bytes = 0;
  return !accept("=") || content(into, element);
}

bool Parser::content(Variable &into, int elementBytes) {
  const bool isList = accept("{");
  do {
    const bool negative = accept("-");
    if (token.kind != Token::Kind::Integer && token.kind != Token::Kind::Float)
      return fail("variables can only begin as numbers");
    const uint64_t bits = negative ? 0 - token.bits : token.bits;
    advance();
    const size_t at = into.content.size();
    into.content.resize(at + static_cast<size_t>(elementBytes));
    std::memcpy(&into.content[at], &bits, static_cast<size_t>(elementBytes)); // little-endian
  } while (isList && accept(","));
  return !isList || expect("}");
}

bool Parser::parameters(std::vector<Variable> &into) {
  if (!accept("("))
    return true;
  while (!accept(")")) {
    Variable made;
    if (!variable(made))
      return false;
    into.push_back(std::move(made));
    if (!token.is(")") && !expect(","))
      return false;
  }
  return true;
}

bool Parser::launchBounds(Function &into) {
  int64_t number = 0;
  while (true) {
    const bool required = token.is(".reqntid");
    if (accept(".maxntid") || accept(".reqntid")) {
      int64_t threads = 1;
      do {
        if (!integer(number))
          return false;
        threads *= number;
      } while (accept(","));
      (required ? into.requiredThreads : into.maximumThreads) = static_cast<int>(threads);
    } else if (accept(".minnctapersm") || accept(".maxnreg")) {
      if (!integer(number))
        return false;
    } else if (accept(".pragma")) {
      advance();
      expect(";");
    } else if (!accept(".noreturn")) {
      return true;
    }
  }
}

bool Parser::function(bool isEntry) {
  current = Function{};
  current.isEntry = isEntry, current.line = token.line;
  if (!isEntry && token.is("(") && !parameters(current.results))
    return false;
  if (!word(current.name) || !parameters(current.parameters) || !launchBounds(current))
    return false;
  scopes.clear();
  if (!accept(";")) {
    if (!expect("{") || !body())
      return false;
    current.hasBody = true;
  }
  Function &known = module.functions[current.name];
  if (!known.hasBody)
    known = std::move(current);
  return true;
}

bool Parser::body() {
  scopes.emplace_back();
  while (!accept("}")) {
    if (token.kind == Token::Kind::End)
      return fail("the function does not end");
    if (accept("{")) {
      if (!body())
        return false;
    } else if (accept(".pragma")) {
      advance();
      if (!expect(";"))
        return false;
    } else if (token.is(".loc") || token.is(".file")) {
      skipLine();
    } else if (token.is(".reg")) {
      if (!registers())
        return false;
    } else if (token.is(".local") || token.is(".shared") || token.is(".param")) {
      Variable made;
      if (!variable(made) || !expect(";"))
        return false;
      addVariable(std::move(made));
    } else if (accept(";")) {
    } else if (!statement()) {
      return false;
    }
  }
  scopes.pop_back();
  return true;
}

/// Those of the same name, in scopes of their own, share their memory.
void Parser::addVariable(Variable made) {
  for (Variable &known : current.variables)
    if (known.name == made.name) {
      known.bytes = std::max(known.bytes, made.bytes);
      known.alignment = std::max(known.alignment, made.alignment);
      return;
    }
  current.variables.push_back(std::move(made));
}

/// .reg .type name<count>, name, ...;
bool Parser::registers() {
  advance();
  const int bytes = bytesOf(token.text);
  if (bytes < 0 || bytes > 8)
    return fail("'" + std::string(token.text) + "' is no type of registers");
  advance();
  const Width width = bytes == 0 ? Width::Bit : bytes == 8 ? Width::Double : Width::Word;
  auto add = [&](const std::string &name) {
    scopes.back()[name] = static_cast<uint32_t>(current.registers.size());
    current.registers.push_back(width);
    current.registerNames.push_back(name);
  };
  do {
    std::string name;
    int64_t count = 0;
    if (!word(name))
      return false;
    if (!accept("<")) {
      add(name);
      continue;
    }
    if (!integer(count) || !expect(">"))
      return false;
    for (int64_t i = 0; i < count; ++i)
      add(name + std::to_string(i));
  } while (accept(","));
  return expect(";");
}

const uint32_t *Parser::findRegister(std::string_view name) const {
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope)
    if (auto found = scope->find(name); found != scope->end())
      return &found->second;
  return nullptr;
}

bool Parser::statement() {
  Statement made;
  made.line = token.line;
  if (token.kind == Token::Kind::Word && ahead.is(":")) {
    made.label = token.text;
    advance(), advance();
    current.statements.push_back(std::move(made));
    return true;
  }
  if (accept("@")) {
    made.guardNegated = accept("!");
    const uint32_t *found = findRegister(token.text);
    if (!found || current.registers[*found] != Width::Bit)
      return fail("'" + std::string(token.text) + "' is no predicate");
    made.guard = *found;
    advance();
  }
  if (!word(made.opcode) || !operandsUntil(";", made.operands))
    return false;
  current.statements.push_back(std::move(made));
  return true;
}

bool Parser::operandsUntil(std::string_view end, std::vector<Operand> &into) {
  if (accept(end))
    return true;
  do {
    into.emplace_back();
    if (!operand(into.back()))
      return false;
  } while (accept(","));
  return expect(end);
}

bool Parser::operand(Operand &into) {
  if (!plainOperand(into))
    return false;
  if (!accept("|"))
    return true;
  Operand first = std::exchange(into, {});
  into.kind = Operand::Kind::Pair;
  into.parts = {std::move(first), {}};
  return plainOperand(into.parts[1]);
}

bool Parser::plainOperand(Operand &into) {
  if (accept("{")) {
    into.kind = Operand::Kind::Vector;
    return operandsUntil("}", into.parts);
  }
  if (accept("(")) {
    into.kind = Operand::Kind::List;
    return operandsUntil(")", into.parts);
  }
  if (accept("[")) {
    into.kind = Operand::Kind::Address;
    into.parts.emplace_back();
    if (!plainOperand(into.parts[0]))
      return false;
    if (into.parts[0].kind == Operand::Kind::Integer) {
      into.offset = static_cast<int64_t>(into.parts[0].bits);
      into.parts.clear();
    }
    const bool negative = token.is("-");
    int64_t number = 0;
    if (accept("+") || negative) {
      if (!integer(number))
        return false;
      into.offset += number;
    }
    return expect("]");
  }
  if (accept("!")) {
    into.negated = true;
    const bool made = plainOperand(into);
    return made &&
           (into.kind == Operand::Kind::Register || fail("'!' before what is no predicate"));
  }
  if (token.is("-") || token.kind == Token::Kind::Integer) {
    int64_t number = 0;
    if (!integer(number))
      return false;
    into.kind = Operand::Kind::Integer, into.bits = static_cast<uint64_t>(number);
    return true;
  }
  if (token.kind == Token::Kind::Float) {
    into.kind = Operand::Kind::Float, into.bits = token.bits;
    advance();
    return true;
  }
  if (token.kind != Token::Kind::Word)
    return fail("'" + std::string(token.text) + "' is no operand");
  into.name = token.text;
  if (const uint32_t *found = findRegister(token.text))
    into.kind = Operand::Kind::Register, into.number = *found;
  else if (token.text == "_")
    into.kind = Operand::Kind::Nothing;
  else
    into.kind = token.text[0] == '%' ? Operand::Kind::Special : Operand::Kind::Name;
  advance();
  return true;
}

} // namespace

std::optional<Module> parse(std::string_view text, std::string &complaint) {
  complaint.clear();
  return Parser(text, complaint).run();
}

} // namespace hybrid::ptx
