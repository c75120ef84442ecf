//===- OpenModel.cpp - a model, ready to run ---------------------------------===//
#include "training/compile/OpenModel.h"

namespace hybrid::rt {

Result<std::unique_ptr<Session>> openModel(const ModelSpec &model, const SessionOptions &options) {
  auto executable = model.load();
  if (!executable)
    return executable.error();
  return Session::create(*executable, options);
}

Result<std::unique_ptr<Session>> openOneReplica(const ModelSpec &model,
                                                const SessionOptions &options) {
  auto session = openModel(model, options);
  if (session)
    if (auto done = (*session)->keepFirstActive(); !done)
      return done.error();
  return session;
}

} // namespace hybrid::rt
