#include "engine/gate_report.h"

#include <algorithm>

#include "engine/error.h"
#include "engine/multipass.h"

namespace engine {
namespace {

/// Real positions that are fused when only each document's first is plain.
std::vector<std::int32_t> real_fused_rows(const data::Batch& batch, const std::vector<std::int32_t>& fused) {
  std::vector<std::int32_t> rows;
  for (const std::int32_t n : data::real_places(batch)) {
    if (fused[static_cast<std::size_t>(n)] != 0) rows.push_back(n);
  }
  return rows;
}

/// The states that those positions are fused with.
std::vector<float> fused_states(const ChannelProbe& probe, const std::vector<std::int32_t>& rows) {
  const std::vector<float> all = probe.states();
  const auto dim = static_cast<std::size_t>(probe.dim());
  std::vector<float> chosen;
  for (const std::int32_t n : rows) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(n - 1) * dim);
    chosen.insert(chosen.end(), first, first + static_cast<std::ptrdiff_t>(dim));
  }
  return chosen;
}

/// Says what comes next and stops when asked.
class Parts {
 public:
  Parts(const GateProgress& on_progress, const std::stop_token& stop) : on_progress_(on_progress), stop_(stop) {}
  void begin(const std::string& part) {
    if (stop_.stop_requested()) throw Cancelled();
    if (on_progress_) on_progress_(part, done_, kParts);
    ++done_;
  }

 private:
  static constexpr std::int64_t kParts = 6;
  const GateProgress& on_progress_;
  const std::stop_token& stop_;
  std::int64_t done_ = 0;
};

}  // namespace

GateReport measure_gate_report(kernels::Backend& backend, const Parameters& parameters, const data::Batch& batch,
                               const GateReportSettings& settings, const GateProgress& on_progress,
                               const std::stop_token& stop) {
  GateReport report;
  report.rows = batch.rows;
  report.seq = batch.seq;
  report.feedback_passes = settings.feedback_passes;
  const std::vector<std::int32_t> fused =
      fused_flags(batch, std::vector<std::int64_t>(static_cast<std::size_t>(batch.rows), 1));
  const std::vector<std::int32_t> rows = real_fused_rows(batch, fused);
  report.fused_positions = static_cast<std::int64_t>(rows.size());
  const FusionType fusion = parameters.config().fusion;
  ChannelProbe probe(backend, parameters, batch);
  Parts parts(on_progress, stop);

  parts.begin("gates");
  if (fusion == FusionType::gate) report.gates = measure_gates(backend, parameters, data::pick(batch.tokens, rows));
  parts.begin("depths");
  report.ladder = measure_ladder(probe, fused, settings.feedback_passes);
  parts.begin("interventions");
  report.interventions = measure_interventions(probe, fusion, settings.interventions);
  parts.begin("spectra");
  report.weights = fusion_spectra(backend, parameters);
  report.states = state_spectra(backend, parameters, fused_states(probe, rows));
  parts.begin("boundary");
  report.boundary = measure_boundary_loss(
      probe, {settings.feedback_passes, settings.boundary_draws, settings.interventions.seed}, stop);
  parts.begin("exposure");
  report.exposure = measure_exposure(batch, settings.exposure);
  return report;
}

}  // namespace engine
