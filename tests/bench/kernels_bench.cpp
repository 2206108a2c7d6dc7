// Times every operation at the shapes of a training step and of decoding. Not a test.
//   kernels_bench [--benchmark_filter=...]     FULLBAND_BENCH_THREADS=1 for one thread
// "FLOP/s" counts two operations a multiply-add of the products; "rows/s" counts token rows.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <deque>
#include <random>
#include <vector>

#include "kernels/backend.h"

namespace {

using kernels::ConstView;
using kernels::IndexView;
using kernels::View;
using kernels::Write;
using Counter = benchmark::Counter;
using State = benchmark::State;

constexpr std::int64_t kRows = 4096;

int thread_count() {
  const char* text = std::getenv("FULLBAND_BENCH_THREADS");
  return text == nullptr ? 0 : std::atoi(text);
}

/// A backend with operands that live as long as one benchmark.
class Bench {
 public:
  Bench() : backend_(kernels::make_backend("auto", thread_count())) {}

  View matrix(std::int64_t rows, std::int64_t cols) {
    std::vector<float> host(static_cast<std::size_t>(rows * cols));
    std::normal_distribution<float> normal;
    for (float& v : host) v = normal(generator_);
    return upload(host).matrix(rows, cols);
  }
  /// Positions of documents of `length` rows.
  IndexView positions(std::int64_t rows, std::int64_t length) {
    std::vector<std::int32_t> host;
    for (std::int64_t n = 0; n < rows; ++n) host.push_back(static_cast<std::int32_t>(n % length));
    return upload(host).indices(rows);
  }
  IndexView indices(std::int64_t rows, int limit) {
    std::vector<std::int32_t> host(static_cast<std::size_t>(rows));
    std::uniform_int_distribution<std::int32_t> uniform(0, limit - 1);
    for (auto& v : host) v = uniform(generator_);
    return upload(host).indices(rows);
  }
  kernels::Backend* operator->() { return backend_.get(); }

 private:
  template <typename T>
  kernels::Buffer& upload(const std::vector<T>& host) {
    const auto bytes = static_cast<std::int64_t>(host.size() * sizeof(T));
    buffers_.push_back(backend_->allocate(bytes));
    backend_->upload(host.data(), buffers_.back().data(), bytes);
    return buffers_.back();
  }

  std::unique_ptr<kernels::Backend> backend_;
  std::mt19937 generator_{1};
  std::deque<kernels::Buffer> buffers_;
};

void count(State& state, std::int64_t rows, double flops) {
  state.counters["rows/s"] = Counter(static_cast<double>(rows), Counter::kIsIterationInvariantRate);
  if (flops > 0.0) state.counters["FLOP/s"] = Counter(flops, Counter::kIsIterationInvariantRate);
}

/// Runs `operation` until the library has enough of it.
template <typename Operation>
void time(State& state, Bench& bench, std::int64_t rows, double flops, const Operation& operation) {
  operation();
  for (auto _ : state) {
    operation();
    bench->synchronize();
  }
  count(state, rows, flops);
}

double product_flops(std::int64_t n, std::int64_t in, std::int64_t out) {
  return 2.0 * static_cast<double>(n * in * out);
}

// ---- products: arguments rows, inputs, outputs
// --------------------------------------------------------------------------

void linear(State& state) {
  Bench b;
  const auto n = state.range(0), in = state.range(1), out = state.range(2);
  const View x = b.matrix(n, in), w = b.matrix(out, in), y = b.matrix(n, out);
  time(state, b, n, product_flops(n, in, out), [&] { b->linear(x, w, y, Write::assign); });
}

void linear_backward_input(State& state) {
  Bench b;
  const auto n = state.range(0), in = state.range(1), out = state.range(2);
  const View dy = b.matrix(n, out), w = b.matrix(out, in), dx = b.matrix(n, in);
  time(state, b, n, product_flops(n, in, out), [&] { b->linear_backward_input(dy, w, dx, Write::assign); });
}

void linear_backward_weight(State& state) {
  Bench b;
  const auto n = state.range(0), in = state.range(1), out = state.range(2);
  const View dy = b.matrix(n, out), x = b.matrix(n, in), dw = b.matrix(out, in);
  time(state, b, n, product_flops(n, in, out), [&] { b->linear_backward_weight(dy, x, dw, Write::assign); });
}

void training_products(benchmark::internal::Benchmark* b) {
  for (const int d : {64, 128, 256, 512}) {
    for (const int out : {d, 3 * d, 11 * d / 2}) b->Args({kRows, d, out});
    b->Args({kRows, 11 * d / 4, d});
  }
}

void decoding_products(benchmark::internal::Benchmark* b) {
  for (const int rows : {1, 8, 32}) {
    b->Args({rows, 128, 384})->Args({rows, 512, 1536})->Args({rows, 512, 8192});
  }
}

BENCHMARK(linear)->Apply(training_products)->Apply(decoding_products)->Unit(benchmark::kMicrosecond);
BENCHMARK(linear_backward_input)->Apply(training_products)->Unit(benchmark::kMicrosecond);
BENCHMARK(linear_backward_weight)->Apply(training_products)->Unit(benchmark::kMicrosecond);

// ---- attention: arguments document length, heads, key heads, head width
// ---------------------------------------------------

struct AttentionOperands {
  kernels::AttentionShape shape;
  std::int64_t rows;
  View q, k, v, y, dy, dq, dk, dv, logsumexp;
  IndexView positions;

