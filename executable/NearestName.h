//===- NearestName.h - what somebody may have meant --------------------------===//
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace hybrid {

/// The candidate nearest to `word` if it is plausibly what was meant, otherwise empty: one slip in
/// a short word, one in every three or four letters of a longer one.
std::string nearestName(std::string_view word, std::span<const std::string> candidates);

} // namespace hybrid
