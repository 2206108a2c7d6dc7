#include "engine/stability.h"

#include "engine/device_copy.h"
#include "engine/multipass.h"

namespace engine {

StabilityMatrix measure_stability(kernels::Backend& backend, const Parameters& parameters, const data::Batch& batch,
                                  int passes) {
  StabilityMatrix result;
  result.rows = batch.rows;
  result.seq = batch.seq;
  result.passes = passes;
  const std::vector<std::int32_t> fused =
      fused_flags(batch, std::vector<std::int64_t>(static_cast<std::size_t>(batch.rows), 1));
  PassRunner runner(backend, parameters);
  runner.begin(batch.tokens, batch.positions);
  runner.plain_pass();
  result.nll.push_back(runner.score(batch.targets).nll);
  kernels::Buffer distance =
      backend.allocate(static_cast<std::int64_t>(batch.tokens.size()) * std::int64_t{sizeof(float)});
  const kernels::View norms = distance.matrix(static_cast<std::int64_t>(batch.tokens.size()), 1);
  for (int f = 1; f <= passes; ++f) {
    runner.feedback_pass(fused);
    backend.row_distance(runner.carried(), runner.previous_carried(), norms);
    result.update.push_back(download_matrix(backend, norms));
    result.nll.push_back(runner.score(batch.targets).nll);
  }
  return result;
}

}  // namespace engine
