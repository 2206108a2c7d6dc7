// libFuzzer: any bytes as a safetensors file and as a model.
#include "tests/fuzz/fuzz_targets.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  fuzz::safetensors_target(bytes);
  fuzz::model_target(bytes);
  return 0;
}
