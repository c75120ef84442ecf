//===- FitPage.h - fitted scaling laws as a page ----------------------------------------===//
#pragma once
#include "laboratory/scale/Fit.h"
#include <nlohmann/json.hpp>
#include <string>

namespace hybrid::rt::lab::scale {

/// The fit's JSON with what the page draws: points, parabolas and frontiers with their bands.
nlohmann::ordered_json fitPageJson(const Fit &fit);

/// Writes the page that draws it.
Result<void> writeFitPage(const Fit &fit, const std::string &path);

} // namespace hybrid::rt::lab::scale
