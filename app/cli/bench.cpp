#include "app/cli/bench.h"

#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#include <random>

#include "app/cli/allocation_counter.h"
#include "engine/batch_decoder.h"
#include "engine/training_step.h"
#include "kernels/backend.h"

namespace app::cli {
namespace {

using kernels::View;
using kernels::Write;

/// Seconds since it was made or lapped: of the clock on the wall, or of the processor for this program alone.
class Stopwatch {
 public:
  explicit Stopwatch(bool processor_time) : clock_(processor_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC) {}
  [[nodiscard]] double seconds() const { return now() - start_; }
  double lap() {
    const double passed = seconds();
    start_ += passed;
    return passed;
  }

 private:
  [[nodiscard]] double now() const {
    timespec time{};
    clock_gettime(clock_, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }

  clockid_t clock_;
  double start_ = now();
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// One warm-up, then median seconds of `work`.
double time_of(const BenchSettings& settings, const std::function<void()>& work) {
  work();
  std::vector<double> times;
  const Stopwatch all(settings.processor_time);
  while (times.empty() || (static_cast<int>(times.size()) < settings.repeats && all.seconds() < settings.seconds)) {
    const Stopwatch one(settings.processor_time);
    work();
    times.push_back(one.seconds());
  }
  return median(times);
}

/// Rows of random tokens, one document a row, every target scored.
engine::data::Batch random_batch(const BenchSettings& settings, std::uint64_t seed) {
  std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
  std::uniform_int_distribution<std::int32_t> token(0, static_cast<std::int32_t>(settings.model.vocab) - 1);
  engine::data::Batch batch;
  batch.rows = settings.batch;
  batch.seq = settings.seq;
  const std::int64_t count = batch.rows * batch.seq;
  for (std::int64_t n = 0; n < count; ++n) {
    batch.tokens.push_back(token(random));
    batch.targets.push_back(token(random));
    batch.positions.push_back(static_cast<std::int32_t>(n % batch.seq));
  }
  batch.weights.assign(static_cast<std::size_t>(count), 1.0F);
  batch.answer.assign(static_cast<std::size_t>(count), 0);
  batch.row_length.assign(static_cast<std::size_t>(batch.rows), batch.seq);
  return batch;
}

/// Seconds of one step's parts, in the order of StepTimes.
struct StepSample {
  double data, forward, backward, optimiser;
  std::int64_t allocations;
};

StepSample one_step(engine::TrainingStep& step, kernels::Backend& backend, const BenchSettings& settings, int passes,
                    std::int64_t index) {
  constexpr std::uint64_t kSeed = 1;
  const engine::TrainConfig& train = settings.train;
  Stopwatch watch(settings.processor_time);
  const auto batch = engine::make_step_batch(random_batch(settings, static_cast<std::uint64_t>(index)), train, kSeed,
                                             index, passes, {0, settings.batch}, step.tokens_at_once());
  StepSample sample{};
  sample.data = watch.lap();
  const std::int64_t before = heap_allocations() + backend.info().allocations;
  watch.lap();
  for (std::size_t slice = 0; slice < batch.slices.size(); ++slice) {
    step.forward(batch, slice, train, kSeed, index);
    backend.synchronize();
    sample.forward += watch.lap();
    step.backward(batch, slice);
    sample.backward += watch.lap();
  }
  step.finish(batch, train);
  backend.synchronize();
  sample.backward += watch.lap();
  step.optimise(train, index);
  sample.optimiser = watch.lap();
  sample.allocations = heap_allocations() + backend.info().allocations - before;
  return sample;
}

StepTimes time_training(engine::TrainingStep& step, kernels::Backend& backend, const BenchSettings& settings,
                        int passes) {
  std::vector<double> data, forward, backward, optimiser, whole;
  StepTimes times;
  // Until the system has put the threads on cores of their own and their memory is there.
  constexpr double kWarmUpSeconds = 0.3;
  const Stopwatch warm_up(settings.processor_time);
  std::int64_t i = 0;
  do {
    one_step(step, backend, settings, passes, i++);
  } while (warm_up.seconds() < std::min(kWarmUpSeconds, settings.seconds));
  const Stopwatch all(settings.processor_time);
  for (;; ++i) {
    const StepSample s = one_step(step, backend, settings, passes, i);
    data.push_back(s.data);
    forward.push_back(s.forward);
    backward.push_back(s.backward);
    optimiser.push_back(s.optimiser);
    whole.push_back(s.data + s.forward + s.backward + s.optimiser);
    times.allocations = std::max(times.allocations, s.allocations);
    if (static_cast<int>(whole.size()) >= settings.repeats || all.seconds() > settings.seconds) break;
  }
  times.data = median(data);
  times.forward = median(forward);
  times.backward = median(backward);
  times.optimiser = median(optimiser);
  times.whole = median(whole);
  times.tokens_per_second = static_cast<double>(settings.batch * settings.seq) / times.whole;
  return times;
}

std::int64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

/// A product of the model: rows x inputs times inputs x outputs, and how often a step has it.
struct Product {
  std::int64_t inputs, outputs, count;
};

std::vector<Product> products_of(const engine::ModelConfig& m) {
  const std::int64_t query = m.heads * m.head_dim();
  const std::int64_t key_value = m.kv_heads * m.head_dim();
  return {{m.dim, query + 2 * key_value, m.layers},
          {query, m.dim, m.layers},
          {m.dim, 2 * m.ffn, m.layers},
          {m.ffn, m.dim, m.layers},
          {m.dim, m.vocab, 1}};
}

double product_flop_count(const BenchSettings& settings) {
  double multiply_adds = 0;
  for (const Product& p : products_of(settings.model)) {
    multiply_adds += static_cast<double>(p.inputs) * static_cast<double>(p.outputs) * static_cast<double>(p.count);
  }
  constexpr double kForwardAndBackward = 3;  // the result, and the gradients of both operands
  return 2 * kForwardAndBackward * multiply_adds * static_cast<double>(settings.batch * settings.seq);
}

/// Operations a second of the step's products alone: each shape forward and backward, on operands of its own.
double product_ceiling(const BenchSettings& settings) {
  const auto backend = kernels::make_backend(settings.device, settings.threads);
  const std::int64_t rows = settings.batch * settings.seq;
  double seconds = 0;
  for (const Product& p : products_of(settings.model)) {
    const auto matrix = [&](std::int64_t r, std::int64_t c) { return backend->allocate(4 * r * c); };
    const kernels::Buffer x_data = matrix(rows, p.inputs), y_data = matrix(rows, p.outputs);
    const kernels::Buffer w_data = matrix(p.outputs, p.inputs), dw_data = matrix(p.outputs, p.inputs);
    const kernels::Buffer dx_data = matrix(rows, p.inputs);
    const View x = x_data.matrix(rows, p.inputs), y = y_data.matrix(rows, p.outputs);
    const View w = w_data.matrix(p.outputs, p.inputs), dw = dw_data.matrix(p.outputs, p.inputs);
    const View dx = dx_data.matrix(rows, p.inputs);
    backend->fill(x, 0.5F);
    backend->fill(w, 0.25F);
    seconds += static_cast<double>(p.count) * time_of(settings, [&] {
                 backend->linear(x, w, y, Write::assign);
                 backend->linear_backward_weight(y, x, dw, Write::assign);
                 backend->linear_backward_input(y, w, dx, Write::assign);
                 backend->synchronize();
               });
  }
  return product_flop_count(settings) / seconds;
}

std::vector<std::vector<std::int32_t>> random_prompts(const BenchSettings& settings, std::int64_t rows,
                                                      std::int64_t length) {
  std::mt19937 random(7);
  std::uniform_int_distribution<std::int32_t> token(0, static_cast<std::int32_t>(settings.model.vocab) - 1);
  std::vector<std::vector<std::int32_t>> prompts(static_cast<std::size_t>(rows));
  for (auto& prompt : prompts) {
    for (std::int64_t i = 0; i < length; ++i) prompt.push_back(token(random));
  }
  return prompts;
}

/// Reads prompts of 32 tokens and generates `settings.decode` tokens a row.
void decode(engine::BatchDecoder& decoder, const BenchSettings& settings, engine::DecodeMode mode, std::int64_t rows) {
  constexpr std::int64_t kPrompt = 32;
  decoder.prefill(random_prompts(settings, rows, kPrompt), mode, settings.decode);
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(rows));
  for (std::int64_t i = 0; i < settings.decode; ++i) {
    if (i > 0) decoder.step(tokens);
    const auto sampled = decoder.sample({}, i);
    std::transform(sampled.begin(), sampled.end(), tokens.begin(), [](const auto& s) { return s.id; });
  }
}

void time_decoding(const BenchSettings& settings, const BenchProgress& progress, BenchResult& result) {
  const auto backend = kernels::make_backend(settings.device, settings.threads);
  engine::Parameters parameters(*backend, settings.model, false);
  parameters.load(engine::initial_parameters(settings.model, 1), "benchmark");
  engine::BatchDecoder decoder(*backend, parameters);
  for (const auto mode : {engine::DecodeMode::standard, engine::DecodeMode::soft, engine::DecodeMode::fused}) {
    progress("decoding, " + to_string(mode));
    const double seconds = time_of(settings, [&] { decode(decoder, settings, mode, 1); });
    result.decode_seconds[to_string(mode)] = seconds / static_cast<double>(settings.decode);
  }
  progress("decoding of many rows");
  const double batched =
      time_of(settings, [&] { decode(decoder, settings, engine::DecodeMode::standard, settings.decode_rows); });
  result.batch_speedup = static_cast<double>(settings.decode_rows) *
                         result.decode_seconds.at(to_string(engine::DecodeMode::standard)) *
                         static_cast<double>(settings.decode) / batched;
  progress("prefill");
  const auto prompts = random_prompts(settings, settings.batch, settings.seq);
  const double prefill = time_of(settings, [&] { decoder.prefill(prompts, engine::DecodeMode::standard, 1); });
  result.prefill_tokens_per_second = static_cast<double>(settings.batch * settings.seq) / prefill;
}

}  // namespace

double step_flop_count(const BenchSettings& settings) {
  const engine::ModelConfig& m = settings.model;
  // Scores and weighted values of the visible half, forward once and backward twice.
  const double pairs = static_cast<double>(settings.batch * settings.seq) * static_cast<double>(settings.seq + 1) / 2;
  const double attention = 2.0 * 2 * 3 * pairs * static_cast<double>(m.heads * m.head_dim() * m.layers);
  return product_flop_count(settings) + attention;
}

BenchResult run_bench(const BenchSettings& settings, const BenchProgress& progress) {
  BenchResult result;
  {
    const auto backend = kernels::make_backend(settings.device, settings.threads);
    engine::TrainingStep step(*backend, settings.model);
    step.parameters().load(engine::initial_parameters(settings.model, 1), "benchmark");
    engine::TrainConfig train = settings.train;
    train.schedule.clear();
    for (const int passes : settings.passes) train.schedule.push_back({1.0, passes});
    step.reserve(train, step.slice_tokens(settings.batch, settings.seq));
    for (const engine::ParameterInfo& info : step.parameters().layout()) result.parameters += info.size();
    for (const int passes : settings.passes) {
      progress("training, K = " + std::to_string(passes));
      result.training[passes] = time_training(step, *backend, settings, passes);
    }
    result.peak_memory = peak_memory();
    result.device_memory = backend->info().memory_used;
  }
  progress("products alone");
  result.product_flops = product_ceiling(settings);
  if (const auto one = result.training.find(1); one != result.training.end()) {
    result.step_flops = step_flop_count(settings) / one->second.whole;
  }
  time_decoding(settings, progress, result);
  return result;
}

}  // namespace app::cli
