// Held-out loss and accuracy of every pass: no jitter, everything after a document's first position fused in
// passes 2...
#pragma once

#include <cstdint>

#include "engine/data/batch_source.h"
#include "engine/metrics.h"
#include "engine/parameters.h"

namespace engine {

/// Measures `rows` held-out rows in chunks of `chunk`. Every scored target counts once, whatever its training weight.
/// Fills rows, pass_loss, pass_error and pass_accuracy.
ValidationMetrics validate(kernels::Backend& backend, const Parameters& parameters, const data::BatchSource& source,
                           std::int64_t rows, int passes, std::int64_t chunk);

}  // namespace engine
