#include "engine/influence.h"

#include <algorithm>
#include <cmath>

#include "engine/device_copy.h"
#include "engine/error.h"
#include "engine/ops.h"
#include "engine/pass_runner.h"
#include "kernels/philox.h"

namespace engine {
namespace {

constexpr std::int64_t kMostDirections = 64;
constexpr std::int64_t kRowsAtOnce = 4096;  // bounds the memory of one recorded pass

void require(bool good, const char* field, const std::string& what) {
  if (!good) throw ConfigError(field, what);
}

void check(const InfluenceRequest& request, const ModelConfig& config) {
  const auto positions = static_cast<std::int64_t>(request.tokens.size());
  require(positions > 0, "prompt", "is empty; type at least one token");
  for (const std::int32_t token : request.tokens)
    require(token >= 0 && token < config.vocab, "prompt", "holds a token outside the vocabulary");
  require(request.cell.position >= 0 && request.cell.position < positions, "t",
          "must be 1 to " + std::to_string(positions) + " here");
  require(request.cell.depth >= 0 && request.cell.depth <= config.layers, "layer",
          "must be 0 to " + std::to_string(config.layers) + " in this model");
  require(request.plain >= 1 && request.plain <= positions, "plain",
          "must be 1 to " + std::to_string(positions) + " here");
  require(request.directions >= 0, "directions", "must not be negative");
}

std::vector<std::int32_t> flags_from(std::int64_t first_fused, std::int64_t count) {
  std::vector<std::int32_t> flags(static_cast<std::size_t>(count), 0);
  for (std::int64_t n = first_fused; n < count; ++n) flags[static_cast<std::size_t>(n)] = 1;
  return flags;
}

/// One parallel pass of the mode, as its backward sees it.
struct PassPlan {
  std::int64_t first_fused = 0;    ///< positions from here on are fused
  bool plain_as_in_pass1 = true;   ///< what the others get
  std::vector<float> read_states;  ///< [T, D]: row p is the exact state that position p + 1 reads; empty: none is read
};

PassPlan standard_plan(const InfluenceRequest& request) {
  return {static_cast<std::int64_t>(request.tokens.size()), true, {}};
}

std::vector<std::int32_t> places(std::size_t count) {
  std::vector<std::int32_t> values(count);
  for (std::size_t n = 0; n < count; ++n) values[n] = static_cast<std::int32_t>(n);
  return values;
}

/// The sequential recurrence by parallel passes, each of which makes one more position exact.
PassPlan soft_plan(kernels::Backend& backend, const Parameters& parameters, const InfluenceRequest& request) {
  const auto positions = static_cast<std::int64_t>(request.tokens.size());
  PassRunner runner(backend, parameters);
  runner.begin(request.tokens, places(request.tokens.size()));
  runner.plain_pass();
  const auto flags = flags_from(request.plain, positions);
  for (std::int64_t pass = request.plain; pass < positions; ++pass) runner.feedback_pass(flags, {}, true);
  return {request.plain, true, download_matrix(backend, runner.carried())};
}

/// As soft_plan, but the prompt reads the states of its plain pass, which stay what they are.
PassPlan fused_plan(kernels::Backend& backend, const Parameters& parameters, const InfluenceRequest& request) {
  const auto positions = static_cast<std::int64_t>(request.tokens.size());
  const std::int64_t dim = parameters.config().dim;
  PassRunner runner(backend, parameters);
  runner.begin(request.tokens, places(request.tokens.size()));
  runner.plain_pass();
  std::vector<float> states = download_matrix(backend, runner.carried());
  const auto flags = flags_from(1, positions);
  Arena arena(backend);
  for (std::int64_t pass = request.plain; pass < positions; ++pass) {
    arena.reset();
    runner.feedback_pass(flags, {}, false, upload_matrix(backend, arena, states, dim));
    const std::vector<float> next = download_matrix(backend, runner.carried());
    const auto kept = static_cast<std::ptrdiff_t>((request.plain - 1) * dim);
    std::copy(next.begin() + kept, next.end(), states.begin() + kept);
  }
  return {1, false, states};
}

PassPlan make_plan(kernels::Backend& backend, const Parameters& parameters, const InfluenceRequest& request) {
  if (request.mode == DecodeMode::soft) return soft_plan(backend, parameters, request);
  if (request.mode == DecodeMode::fused) return fused_plan(backend, parameters, request);
  return standard_plan(request);
}

/// What is differentiated: rows of a residual, or of the carried state.
struct Seed {
  std::int64_t depth = -1;    ///< -1: the carried state
  std::vector<float> values;  ///< [copies * length, D]
};

/// Vector-Jacobian products of one pass for several vectors at once: as many copies of the row, one vector each.
class CopiedPass {
 public:
  CopiedPass(kernels::Backend& backend, const Parameters& parameters, const std::vector<std::int32_t>& tokens,
             std::int64_t copies)
      : backend_(backend),
        dim_(parameters.config().dim),
        scale_(parameters.config().branch_scale()),
        tokens_(tokens),
        copies_(copies),
        arena_(backend),
        tape_(backend, arena_),
        model_(tape_, parameters) {
    tape_.seal();
    const auto size = static_cast<std::size_t>(copies * positions() * dim_);
    totals_.assign(static_cast<std::size_t>(parameters.config().layers + 1), std::vector<float>(size, 0.0F));
  }

