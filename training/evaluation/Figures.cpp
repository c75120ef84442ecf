//===- Figures.cpp - what the scores of examples add up to ------------------------===//
#include "training/evaluation/Figures.h"
#include <algorithm>
#include <cmath>

namespace hybrid::rt {

std::vector<Figure> figuresOf(const std::vector<std::vector<Share>> &examples) {
  std::vector<Figure> figures;
  std::vector<std::vector<const Share *>> shares;
  for (const std::vector<Share> &example : examples)
    for (const Share &share : example) {
      auto named = [&](const Figure &figure) { return figure.name == share.figure; };
      auto found = std::find_if(figures.begin(), figures.end(), named);
      if (found == figures.end()) {
        found = figures.insert(found, Figure{share.figure, 0, std::nullopt, 0});
        shares.emplace_back();
      }
      shares[static_cast<size_t>(found - figures.begin())].push_back(&share);
    }
  for (size_t i = 0; i < figures.size(); ++i) {
    Figure &figure = figures[i];
    double parts = 0, wholes = 0, squares = 0;
    for (const Share *share : shares[i]) {
      parts += share->part;
      wholes += share->whole;
    }
    figure.examples = shares[i].size();
    figure.value = wholes > 0 ? parts / wholes : 0;
    for (const Share *share : shares[i]) {
      const double rest = share->part - figure.value * share->whole;
      squares += rest * rest;
    }
    const auto count = static_cast<double>(figure.examples);
    if (figure.examples > 1 && wholes > 0)
      figure.standardError = std::sqrt(count / (count - 1) * squares) / wholes;
  }
  return figures;
}

void addExponential(std::vector<Figure> &figures, const std::string &of, const std::string &name) {
  auto named = [&](const Figure &figure) { return figure.name == of; };
  auto found = std::find_if(figures.begin(), figures.end(), named);
  if (found == figures.end())
    return;
  Figure power = *found;
  power.name = name;
  power.value = std::exp(found->value);
  if (power.standardError)
    *power.standardError *= power.value;
  figures.insert(found + 1, power);
}

} // namespace hybrid::rt
