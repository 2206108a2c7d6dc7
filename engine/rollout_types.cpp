#include "engine/rollout_types.h"

namespace engine {

std::string to_string(DecodeMode mode) {
  switch (mode) {
    case DecodeMode::standard:
      return "standard";
    case DecodeMode::soft:
      return "soft";
    case DecodeMode::fused:
      return "fused";
  }
  return "?";
}

std::string to_string(StopReason reason) {
  switch (reason) {
    case StopReason::end_of_text:
      return "end_of_text";
    case StopReason::stop_string:
      return "stop_string";
    case StopReason::length_cap:
      return "length_cap";
    case StopReason::cancelled:
      return "cancelled";
  }
  return "?";
}

}  // namespace engine