  /// Differentiates a pass over the first `length` positions and adds what arrives at each residual to the totals.
  /// Returns what arrives at the states that the pass reads, [copies * length, D], or nothing.
  std::vector<float> run(const PassPlan& plan, std::int64_t length, const Seed& seed) {
    tape_.clear();
    arena_.reset();
    const Variable states = plan.read_states.empty() ? Variable{} : leaf(repeated(plan.read_states, length));
    std::vector<Variable> residuals;
    std::vector<Variable> arrivals = {input(plan, length, states)};  // then the last branch of each block
    StackHooks hooks;
    hooks.on_residual = [&](std::int64_t, Variable variable) { residuals.push_back(variable); };
    hooks.on_branch = [&](std::int64_t, Variable variable) { arrivals.push_back(variable); };
    const StackOutput top = model_.stack(arrivals.front(), upload(repeated_places(length)), hooks);
    const Variable seeded = seed.depth < 0 ? top.carried : residuals[static_cast<std::size_t>(seed.depth)];
    backend_.scaled(upload_matrix(backend_, arena_, seed.values, dim_), 1.0F, tape_.gradient_target(seeded).view,
                    kernels::Write::assign);
    tape_.backward();
    for (std::size_t depth = 0; depth < arrivals.size(); ++depth) add_to_total(arrivals[depth], depth, length);
    if (!states.present() || !tape_.has_gradient(states)) return {};
    return download_matrix(backend_, tape_.gradient(states));
  }

  /// Squared length of what arrived at a cell, for one copy.
  [[nodiscard]] double squared(std::int64_t copy, Cell cell) const {
    const auto begin = static_cast<std::size_t>((copy * positions() + cell.position) * dim_);
    const std::vector<float>& total = totals_[static_cast<std::size_t>(cell.depth)];
    double sum = 0;
    for (std::size_t i = begin; i < begin + static_cast<std::size_t>(dim_); ++i)
      sum += double{total[i]} * double{total[i]};
    return sum;
  }

 private:
  [[nodiscard]] std::int64_t positions() const { return static_cast<std::int64_t>(tokens_.size()); }
  kernels::IndexView upload(const std::vector<std::int32_t>& values) {
    return upload_indices(backend_, arena_, values);
  }

  Variable leaf(const std::vector<float>& values) {
    const kernels::View view = upload_matrix(backend_, arena_, values, dim_);
    return tape_.leaf(view, arena_.matrix(view.rows, view.cols));
  }

  Variable input(const PassPlan& plan, std::int64_t length, Variable states) {
    std::vector<std::int32_t> ids;
    std::vector<std::int32_t> flags;
    const auto row_flags = flags_from(std::min(plan.first_fused, length), length);
    for (std::int64_t copy = 0; copy < copies_; ++copy) {
      ids.insert(ids.end(), tokens_.begin(), tokens_.begin() + length);
      flags.insert(flags.end(), row_flags.begin(), row_flags.end());
    }
    const Variable embeddings = ops::detach(tape_, model_.embed(upload(ids)));
    const Variable plain = model_.plain_input(embeddings, !plan.plain_as_in_pass1);
    if (!states.present()) {
      const kernels::View value = tape_.value(plain);
      return tape_.leaf(value, arena_.matrix(value.rows, value.cols));
    }
    return model_.fused_input(states, model_.token_side(embeddings), plain, upload(flags), 1);
  }

  [[nodiscard]] std::vector<float> repeated(const std::vector<float>& rows, std::int64_t length) const {
    std::vector<float> values;
    for (std::int64_t copy = 0; copy < copies_; ++copy)
      values.insert(values.end(), rows.begin(), rows.begin() + length * dim_);
    return values;
  }

