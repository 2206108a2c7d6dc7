#include "engine/process_group.h"

#include <algorithm>

namespace engine {

RowShare row_share(std::int64_t rows, int rank, int size) {
  const std::int64_t first = rows * rank / size;
  return {first, rows * (rank + 1) / size - first};
}

PlaceShare place_share(const std::vector<std::int32_t>& places, std::int64_t seq, const RowShare& rows) {
  const auto begin = std::lower_bound(places.begin(), places.end(), rows.first * seq);
  const auto end = std::lower_bound(begin, places.end(), (rows.first + rows.count) * seq);
  return {begin - places.begin(), {begin, end}};
}

}  // namespace engine
