// Checks of arguments that CLI11 does not make itself.
#pragma once

#include <CLI/CLI.hpp>

namespace app::cli {

/// A whole number from 0 to 2^64 - 1: CLI11 wraps negative ones and cuts larger ones.
CLI::Validator seed_number();
/// Neither infinite nor NaN, which pass CLI11's ranges.
CLI::Validator finite_number();

}  // namespace app::cli
