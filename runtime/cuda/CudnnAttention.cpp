//===- CudnnAttention.cpp - attention by cuDNN ------------------------------===//
//
// The library knows attention by the operations it is made of, in an order and with types that its
// engines recognise (cuDNN developer guide, "Fused Flash Attention fprop" and "bprop"). It has one
// operation for all of it too, but that takes causal masks from 9.21 on only.
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/CudnnAttention.h"
#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <tuple>

namespace hybrid::rt::cuda {

constexpr size_t lastWithoutRest = 91500;

enum Name : int64_t {
  nameQ = 1,
  nameK,
  nameV,
  nameO,
  nameLse,
  nameDO,
  nameDQ,
  nameDK,
  nameDV,
  nameRoom,
  nameScale,
  nameMasked,
  nameOne
};

AttentionPlan::AttentionPlan(const CudnnApi &api, const AttentionShape &shape)
    : api(api), shape(shape), masked(-std::numeric_limits<float>::infinity()), graph(api) {}

//===-- the graphs -------------------------------------------------------------===//

static DnnSizes stridesOf(const AttentionStrides &s) { return {s.batch, s.head, s.row, 1}; }
/// With rows and channels exchanged.
static DnnSizes transposed(const DnnSizes &x) { return {x[0], x[1], x[3], x[2]}; }

/// What every query gives to every key: q k^T scale, without `lse` if it is there, and where a key
/// is later than the query -infinity.
DnnTensor AttentionPlan::scores(const DnnTensor &q, const DnnTensor &k, const DnnTensor &scale,
                                const DnnTensor *lse) {
  DnnTensor products =
      graph.intermediate(dnn::f32, {shape.batch, shape.heads, shape.length, shape.keyLength});
  graph.matmul(q, k, products);
  DnnTensor scores = graph.pointwise(dnn::multiply, products, &scale);
  if (lse)
    scores = graph.pointwise(dnn::subtract, scores, lse);
  if (!shape.causal)
    return scores;
  DnnTensor row = graph.index(scores, 2), column = graph.index(scores, 3);
  DnnTensor seen = graph.greaterEqual(row, column);
  return graph.select(scores, graph.value(nameMasked, dnn::f32), seen);
}

void AttentionPlan::buildForward() {
  const auto &[b, h, g, n, m, d] = std::tie(shape.batch, shape.heads, shape.kvHeads, shape.length,
                                            shape.keyLength, shape.headSize);
  const DnnSizes statistics{b, h, n, 1};
  DnnTensor q = graph.memory(nameQ, dnn::bf16, {b, h, n, d}, stridesOf(shape.q)),
            k = graph.memory(nameK, dnn::bf16, {b, g, d, m}, transposed(stridesOf(shape.k))),
            v = graph.memory(nameV, dnn::bf16, {b, g, m, d}, stridesOf(shape.v)),
            o = graph.memory(nameO, dnn::bf16, {b, h, n, d}, stridesOf(shape.o)),
            lse = graph.memory(nameLse, dnn::f32, statistics, denseStrides(statistics));
  DnnTensor s = scores(q, k, graph.value(nameScale, dnn::f32), nullptr);
  DnnTensor largest = graph.intermediate(dnn::f32, statistics);
  graph.reduce(dnn::maximum, s, largest);
  DnnTensor p = graph.pointwise(dnn::exponential, graph.pointwise(dnn::subtract, s, &largest));
  DnnTensor total = graph.intermediate(dnn::f32, statistics);
  graph.reduce(dnn::sum, p, total);
  DnnTensor logarithm = graph.pointwise(dnn::logarithm, total);
  graph.pointwise(dnn::add, largest, &logarithm, lse);
  DnnTensor weights = graph.intermediate(dnn::bf16, {b, h, n, m});
  graph.pointwise(dnn::divide, p, &total, weights);
  graph.matmul(weights, v, o);
}

/// dq goes to memory as it is summed, which makes the engines keep all dS and sum in one order;
/// a sum in f32 between them would be one of atomic additions.
void AttentionPlan::buildBackward() {
  const auto &[b, h, g, n, m, d] = std::tie(shape.batch, shape.heads, shape.kvHeads, shape.length,
                                            shape.keyLength, shape.headSize);
  const DnnSizes statistics{b, h, n, 1}, ofQueries{b, h, n, d}, ofKeys{b, g, m, d};
  DnnTensor q = graph.memory(nameQ, dnn::bf16, ofQueries, stridesOf(shape.q)),
            k = graph.memory(nameK, dnn::bf16, {b, g, d, m}, transposed(stridesOf(shape.k))),
            v = graph.memory(nameV, dnn::bf16, {b, g, d, m}, transposed(stridesOf(shape.v))),
            o = graph.memory(nameO, dnn::bf16, ofQueries, stridesOf(shape.o)),
            dO = graph.memory(nameDO, dnn::bf16, ofQueries, stridesOf(shape.dO)),
            lse = graph.memory(nameLse, dnn::f32, statistics, denseStrides(statistics)),
            dq = graph.memory(nameDQ, dnn::bf16, ofQueries, stridesOf(shape.dq)),
            dk = graph.memory(nameDK, dnn::bf16, ofKeys, stridesOf(shape.dk)),
            dv = graph.memory(nameDV, dnn::bf16, ofKeys, stridesOf(shape.dv)),
            room = graph.memory(nameRoom, dnn::f32, statistics, denseStrides(statistics)),
            scale = graph.value(nameScale, dnn::f32);

  DnnTensor products = graph.pointwise(dnn::multiply, dO, &o);
  DnnTensor sums = graph.intermediate(dnn::f32, statistics);
  graph.reduce(dnn::sum, products, sums);
  DnnTensor one = graph.value(nameOne, dnn::f32);
  graph.pointwise(dnn::multiply, sums, &one, room);

  DnnTensor p = graph.pointwise(dnn::exponential, scores(q, k, scale, &lse));
  // x^T y, of heads that share a key summed.
  auto gradientOfKeys = [&](const DnnTensor &x, const DnnTensor &y, const DnnTensor &gradient) {
    const DnnSizes all{b, h, n, m};
    DnnTensor turned =
        graph.intermediate(dnn::bf16, transposed(all), transposed(denseStrides(all)));
    graph.reshape(x, turned);
    if (h == g)
      return graph.matmul(turned, y, gradient);
    DnnTensor ofHeads = graph.intermediate(dnn::bf16, {b, h, m, d});
    graph.matmul(turned, y, ofHeads);
    graph.reduce(dnn::sum, ofHeads, gradient);
  };
  gradientOfKeys(p, dO, dv);

  DnnTensor dp = graph.intermediate(dnn::f32, {b, h, n, m});
  graph.matmul(dO, v, dp);
  DnnTensor centred = graph.pointwise(dnn::subtract, dp, &room);
  DnnTensor weighted = graph.pointwise(dnn::multiply, centred, &p);
  DnnTensor ds = graph.pointwise(dnn::multiply, weighted, &scale);
  gradientOfKeys(ds, q, dk);

  DnnTensor keys = graph.intermediate(dnn::bf16, ofKeys, stridesOf(shape.k));
  graph.reshape(k, keys);
  graph.matmul(ds, keys, dq);
}

//===-- the engine -------------------------------------------------------------===//

/// All descriptors that an attribute has.
static Result<std::vector<DnnObject>> read(const CudnnApi &api, const DnnObject &from,
                                           dnn::Attribute attribute, dnn::Kind kind) {
  int64_t count = 0;
  if (DnnStatus status =
          api.descriptorGet(from.get(), attribute, dnn::typeDescriptor, 0, &count, nullptr))
    return Error{describe(api, "cudnnBackendGetAttribute", status)};
  std::vector<DnnObject> objects;
  std::vector<DnnDescriptor> descriptors;
  for (int64_t i = 0; i < count; ++i) {
    objects.emplace_back(api, kind);
    descriptors.push_back(objects.back().get());
  }
  if (DnnStatus status = api.descriptorGet(from.get(), attribute, dnn::typeDescriptor, count,
                                           &count, descriptors.data()))
    return Error{describe(api, "cudnnBackendGetAttribute", status)};
  while (static_cast<int64_t>(objects.size()) > count)
    objects.pop_back();
  return objects;
}

/// Whether an engine's sums may differ from run to run.
static Result<bool> isNondeterministic(const CudnnApi &api, const DnnObject &config) {
  auto engine = read(api, config, dnn::configEngine, dnn::kindEngine);
  if (!engine)
    return engine.error();
  int notes[dnn::notes];
  int64_t count = 0;
  if (DnnStatus status = api.descriptorGet(engine->front().get(), dnn::engineNotes, dnn::typeNote,
                                           dnn::notes, &count, notes))
    return Error{describe(api, "cudnnBackendGetAttribute", status)};
  return std::find(notes, notes + count, dnn::noteNondeterministic) != notes + count;
}

Result<void> AttentionPlan::choose(const DnnTarget &target, DnnDescriptor built) {
  DnnObject heuristics(api, dnn::kindHeuristics);
  heuristics.set(dnn::heuristicsGraph, dnn::typeDescriptor, built)
      .set(dnn::heuristicsMode, dnn::typeHeuristicsMode, dnn::heuristicsA);
  if (target.properties)
    heuristics.set(dnn::heuristicsDevice, dnn::typeDescriptor, target.properties);
  if (auto done = heuristics.finish(); !done)
    return done;
  auto configs = read(api, heuristics, dnn::heuristicsResults, dnn::kindEngineConfig);
  if (!configs)
    return configs.error();
  std::string refusals;
  for (DnnObject &offered : *configs) {
    auto varies = isNondeterministic(api, offered);
    if (!varies)
      return varies.error();
    if (*varies) {
      refusals += "; an engine whose sums vary from run to run";
      continue;
    }
    DnnObject tried(api, dnn::kindPlan);
    tried.set(dnn::planConfig, dnn::typeDescriptor, offered.get());
    if (target.properties)
      tried.set(dnn::planDevice, dnn::typeDescriptor, target.properties);
    else
      tried.set(dnn::planHandle, dnn::typeHandle, target.handle);
    if (auto done = tried.finish(); !done) {
      refusals += "; " + done.error().message;
      continue;
    }
    int64_t count = 0, needed = 0;
    if (DnnStatus status =
            api.descriptorGet(tried.get(), dnn::planWorkspace, dnn::typeInt64, 1, &count, &needed))
      return Error{describe(api, "cudnnBackendGetAttribute", status)};
    bytes = static_cast<uint64_t>(needed);
    config.emplace(std::move(offered));
    plan.emplace(std::move(tried));
    return {};
  }
  return Error{"it offers no engine" + refusals};
}

Result<std::unique_ptr<AttentionPlan>>
AttentionPlan::create(const CudnnApi &api, const DnnTarget &target, const AttentionShape &shape) {
  // cudnn-frontend, scaled_dot_product_flash_attention.h: it masks the rest by hand up to there.
  if (shape.backward && shape.keyLength % 128 != 0 && api.version() <= lastWithoutRest)
    return Error{
        fmt::format("cuDNN {} computes gradients over {} keys, no multiple of 128, wrongly: "
                    "9.15.1 or later is needed, or compile the model with --attention=own",
                    versionText(api), shape.keyLength)};
  std::unique_ptr<AttentionPlan> created(new AttentionPlan(api, shape));
  shape.backward ? created->buildBackward() : created->buildForward();
  auto built = created->graph.finish(target.handle);
  Result<void> done = built ? created->choose(target, *built) : Result<void>(built.error());
  if (!done)
    return Error{fmt::format("cuDNN {} does not compute it: {}; compile the model with "
                             "--attention=own",
                             versionText(api), done.error().message)};
  return created;
}

Result<DnnObject> AttentionPlan::bind(const AttentionOperands &operands, uint64_t workspace) const {
  std::vector<int64_t> names;
  std::vector<const void *> pointers;
  auto give = [&](int64_t name, const void *pointer) {
    names.push_back(name), pointers.push_back(pointer);
  };
  auto memory = [&](int64_t name, uint64_t address) {
    give(name, reinterpret_cast<const void *>(address));
  };
  memory(nameQ, operands.q), memory(nameK, operands.k), memory(nameV, operands.v);
  memory(nameO, operands.o), memory(nameLse, operands.lse);
  give(nameScale, &shape.scale);
  if (shape.causal)
    give(nameMasked, &masked);
  if (shape.backward) {
    memory(nameDO, operands.dO), memory(nameDQ, operands.dq), memory(nameDK, operands.dk);
    memory(nameDV, operands.dv), memory(nameRoom, operands.room);
    give(nameOne, &one);
  }
  DnnObject pack(api, dnn::kindVariantPack);
  const void *space = reinterpret_cast<const void *>(workspace);
  pack.set<const void *>(dnn::packPointers, dnn::typePointer, std::span(pointers))
      .set<int64_t>(dnn::packNames, dnn::typeInt64, std::span(names))
      .set(dnn::packWorkspace, dnn::typePointer, space);
  if (auto done = pack.finish(); !done)
    return done.error();
  return pack;
}

Result<void> AttentionPlan::run(DnnHandle handle, const DnnObject &bound) const {
  if (DnnStatus status = api.execute(handle, plan->get(), bound.get()))
    return Error{describe(api, "cudnnBackendExecute", status)};
  return {};
}

} // namespace hybrid::rt::cuda