  [[nodiscard]] std::vector<std::int32_t> repeated_places(std::int64_t length) const {
    std::vector<std::int32_t> values;
    const auto row = places(static_cast<std::size_t>(length));
    for (std::int64_t copy = 0; copy < copies_; ++copy) values.insert(values.end(), row.begin(), row.end());
    return values;
  }

  void add_to_total(Variable variable, std::size_t depth, std::int64_t length) {
    if (!tape_.has_gradient(variable)) return;
    const float factor = depth == 0 ? 1.0F : 1.0F / scale_;  // residual(depth) = ... + scale * branch
    std::vector<float>& total = totals_[depth];
    const std::vector<float> arrived = download_matrix(backend_, tape_.gradient(variable));
    for (std::int64_t copy = 0; copy < copies_; ++copy) {
      const auto from = static_cast<std::size_t>(copy * length * dim_);
      const auto to = static_cast<std::size_t>(copy * positions() * dim_);
      for (std::size_t i = 0; i < static_cast<std::size_t>(length * dim_); ++i)
        total[to + i] += factor * arrived[from + i];
    }
  }

  kernels::Backend& backend_;
  std::int64_t dim_;
  float scale_;
  const std::vector<std::int32_t>& tokens_;
  std::int64_t copies_;
  Arena arena_;
  Tape tape_;
  Transformer model_;
  std::vector<std::vector<float>> totals_;  // [L+1][copies * T * D]
};

/// Vectors at the chosen cell: unit vectors when all are taken, otherwise random signs.
class Directions {
 public:
  Directions(const InfluenceRequest& request, std::int64_t dim)
      : dim_(dim), exact_(request.directions == 0 ? dim <= kMostDirections : request.directions >= dim) {
    if (exact_) {
      count_ = dim;
      return;
    }
    count_ = request.directions == 0 ? kMostDirections : request.directions;
    kernels::PhiloxReader random({request.seed, kernels::Purpose::analysis, 0, 0});
    for (std::int64_t i = 0; i < count_ * dim; ++i) signs_.push_back(random.next_unit() < 0.5 ? -1.0F : 1.0F);
  }

  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] bool exact() const { return exact_; }
  [[nodiscard]] float value(std::int64_t direction, std::int64_t i) const {
    if (exact_) return direction == i ? 1.0F : 0.0F;
    return signs_[static_cast<std::size_t>(direction * dim_ + i)];
  }

 private:
  std::int64_t dim_;
  bool exact_;
  std::int64_t count_ = 0;
  std::vector<float> signs_;
};

/// Propagates some directions back through the recurrence: a pass hands what arrives at the states it read to the same
/// pass over one position fewer, until nothing is left.
class Backpropagation {
 public:
  Backpropagation(kernels::Backend& backend, const Parameters& parameters, const InfluenceRequest& request,
                  const PassPlan& plan, std::int64_t copies)
      : request_(request),
        plan_(plan),
        dim_(parameters.config().dim),
        copies_(copies),
        pass_(backend, parameters, request.tokens, copies) {}

  template <class Tick>
  void run(const Directions& directions, std::int64_t first, const Tick& tick) {
    std::int64_t length = static_cast<std::int64_t>(request_.tokens.size());
    std::vector<float> arrived = pass_.run(plan_, length, seed(directions, first));
    tick();
    while (!arrived.empty()) {
      const std::int64_t next = std::min(length - 1, request_.cell.position);
      std::vector<float> carried = shortened(arrived, length, next);
      keep_prefill_share(carried, next);
      length = next;
      if (length < request_.plain) break;  // only positions from the last prompt one on are read by the recurrence
      arrived = pass_.run(plan_, length, {-1, carried});
      tick();
    }
    if (prefill_.empty()) return;
    pass_.run(standard_plan(request_), request_.plain, {-1, prefill_});
    tick();
  }

  [[nodiscard]] const CopiedPass& pass() const { return pass_; }

 private:
  [[nodiscard]] Seed seed(const Directions& directions, std::int64_t first) const {
    const auto positions = static_cast<std::int64_t>(request_.tokens.size());
    Seed seed{request_.cell.depth, std::vector<float>(static_cast<std::size_t>(copies_ * positions * dim_), 0.0F)};
    for (std::int64_t copy = 0; copy < copies_; ++copy) {
      for (std::int64_t i = 0; i < dim_; ++i) {
        const std::int64_t row = copy * positions + request_.cell.position;
        seed.values[static_cast<std::size_t>(row * dim_ + i)] = directions.value(first + copy, i);
      }
    }
    return seed;
  }

