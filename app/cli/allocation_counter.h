// Counts what the program takes from the heap through operator new, for the promise that a training step takes nothing.
#pragma once

#include <cstdint>

namespace app::cli {

/// Calls of operator new so far, of all threads.
std::int64_t heap_allocations();

}  // namespace app::cli
