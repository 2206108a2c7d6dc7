// Runs a grid of device threads on the host: the threads of a block are fibers of one host thread, so that barriers,
// warp shuffles and shared memory mean what they mean on a device. Blocks run one after another.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace cuda_host {

struct GridShape {
  std::int64_t blocks = 1;
  int threads = 1;  ///< a block's threads, whole warps of 32
  std::int64_t shared_bytes = 0;
};

/// Runs `body` as every thread of the grid. Gives what went wrong, or nothing: threads that wait at a barrier which
/// others never reach, a write outside the shared memory, a warp operation without the whole warp.
std::string run_grid(const GridShape& shape, const std::function<void()>& body);

/// In what order the runnable threads of a block run, on the calling host thread: 0 in order of their index, otherwise
/// shuffled anew for every block from this seed. The environment's FULLBAND_THREAD_ORDER gives the value at the start.
void set_thread_order(std::uint64_t seed);

/// The dynamic shared memory of the running block, filled with NaN before the block starts.
void* shared_memory();

/// __syncthreads
void block_barrier();

/// Every lane gives 8 bytes and receives those of lane `source`. All 32 lanes take part.
std::uint64_t warp_exchange(std::uint64_t mine, int source);

/// Bit l is set when lane l gave true.
std::uint32_t warp_ballot(bool mine);

}  // namespace cuda_host