  AttentionOperands(State& state, Bench& b)
      : shape{state.range(1), state.range(2), state.range(3), 0}, rows(kRows / state.range(0) * state.range(0)) {
    const std::int64_t wide = shape.heads * shape.head_dim, narrow = shape.kv_heads * shape.head_dim;
    for (View* m : {&q, &y, &dy, &dq}) *m = b.matrix(rows, wide);
    for (View* m : {&k, &v, &dk, &dv}) *m = b.matrix(rows, narrow);
    logsumexp = b.matrix(rows, shape.heads);
    positions = b.positions(rows, state.range(0));
  }
  /// `products` of 2 d operations a visible pair and head.
  [[nodiscard]] double flops(State& state, int products) const {
    const double pairs = static_cast<double>(rows) * static_cast<double>(state.range(0) + 1) / 2;
    return 2.0 * products * pairs * static_cast<double>(shape.heads * shape.head_dim);
  }
};

void attention(State& state) {
  Bench b;
  const AttentionOperands o(state, b);
  time(state, b, o.rows, o.flops(state, 2),
       [&] { b->attention(o.q, o.k, o.v, o.positions, o.shape, o.y, o.logsumexp); });
}

void attention_backward(State& state) {
  Bench b;
  const AttentionOperands o(state, b);
  b->attention(o.q, o.k, o.v, o.positions, o.shape, o.y, o.logsumexp);
  time(state, b, o.rows, o.flops(state, 5),
       [&] { b->attention_backward(o.dy, o.q, o.k, o.v, o.y, o.logsumexp, o.positions, o.shape, o.dq, o.dk, o.dv); });
}

void attention_shapes(benchmark::internal::Benchmark* b) {
  b->Args({44, 4, 4, 16})->Args({128, 4, 4, 32})->Args({256, 8, 4, 32})->Args({256, 8, 8, 64})->Args({1024, 4, 4, 64});
}

BENCHMARK(attention)->Apply(attention_shapes)->Unit(benchmark::kMicrosecond);
BENCHMARK(attention_backward)->Apply(attention_shapes)->Unit(benchmark::kMicrosecond);

void decode_attention(State& state) {
  Bench b;
  const auto rows = state.range(0), length = state.range(1);
  const kernels::AttentionShape shape{4, 4, 32, 0};
  const View q = b.matrix(rows, 128), k = b.matrix(rows * length, 128), v = b.matrix(rows * length, 128);
  const View y = b.matrix(rows, 128);
  std::vector<std::int32_t> first, lengths;
  const IndexView begin = b.indices(rows, 1), size = b.indices(rows, 1);
  for (std::int64_t r = 0; r < rows; ++r) {
    first.push_back(static_cast<std::int32_t>(r * length));
    lengths.push_back(static_cast<std::int32_t>(length));
  }
  b->upload(first.data(), begin.data, rows * 4);
  b->upload(lengths.data(), size.data, rows * 4);
  time(state, b, rows, 0.0, [&] { b->decode_attention(q, k, v, begin, size, shape, y); });
}

BENCHMARK(decode_attention)->Args({1, 128})->Args({1, 1024})->Args({32, 256})->Unit(benchmark::kMicrosecond);

// ---- vocabulary: arguments width, vocabulary
// -------------------------------------------------------------------------------

void head_loss(State& state) {
  Bench b;
  const auto width = state.range(0), vocab = state.range(1);
  kernels::HeadLoss args;
  args.states = b.matrix(kRows, width);
  args.weight = b.matrix(vocab, width);
  args.targets = b.indices(kRows, static_cast<int>(vocab));
  args.row_weight = b.matrix(kRows, 1);
  args.nll = b.matrix(kRows, 1);
  args.argmax = b.indices(kRows, 1);
  args.d_states = b.matrix(kRows, width);
  args.d_weight = b.matrix(vocab, width);
  time(state, b, kRows, 3.0 * product_flops(kRows, width, vocab), [&] { b->head_loss(args); });
}

BENCHMARK(head_loss)
    ->Args({64, 96})
    ->Args({128, 96})
    ->Args({128, 1024})
    ->Args({256, 8192})
    ->Unit(benchmark::kMicrosecond);

void sample(State& state) {
  Bench b;
  const auto vocab = state.range(0);
  const View logits = b.matrix(8, vocab), uniforms = b.matrix(8, 1), logprob = b.matrix(8, 1), entropy = b.matrix(8, 1);
  const IndexView tokens = b.indices(8, 1);
  b->fill(uniforms, 0.4F);
  const kernels::SamplerShape shape{0.8F, state.range(1), 0.95F};
  time(state, b, 8, 0.0, [&] { b->sample(logits, shape, uniforms, tokens, logprob, entropy); });
}

BENCHMARK(sample)->Args({96, 0})->Args({8192, 0})->Args({8192, 50})->Unit(benchmark::kMicrosecond);

// ---- everything else: argument width
// --------------------------------------------------------------------------------------

void embed(State& state) {
  Bench b;
  const View table = b.matrix(96, state.range(0)), y = b.matrix(kRows, state.range(0));
  const IndexView tokens = b.indices(kRows, 96);
  time(state, b, kRows, 0.0, [&] { b->embed(table, tokens, y); });
}

void embed_backward(State& state) {
  Bench b;
  const View table = b.matrix(96, state.range(0)), dy = b.matrix(kRows, state.range(0));
  const IndexView tokens = b.indices(kRows, 96);
  time(state, b, kRows, 0.0, [&] { b->embed_backward(dy, tokens, table, Write::assign); });
}

/// Operands of the operations that work on rows.
struct RowOperands {
  View x, y, z, u, v, gain, dgain, column;
  IndexView positions, fused;
  RowOperands(Bench& b, std::int64_t width)
      : gain(b.matrix(1, width)),
        dgain(b.matrix(1, width)),
        column(b.matrix(kRows, 1)),
        positions(b.positions(kRows, 128)),
        fused(b.positions(kRows, 128)) {
    for (View* m : {&x, &y, &z, &u, &v}) *m = b.matrix(kRows, width);
  }
};

void rms_norm(State& state) {
  Bench b;
  const RowOperands o(b, state.range(0));
  time(state, b, kRows, 0.0, [&] { b->rms_norm(o.x, o.gain, o.y, o.column); });
}

void rms_norm_backward(State& state) {
  Bench b;
  const RowOperands o(b, state.range(0));
  time(state, b, kRows, 0.0,
       [&] { b->rms_norm_backward(o.x, o.y, o.gain, o.column, o.z, Write::assign, o.dgain, Write::assign); });
}

void residual_rms_norm(State& state) {
  Bench b;
  const RowOperands o(b, state.range(0));
  time(state, b, kRows, 0.0, [&] { b->residual_rms_norm(o.x, o.y, 0.3F, o.gain, o.z, o.u, o.column); });
}

void residual_rms_norm_backward(State& state) {
  Bench b;
  const RowOperands o(b, state.range(0));
  time(state, b, kRows, 0.0, [&] {
    b->residual_rms_norm_backward(o.x, o.y, o.z, o.gain, o.column, 0.3F, o.u, Write::assign, o.v, o.dgain,
                                  Write::assign);
  });
}

void norm_rope(State& state) {
  Bench b;
  const RowOperands o(b, state.range(0));
  const View inv_rms = b.matrix(kRows, state.range(0) / 32);
  time(state, b, kRows, 0.0, [&] { b->norm_rope(o.x, o.positions, 32, 1e4F, true, o.y, inv_rms); });
}

void norm_rope_backward(State& state) {
  Bench b;
  const RowOperands o(b, state.range(0));
  const View inv_rms = b.matrix(kRows, state.range(0) / 32);
  time(state, b, kRows, 0.0, [&] { b->norm_rope_backward(o.x, o.y, inv_rms, o.positions, 32, 1e4F, true, o.z); });
}

void swiglu(State& state) {
  Bench b;
  const View gate_up = b.matrix(kRows, 2 * state.range(0)), y = b.matrix(kRows, state.range(0));
  time(state, b, kRows, 0.0, [&] { b->swiglu(gate_up, y); });
}

void swiglu_backward(State& state) {
  Bench b;
  const View gate_up = b.matrix(kRows, 2 * state.range(0)), dy = b.matrix(kRows, state.range(0));
  const View dgate_up = b.matrix(kRows, 2 * state.range(0));
  time(state, b, kRows, 0.0, [&] { b->swiglu_backward(dy, gate_up, dgate_up); });
}

void fuse(State& state) {
  Bench b;
  const RowOperands o(b, state.range(0));
  time(state, b, kRows, 0.0, [&] { b->fuse({}, o.x, o.y, o.z, o.gain, o.fused, o.u, o.column); });
}

void fuse_backward(State& state) {
  Bench b;
  const RowOperands o(b, state.range(0));
  const View dplain = b.matrix(kRows, state.range(0));
  time(state, b, kRows, 0.0, [&] {
    b->fuse_backward({}, o.x, o.y, o.z, o.gain, o.column, o.fused, o.u, o.v, Write::assign, dplain, Write::accumulate,
                     o.dgain, Write::accumulate);
  });
}

void head_gate_backward(State& state) {
  Bench b;
  const RowOperands o(b, state.range(0));
  const View logits = b.matrix(kRows, 4), dlogits = b.matrix(kRows, 4);
  time(state, b, kRows, 0.0, [&] { b->head_gate_backward(o.x, o.y, logits, o.z, dlogits); });
}

void add_uniform(State& state) {
  Bench b;
  const RowOperands o(b, state.range(0));
  time(state, b, kRows, 0.0, [&] { b->add_uniform(o.x, 0.02F, {}, o.y); });
}

void scaled_accumulate(State& state) {
  Bench b;
  const RowOperands o(b, state.range(0));
  time(state, b, kRows, 0.0, [&] { b->scaled(o.x, 1e-6F, o.y, Write::accumulate); });
}

void row_distance(State& state) {
  Bench b;
  const RowOperands o(b, state.range(0));
  time(state, b, kRows, 0.0, [&] { b->row_distance(o.x, o.y, o.column); });
}

BENCHMARK(embed)->Arg(128)->Unit(benchmark::kMicrosecond);
BENCHMARK(embed_backward)->Arg(128)->Unit(benchmark::kMicrosecond);
BENCHMARK(rms_norm)->Arg(128)->Unit(benchmark::kMicrosecond);
BENCHMARK(rms_norm_backward)->Arg(128)->Unit(benchmark::kMicrosecond);
BENCHMARK(residual_rms_norm)->Arg(128)->Unit(benchmark::kMicrosecond);
BENCHMARK(residual_rms_norm_backward)->Arg(128)->Unit(benchmark::kMicrosecond);
BENCHMARK(norm_rope)->Arg(128)->Unit(benchmark::kMicrosecond);
BENCHMARK(norm_rope_backward)->Arg(128)->Unit(benchmark::kMicrosecond);
BENCHMARK(swiglu)->Arg(352)->Unit(benchmark::kMicrosecond);
BENCHMARK(swiglu_backward)->Arg(352)->Unit(benchmark::kMicrosecond);
BENCHMARK(fuse)->Arg(128)->Unit(benchmark::kMicrosecond);
BENCHMARK(fuse_backward)->Arg(128)->Unit(benchmark::kMicrosecond);
BENCHMARK(head_gate_backward)->Arg(128)->Unit(benchmark::kMicrosecond);
BENCHMARK(add_uniform)->Arg(128)->Unit(benchmark::kMicrosecond);
BENCHMARK(scaled_accumulate)->Arg(128)->Unit(benchmark::kMicrosecond);
BENCHMARK(row_distance)->Arg(128)->Unit(benchmark::kMicrosecond);

// ---- optimisers
// ------------------------------------------------------------------------------------------------------------

void adamw(State& state) {
  Bench b;
  const View p = b.matrix(1, state.range(0)), g = b.matrix(1, state.range(0)), m = b.matrix(1, state.range(0));
  const View v = b.matrix(1, state.range(0));
  b->fill(v, 1.0F);
  time(state, b, 1, 0.0, [&] { b->adamw(p, g, m, v, {1e-6F, 0.9F, 0.95F, 1e-8F, 0.0F, 5}); });
}

void normuon(State& state) {
  Bench b;
  const auto rows = state.range(0), cols = state.range(1);
  const View p = b.matrix(rows, cols), g = b.matrix(rows, cols), m = b.matrix(rows, cols), v = b.matrix(rows, 1);
  b->fill(v, 1.0F);
  time(state, b, 1, 0.0, [&] { b->normuon(p, g, m, v, {1e-6F, 0.95F, 0.95F, 1e-8F, 0.0F}); });
}

void clip_by_norm(State& state) {
  Bench b;
  const View g = b.matrix(1, state.range(0)), norm = b.matrix(1, 1);
  time(state, b, 1, 0.0, [&] { b->clip_by_norm(g, 1e9F, norm); });
}

BENCHMARK(adamw)->Arg(1 << 20)->Unit(benchmark::kMicrosecond);
BENCHMARK(normuon)->Args({64, 64})->Args({128, 128})->Args({384, 128})->Args({704, 256})->Unit(benchmark::kMicrosecond);
BENCHMARK(clip_by_norm)->Arg(1 << 20)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
