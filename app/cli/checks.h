// Checks of arguments, the same for every verb. Each refusal says in one sentence what the option needs and what it
// got.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/error.h"

namespace app::cli {

/// Most rows, prompts, tokens or draws that a verb takes: more only fills the memory.
constexpr std::int64_t kMostCount = 1'000'000;
constexpr std::int64_t kMostPasses = 10'000;
constexpr std::int64_t kMostFusedPasses = 1'000;
constexpr std::int64_t kMostThreads = 4'096;

/// A whole number from `least` to `most`, both included.
CLI::Validator whole_number(std::int64_t least, std::int64_t most);
/// Finite and at least 0.
CLI::Validator number_not_negative();
/// Finite and above 0.
CLI::Validator number_above_zero();
/// Above 0 and at most 1.
CLI::Validator share_above_zero();
/// A whole number from 0 to 2^64 - 1: CLI11 wraps negative ones and cuts larger ones.
CLI::Validator seed_number();
CLI::Validator one_of(std::vector<std::string> names);
CLI::Validator existing_file();
CLI::Validator not_empty();

/// What CLI11 says of arguments it cannot use, in this program's words.
std::string plain_sentence(const CLI::App& app, const CLI::ParseError& error);

/// Runs `work`, which opens a device; one that is not there is a wrong --device.
template <typename Work>
auto with_device_of_option(const Work& work) {
  try {
    return work();
  } catch (const engine::DeviceError& error) {
    throw engine::ConfigError("--device", error.what());
  }
}

/// Runs `work`, in which only `option` can be wrong; ConfigError then names it instead of the engine's field.
template <typename Work>
auto named_by_option(const std::string& option, const Work& work) {
  try {
    return work();
  } catch (const engine::ConfigError& error) {
    const std::string message = error.what();
    throw engine::ConfigError(option, message.substr(error.field().size() + 2));
  }
}

}  // namespace app::cli
