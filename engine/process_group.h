// The processes that train one model together. Each holds the same weights, computes the gradient of its own rows of
// the batch, and adds it to the others'; the first one alone writes the run (method page, "Several processes").
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/error.h"

namespace engine {

/// Another process of the group ended, or this one was told to end while it waited for the others.
class ProcessLost : public Error {
 public:
  explicit ProcessLost(const std::string& what) : Error(what) {}
};

class ProcessGroup {
 public:
  virtual ~ProcessGroup() = default;
  [[nodiscard]] virtual int rank() const = 0;  ///< 0 .. size - 1; process 0 writes the run
  [[nodiscard]] virtual int size() const = 0;
  /// Element by element, the sum over all processes, added in the order of their ranks: the same bits in each.
  /// Every process calls it with as many values. ProcessLost leaves `values` undefined.
  virtual void sum(std::span<float> values) = 0;
  virtual void sum(std::span<double> values) = 0;
};

/// A contiguous part of `rows` rows of a batch.
struct RowShare {
  std::int64_t first = 0;
  std::int64_t count = 0;
};
/// The rows of process `rank` of `size`; shares differ by one row at most.
RowShare row_share(std::int64_t rows, int rank, int size);

/// A range of the list of real places of a batch (data::real_places).
struct PlaceShare {
  std::int64_t before = 0;           ///< real places in the rows of the ranks before
  std::vector<std::int32_t> places;  ///< those in this share's rows
};
/// `places` in increasing order, `seq` places a row.
PlaceShare place_share(const std::vector<std::int32_t>& places, std::int64_t seq, const RowShare& rows);

}  // namespace engine
