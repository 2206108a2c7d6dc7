// The threads that help a thread with an operation. Those of OpenMP keep spinning while they wait, which makes training
// many times slower beside a busy program; these look for work for some microseconds and then sleep.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>

namespace kernels::cpu {

class ThreadTeam {
 public:
  using Call = void (*)(const void* body, int index);

  /// The team of the calling thread; its threads start when they are first needed and end with the calling thread.
  static ThreadTeam& of_this_thread();

  ThreadTeam() = default;
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;
  ~ThreadTeam();

  /// call(body, index) for every index below `size`, index 0 on the calling thread; returns when all are done. The
  /// calls must not throw.
  void run(int size, Call call, const void* body);

  /// Before a run: each of the `size` threads owns `parts` parts, of which none has begun.
  void set_shares(int size, int parts);
  /// Inside a run: the next part for thread `index`, numbered over all shares, or -1 when all have begun. A thread
  /// takes its own in order, which its cache may hold, and then what the others have left.
  int next_part(int size, int index);

 private:
  static constexpr std::size_t kCacheLine = 64;

  struct alignas(kCacheLine) Share {
    std::atomic<int> begun{0};
  };

  /// A number that one thread changes and another waits for.
  class alignas(kCacheLine) Signal {
   public:
    void add(std::int64_t difference);
    void set(std::int64_t value) { value_.store(value, std::memory_order_relaxed); }
    /// Returns once the number is `wanted`: looks for a while, then sleeps.
    void wait_for(std::int64_t wanted);

   private:
    std::atomic<std::int64_t> value_{0};
    std::mutex mutex_;
    std::condition_variable changed_;
  };
  struct Job {
    Call call = nullptr;  // null: the thread ends
    const void* body = nullptr;
  };
  struct Helper {
    Signal jobs;  // handed to this helper so far
    std::thread thread;
  };

  void help(Helper& helper, int index);

  Job job_;
  int parts_of_share_ = 0;
  std::deque<Share> shares_;
  std::deque<Helper> helpers_;
  Signal unfinished_;
};

}  // namespace kernels::cpu
