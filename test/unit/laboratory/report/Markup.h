//===- Markup.h - whether text is HTML as it was meant --------------------------===//
#pragma once
#include <string>
#include <string_view>

namespace hybrid::rt::lab::test {

/// What is wrong with the elements of a page: one that is not closed, or closed by another's end,
/// an attribute that is not quoted, an id that is there twice. Empty if nothing.
std::string markupFault(std::string_view page);

} // namespace hybrid::rt::lab::test
