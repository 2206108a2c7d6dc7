#include "engine/validation.h"

#include <algorithm>
#include <cmath>

#include "engine/multipass.h"
#include "engine/pass_runner.h"

namespace engine {
namespace {

/// Sums over rows of one pass.
struct PassSums {
  double loss = 0;  // over scored targets
  double targets = 0;
  double row_mean = 0;
  double row_mean_squared = 0;
  double rows = 0;     // rows with a scored target
  double answers = 0;  // rows with an answer
  double right = 0;

  void add_row(const data::Batch& batch, const PassRunner::Scores& scores, std::int64_t row);
};

void PassSums::add_row(const data::Batch& batch, const PassRunner::Scores& scores, std::int64_t row) {
  double row_loss = 0;
  double row_targets = 0;
  bool has_answer = false;
  bool all_right = true;
  for (std::int64_t place = 0; place < batch.seq; ++place) {
    const auto n = static_cast<std::size_t>(row * batch.seq + place);
    if (batch.targets[n] < 0 || batch.weights[n] <= 0.0F) continue;
    row_loss += scores.nll[n];
    row_targets += 1;
    if (batch.answer[n] == 0) continue;
    has_answer = true;
    all_right = all_right && scores.argmax[n] == batch.targets[n];
  }
  if (row_targets == 0) return;
  loss += row_loss;
  targets += row_targets;
  row_mean += row_loss / row_targets;
  row_mean_squared += (row_loss / row_targets) * (row_loss / row_targets);
  rows += 1;
  answers += has_answer ? 1 : 0;
  right += has_answer && all_right ? 1 : 0;
}

double standard_error(const PassSums& sums) {
  if (sums.rows < 2) return 0;
  const double mean = sums.row_mean / sums.rows;
  const double variance = std::max(0.0, sums.row_mean_squared / sums.rows - mean * mean) * sums.rows / (sums.rows - 1);
  return std::sqrt(variance / sums.rows);
}

void add_batch(std::vector<PassSums>& sums, PassRunner& runner, const data::Batch& batch) {
  const auto fused = fused_flags(batch, std::vector<std::int64_t>(static_cast<std::size_t>(batch.rows), 1));
  runner.begin(batch.tokens, batch.positions);
  for (std::size_t pass = 0; pass < sums.size(); ++pass) {
    if (pass == 0) {
      runner.plain_pass();
    } else {
      runner.feedback_pass(fused);
    }
    const PassRunner::Scores scores = runner.score(batch.targets);
    for (std::int64_t row = 0; row < batch.rows; ++row) sums[pass].add_row(batch, scores, row);
  }
}

}  // namespace

ValidationMetrics validate(kernels::Backend& backend, const Parameters& parameters, const data::BatchSource& source,
                           std::int64_t rows, int passes, std::int64_t chunk) {
  std::vector<PassSums> sums(static_cast<std::size_t>(passes));
  PassRunner runner(backend, parameters);
  for (std::int64_t first = 0; first < rows; first += chunk) {
    add_batch(sums, runner, source.validation(first, std::min(chunk, rows - first)));
  }
  ValidationMetrics metrics;
  metrics.rows = rows;
  for (const PassSums& pass : sums) {
    metrics.pass_loss.push_back(pass.targets > 0 ? pass.loss / pass.targets : 0.0);
    metrics.pass_error.push_back(standard_error(pass));
    metrics.pass_accuracy.push_back(pass.answers > 0 ? pass.right / pass.answers : 0.0);
  }
  return metrics;
}

}  // namespace engine
