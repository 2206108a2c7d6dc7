// Runs the engine's K-pass objective on a task of the oracle and brings losses, rows and gradients to the host.
#pragma once

#include <vector>

#include "engine/device_copy.h"
#include "engine/multipass.h"
#include "tests/engine/support/model_oracle.h"
#include "tests/engine/support/test_model.h"

namespace support {

struct PassResult {
  std::vector<double> losses;
  double objective = 0;
  std::vector<std::vector<float>> nll;  ///< [passes][N]
  std::vector<engine::HostTensor> gradients;
  std::vector<bool> has_gradient;  ///< in the order of the layout
};

inline PassResult run_task(TestModel& test, const OracleTask& task) {
  kernels::Backend& backend = *test.backend;
  test.tape.clear();
  test.arena.reset();
  engine::PassSettings settings;
  settings.passes = task.passes;
  settings.lambda = task.lambda;
  settings.detach = task.detach;
  settings.z_weight = static_cast<float>(task.z_weight);
  for (const auto& flags : task.fused) settings.fused.push_back(upload_indices(backend, test.arena, flags));
  for (const auto& jitter : task.jitter) {
    settings.fixed_jitter.push_back(upload_matrix(backend, test.arena, jitter, task.config.dim));
  }
  const auto passes = run_passes(test.tape, test.model, upload_batch(backend, test.arena, task.batch), settings);
  test.tape.backward();
  PassResult result;
  for (const engine::PassRows& rows : passes) {
    result.nll.push_back(engine::download_matrix(backend, rows.nll));
    result.losses.push_back(engine::mean_loss(result.nll.back(), task.batch.weights));
  }
  result.objective = engine::objective(result.losses, task.lambda);
  result.gradients = test.parameters.store_gradients();
  for (const auto& info : test.parameters.layout()) result.has_gradient.push_back(test.model.has_gradient(info));
  return result;
}

/// Two rows: two documents packed, and one with padding after it. Plain prefixes differ from pass to pass.
inline OracleTask sample_task(const engine::ModelConfig& config, int passes, std::uint64_t seed = 5) {
  OracleTask task;
  task.config = config;
  task.passes = passes;
  const auto document = [&](std::int64_t length, std::uint64_t number) {
    return random_document(length, config.vocab, seed * 100 + number);
  };
  task.batch = make_batch({{document(4, 1), document(3, 2)}, {document(5, 3)}}, 7);
  const std::vector<std::vector<std::int64_t>> plain = {{1, 2}, {3, 1}, {2, 3}};
  for (int k = 0; k + 1 < passes; ++k) {
    task.fused.push_back(engine::fused_flags(task.batch, plain[static_cast<std::size_t>(k)]));
    const auto size = static_cast<std::int64_t>(task.batch.tokens.size()) * config.dim;
    task.jitter.push_back(random_floats(size, seed + 50 + static_cast<std::uint64_t>(k), 0.02F));
  }
  return task;
}

}  // namespace support
