// The real decoder of the Rollouts page: a run's newest checkpoint, or the one that ships with the program.
#pragma once

#include <memory>
#include <string>

#include "app/inference_worker.h"
#include "app/live_model.h"

namespace app {

/// `key` as in RunData. Call it on the thread that will decode. Throws the engine's errors: no checkpoint yet, a broken
/// one, no memory, no device.
std::unique_ptr<Decoder> open_decoder(const std::string& key);
/// The same for a run in training: a copy of its present model.
std::unique_ptr<Decoder> open_live_decoder(LiveModel& live, const std::string& key);

}  // namespace app
