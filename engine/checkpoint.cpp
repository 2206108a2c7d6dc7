#include "engine/checkpoint.h"

#include <algorithm>

#include "engine/hash.h"

namespace engine {

std::string tensor_hash(const std::vector<HostTensor>& tensors) {
  std::vector<const HostTensor*> sorted;
  for (const HostTensor& tensor : tensors) {
    sorted.push_back(&tensor);
  }
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  Hash64 hash;
  for (const HostTensor* tensor : sorted) {
    hash.add_text(tensor->name);
    hash.add_text("F32");
    hash.add_number(static_cast<std::int64_t>(tensor->shape.size()));
    for (const std::int64_t extent : tensor->shape) {
      hash.add_number(extent);
    }
    hash.add_bytes(tensor->values.data(), tensor->values.size() * sizeof(float));
  }
  return hash.hex();
}

}  // namespace engine
