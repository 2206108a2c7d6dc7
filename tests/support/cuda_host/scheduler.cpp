#include "tests/support/cuda_host/scheduler.h"

#include <algorithm>
#include <array>
#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "tests/support/cuda_host/cuda_runtime.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace cuda_host {
namespace {

namespace context = boost::context;

constexpr int kWarp = 32;
constexpr std::size_t kStackBytes = 256 * 1024;
constexpr std::size_t kSharedGuard = 64;
constexpr unsigned char kGuardByte = 0xA5;
constexpr unsigned char kPoisonByte = 0xFF;  // four of them are a NaN

/// Where fibers switch stacks, the address sanitizer wants to know. `fake` keeps the left stack's bookkeeping.
struct StackSwitch {
  void* fake = nullptr;
#if defined(__SANITIZE_ADDRESS__)
  void leave(const void* bottom, std::size_t size) { __sanitizer_start_switch_fiber(&fake, bottom, size); }
  void arrive(const void** left_bottom, std::size_t* left_size) {
    __sanitizer_finish_switch_fiber(fake, left_bottom, left_size);
  }
#else
  void leave(const void* /*bottom*/, std::size_t /*size*/) {}
  void arrive(const void** /*left_bottom*/, std::size_t* /*left_size*/) {}
#endif
};

/// Keeps a fiber's stack where its bounds are known.
class Stack {
 public:
  Stack() : context_(allocator_.allocate()) {}
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  ~Stack() { allocator_.deallocate(context_); }
  [[nodiscard]] context::preallocated preallocated() const { return {context_.sp, context_.size, context_}; }
  [[nodiscard]] const void* bottom() const { return static_cast<const char*>(context_.sp) - context_.size; }

 private:
  context::fixedsize_stack allocator_{kStackBytes};
  context::stack_context context_;
};

/// A stack lent to the fiber library, which then frees nothing.
struct BorrowedStack {
  context::stack_context allocate() { return {}; }
  void deallocate(context::stack_context& /*stack*/) {}
};

/// A fiber that runs device threads one after another until one of them has to wait.
struct Worker {
  Stack stack;
  context::fiber fiber;
  context::fiber caller;
  StackSwitch stack_switch;
  int thread = -1;  ///< the device thread that it is in, or -1
};

/// What the lanes of a warp hand each other. Two sets of values, because a fast lane may be one operation ahead.
struct Warp {
  std::array<std::array<std::uint64_t, kWarp>, 2> values{};
  int phase = 0;
  std::vector<Worker*> waiting;
};

class Scheduler {
 public:
  Scheduler() {
    if (const char* seed = std::getenv("FULLBAND_THREAD_ORDER")) set_order(std::strtoull(seed, nullptr, 10));
  }
  ~Scheduler() { workers_.clear(); }
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  void set_order(std::uint64_t seed) {
    shuffled_ = seed != 0;
    random_.seed(seed);
  }

  std::string run(const GridShape& shape, const std::function<void()>& body) {
    if (shape.threads < 1 || shape.threads > 1024 || shape.threads % kWarp != 0) {
      return "a block of " + std::to_string(shape.threads) +
             " threads is not made of whole warps, 1024 threads at most";
    }
    body_ = &body;
    threads_ = shape.threads;
    error_.clear();
    gridDim = dim3(static_cast<unsigned>(shape.blocks));
    blockDim = dim3(static_cast<unsigned>(shape.threads));
    shared_.resize(2 * kSharedGuard + static_cast<std::size_t>(shape.shared_bytes));
    for (std::int64_t block = 0; block < shape.blocks && error_.empty(); ++block) {
      blockIdx = dim3(static_cast<unsigned>(block));
      run_block();
    }
    if (!error_.empty()) drop_workers();
    return error_;
  }

  void* shared() { return shared_.data() + kSharedGuard; }

  void barrier() {
    at_barrier_.push_back(current_);
    if (static_cast<int>(at_barrier_.size()) == threads_) make_ready(at_barrier_);
    suspend();
  }

  std::uint64_t exchange(std::uint64_t mine, int source) {
    Warp& warp = meet(mine);
    return warp.values[static_cast<std::size_t>(1 - warp.phase)][static_cast<std::size_t>(source)];
  }

  std::uint32_t ballot(bool mine) {
    Warp& warp = meet(mine ? 1 : 0);
    std::uint32_t bits = 0;
    for (std::size_t lane = 0; lane < kWarp; ++lane) {
      if (warp.values[static_cast<std::size_t>(1 - warp.phase)][lane] != 0) bits |= 1U << lane;
    }
    return bits;
  }

 private:
  void run_block() {
    std::memset(shared_.data(), kPoisonByte, shared_.size());
    std::memset(shared_.data(), kGuardByte, kSharedGuard);
    std::memset(shared_.data() + shared_.size() - kSharedGuard, kGuardByte, kSharedGuard);
    warps_.assign(static_cast<std::size_t>(threads_ / kWarp), Warp{});
    order_.resize(static_cast<std::size_t>(threads_));
    std::iota(order_.begin(), order_.end(), 0);
    if (shuffled_) shuffle();
    started_ = finished_ = 0;
    while (finished_ < threads_ && error_.empty()) {
      Worker* next = next_worker();
      if (next == nullptr) {
        error_ = "some threads of a block wait at a barrier that the others never reach";
      } else {
        resume(*next);
      }
    }
    check_shared_guards();
  }

  /// In every other block, by chance, warps have ranks: one runs ahead of the others as far as barriers let it.
  void shuffle() {
    std::shuffle(order_.begin(), order_.end(), random_);
    ranks_.resize(warps_.size());
    std::iota(ranks_.begin(), ranks_.end(), 0);
    std::shuffle(ranks_.begin(), ranks_.end(), random_);
    by_rank_ = random_() % 2 == 0;
  }