  [[nodiscard]] std::vector<float> shortened(const std::vector<float>& rows, std::int64_t from, std::int64_t to) const {
    std::vector<float> values;
    for (std::int64_t copy = 0; copy < copies_; ++copy) {
      const auto begin = rows.begin() + copy * from * dim_;
      values.insert(values.end(), begin, begin + to * dim_);
    }
    return values;
  }

  /// In Fused the prompt reads states of its plain pass, which is another pass: their share is moved out and summed.
  void keep_prefill_share(std::vector<float>& carried, std::int64_t length) {
    if (request_.mode != DecodeMode::fused || request_.plain < 2) return;
    prefill_.resize(static_cast<std::size_t>(copies_ * request_.plain * dim_), 0.0F);
    const std::int64_t rows = std::min(length, request_.plain - 1);
    for (std::int64_t copy = 0; copy < copies_; ++copy) {
      for (std::int64_t i = 0; i < rows * dim_; ++i) {
        float& share = carried[static_cast<std::size_t>(copy * length * dim_ + i)];
        prefill_[static_cast<std::size_t>(copy * request_.plain * dim_ + i)] += share;
        share = 0;
      }
    }
  }

  const InfluenceRequest& request_;
  const PassPlan& plan_;
  std::int64_t dim_;
  std::int64_t copies_;
  CopiedPass pass_;
  std::vector<float> prefill_;  // [copies * plain, D]: gradient of the plain pass's states
};

/// Squared norms of one cell over directions, and the root of their sum (all directions) or mean (random ones).
struct CellSum {
  double sum = 0;
  double squares = 0;

  void add(double squared) {
    sum += squared;
    squares += squared * squared;
  }
  [[nodiscard]] double norm(const Directions& d) const {
    return std::sqrt(d.exact() ? sum : sum / static_cast<double>(d.count()));
  }
  [[nodiscard]] double error(const Directions& d) const {
    const auto count = static_cast<double>(d.count());
    if (d.exact() || count < 2 || sum == 0) return 0;
    const double mean = sum / count;
    const double variance = std::max(0.0, squares / count - mean * mean) / (count - 1);
    return std::sqrt(variance) / (2 * std::sqrt(mean));  // of a root, from the error of what stands under it
  }
};

/// Backward passes of one share of the directions, at most.
std::int64_t pass_count(const InfluenceRequest& request) {
  if (request.mode == DecodeMode::standard) return 1;
  const std::int64_t recurrent = std::max<std::int64_t>(0, request.cell.position - request.plain + 1);
  return 1 + recurrent + (request.mode == DecodeMode::fused && request.plain > 1 ? 1 : 0);
}

}  // namespace

InfluenceMap measure_influence(kernels::Backend& backend, const Parameters& parameters, const InfluenceRequest& request,
                               const std::function<void(std::int64_t, std::int64_t)>& on_progress,
                               const std::stop_token& stop) {
  const ModelConfig& config = parameters.config();
  check(request, config);
  const auto positions = static_cast<std::int64_t>(request.tokens.size());
  const Directions directions(request, config.dim);
  const PassPlan plan = make_plan(backend, parameters, request);
  const std::int64_t at_once = std::clamp<std::int64_t>(kRowsAtOnce / positions, 1, directions.count());
  const std::int64_t total = (directions.count() + at_once - 1) / at_once * pass_count(request);
  std::int64_t done = 0;
  const auto tick = [&] {
    if (stop.stop_requested()) throw Cancelled();
    if (on_progress) on_progress(++done, total);
  };
  std::vector<CellSum> sums(static_cast<std::size_t>(positions * (config.layers + 1)));
  for (std::int64_t first = 0; first < directions.count(); first += at_once) {
    const std::int64_t copies = std::min(at_once, directions.count() - first);
    Backpropagation back(backend, parameters, request, plan, copies);
    back.run(directions, first, tick);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const auto index = static_cast<std::int64_t>(i);
      const Cell cell{index / (config.layers + 1), index % (config.layers + 1)};
      if (cell == request.cell) continue;
      for (std::int64_t copy = 0; copy < copies; ++copy) sums[i].add(back.pass().squared(copy, cell));
    }
  }
  InfluenceMap map{positions, config.layers, directions.count(), directions.exact(), {}, {}};
  for (const CellSum& sum : sums) {
    map.influence.push_back(sum.norm(directions));
    map.error.push_back(sum.error(directions));
  }
  return map;
}

}  // namespace engine
