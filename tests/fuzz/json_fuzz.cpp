// libFuzzer: any bytes as a recipe and as a line of metrics.
#include "tests/fuzz/fuzz_targets.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fuzz::recipe_target(text);
  fuzz::metrics_target(text);
  return 0;
}
