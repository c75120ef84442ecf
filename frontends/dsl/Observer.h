//===- Observer.h - who watches a model being elaborated -----------------------===//
#pragma once
#include "frontends/dsl/Values.h"

namespace hybrid::dsl {

/// Is told the values of names, where they are given one and where they are used. A model is run
/// once, with its loops unrolled: a place in a loop or a layer has as many values as it is run.
class Observer {
public:
  virtual ~Observer() = default;
  virtual void saw(Place place, const Value &value) = 0;
};

} // namespace hybrid::dsl
