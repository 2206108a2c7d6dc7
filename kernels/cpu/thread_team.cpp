#include "kernels/cpu/thread_team.h"

namespace kernels::cpu {
namespace {

/// Long enough for the short gaps between operations, too short to keep others from the core.
constexpr int kLooks = 1000;

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

void ThreadTeam::Signal::add(std::int64_t difference) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    value_.fetch_add(difference, std::memory_order_release);
  }
  changed_.notify_one();
}

void ThreadTeam::Signal::wait_for(std::int64_t wanted) {
  for (int look = 0; look < kLooks; ++look) {
    if (value_.load(std::memory_order_acquire) == wanted) return;
    pause_briefly();
  }
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return value_.load(std::memory_order_acquire) == wanted; });
}

ThreadTeam& ThreadTeam::of_this_thread() {
  thread_local ThreadTeam team;
  return team;
}

ThreadTeam::~ThreadTeam() {
  job_ = {};
  for (Helper& helper : helpers_) helper.jobs.add(1);
  for (Helper& helper : helpers_) helper.thread.join();
}

void ThreadTeam::run(int size, Call call, const void* body) {
  const int helpers = size - 1;
  while (static_cast<int>(helpers_.size()) < helpers) {
    const int index = static_cast<int>(helpers_.size()) + 1;
    Helper& helper = helpers_.emplace_back();
    helper.thread = std::thread([this, &helper, index] { help(helper, index); });
  }
  job_ = {call, body};
  unfinished_.set(helpers);
  for (int i = 0; i < helpers; ++i) helpers_[static_cast<std::size_t>(i)].jobs.add(1);
  call(body, 0);
  unfinished_.wait_for(0);
}

void ThreadTeam::set_shares(int size, int parts) {
  parts_of_share_ = parts;
  while (static_cast<int>(shares_.size()) < size) shares_.emplace_back();
  for (Share& share : shares_) share.begun.store(0, std::memory_order_relaxed);
}

int ThreadTeam::next_part(int size, int index) {
  for (int i = 0; i < size; ++i) {
    const int owner = (index + i) % size;
    std::atomic<int>& begun = shares_[static_cast<std::size_t>(owner)].begun;
    if (begun.load(std::memory_order_relaxed) >= parts_of_share_) continue;
    const int part = begun.fetch_add(1, std::memory_order_relaxed);
    if (part < parts_of_share_) return owner * parts_of_share_ + part;
  }
  return -1;
}

void ThreadTeam::help(Helper& helper, int index) {
  for (std::int64_t next = 1;; ++next) {
    helper.jobs.wait_for(next);
    const Job job = job_;
    if (job.call == nullptr) return;
    job.call(job.body, index);
    unfinished_.add(-1);
  }
}

}  // namespace kernels::cpu