  [[nodiscard]] int rank_of(const Worker* worker) const {
    return ranks_[static_cast<std::size_t>(worker->thread / kWarp)];
  }

  /// Which of the ready workers is next.
  std::size_t choose() {
    if (!shuffled_) return 0;
    if (!by_rank_) return random_() % ready_.size();
    const auto first = std::min_element(ready_.begin(), ready_.end(),
                                        [this](const Worker* a, const Worker* b) { return rank_of(a) < rank_of(b); });
    return static_cast<std::size_t>(first - ready_.begin());
  }

  /// New threads first, then those whose barrier is complete; by chance when the order is shuffled.
  Worker* next_worker() {
    const bool can_start = started_ < threads_;
    const bool start = can_start && (ready_.empty() || !shuffled_ || random_() % 2 == 0);
    if (start) return idle_worker();
    if (ready_.empty()) return nullptr;
    const std::size_t at = choose();
    std::swap(ready_[at], ready_.front());
    Worker* chosen = ready_.front();
    ready_.pop_front();
    return chosen;
  }

  Worker* idle_worker() {
    if (idle_.empty()) {
      workers_.push_back(std::make_unique<Worker>());
      idle_.push_back(workers_.back().get());
      start(*workers_.back());
    }
    Worker* worker = idle_.back();
    idle_.pop_back();
    return worker;
  }

  void start(Worker& worker) {
    worker.fiber = context::fiber(std::allocator_arg, worker.stack.preallocated(), BorrowedStack{},
                                  [this, &worker](context::fiber&& caller) {
                                    worker.caller = std::move(caller);
                                    worker.stack_switch.arrive(&host_bottom_, &host_size_);
                                    for (;;) work(worker);
                                    return std::move(worker.caller);
                                  });
  }

  /// Runs threads until none is left to start, or one when the order is shuffled, then rests.
  void work(Worker& worker) {
    do {
      enter(worker, order_[static_cast<std::size_t>(started_++)]);
      (*body_)();
      ++finished_;
    } while (started_ < threads_ && !shuffled_);
    idle_.push_back(&worker);
    suspend();
  }

  void enter(Worker& worker, int thread) {
    worker.thread = thread;
    threadIdx = dim3(static_cast<unsigned>(thread), 0, 0);
  }

  void resume(Worker& worker) {
    current_ = &worker;
    if (worker.thread >= 0) threadIdx = dim3(static_cast<unsigned>(worker.thread), 0, 0);
    StackSwitch here;
    here.leave(worker.stack.bottom(), kStackBytes);
    worker.fiber = std::move(worker.fiber).resume();
    here.arrive(nullptr, nullptr);
  }

  void suspend() {
    Worker& worker = *current_;
    worker.stack_switch.leave(host_bottom_, host_size_);
    worker.caller = std::move(worker.caller).resume();
    worker.stack_switch.arrive(&host_bottom_, &host_size_);
  }

  /// Waits until all lanes of the warp have given their value; afterwards the values lie in the phase before.
  Warp& meet(std::uint64_t mine) {
    const auto thread = static_cast<std::size_t>(current_->thread);
    Warp& warp = warps_[thread / kWarp];
    warp.values[static_cast<std::size_t>(warp.phase)][thread % kWarp] = mine;
    warp.waiting.push_back(current_);
    if (warp.waiting.size() == kWarp) {
      warp.phase = 1 - warp.phase;
      make_ready(warp.waiting);
    }
    suspend();
    return warp;
  }

  void make_ready(std::vector<Worker*>& waiting) {
    std::sort(waiting.begin(), waiting.end(), [](const Worker* a, const Worker* b) { return a->thread < b->thread; });
    ready_.insert(ready_.end(), waiting.begin(), waiting.end());
    waiting.clear();
  }

  void check_shared_guards() {
    const auto is_guard = [](unsigned char byte) { return byte == kGuardByte; };
    const bool intact = std::all_of(shared_.begin(), shared_.begin() + kSharedGuard, is_guard) &&
                        std::all_of(shared_.end() - kSharedGuard, shared_.end(), is_guard);
    if (!intact && error_.empty()) error_ = "a write outside the block's shared memory";
  }

  /// After an error the fibers are in the middle of a kernel: their stacks are unwound and forgotten.
  void drop_workers() {
    workers_.clear();
    idle_.clear();
    ready_.clear();
    at_barrier_.clear();
  }

  const std::function<void()>* body_ = nullptr;
  int threads_ = 0;
  int started_ = 0;
  int finished_ = 0;
  bool shuffled_ = false;
  bool by_rank_ = false;
  std::mt19937_64 random_;
  std::string error_;
  std::vector<unsigned char> shared_;
  std::vector<int> order_;
  std::vector<int> ranks_;  ///< by warp
  std::vector<Warp> warps_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Worker*> idle_;
  std::deque<Worker*> ready_;
  std::vector<Worker*> at_barrier_;
  Worker* current_ = nullptr;
  const void* host_bottom_ = nullptr;
  std::size_t host_size_ = 0;
};

Scheduler& scheduler() {
  static thread_local Scheduler instance;
  return instance;
}

}  // namespace

std::string run_grid(const GridShape& shape, const std::function<void()>& body) { return scheduler().run(shape, body); }
void set_thread_order(std::uint64_t seed) { scheduler().set_order(seed); }
void* shared_memory() { return scheduler().shared(); }
void block_barrier() { scheduler().barrier(); }
std::uint64_t warp_exchange(std::uint64_t mine, int source) { return scheduler().exchange(mine, source); }
std::uint32_t warp_ballot(bool mine) { return scheduler().ballot(mine); }

}  // namespace cuda_host
