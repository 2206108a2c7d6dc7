#include "app/analysis_worker.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "engine/error.h"

namespace app {

namespace {

constexpr const char* kNoMemory = "The memory does not suffice; close other programs or choose a smaller model.";

std::string sentence(const std::exception& error) {
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ? kNoMemory : error.what();
}

}  // namespace

struct AnalysisWorker::Shared {
  Opener open;

  std::mutex mutex;  // guards everything up to `model`; never held while the engine works
  std::condition_variable_any changed;
  std::vector<Job> wanted;
  bool has_work = false;
  bool forget = false;
  std::uint64_t request = 0;  // results of an older one are dropped
  std::stop_source cancel_current;
  AnalysisSnapshot now;
  std::unique_ptr<AnalysisModel> model;  // the thread's alone
  std::jthread thread;                   // last member: joins before the others go

  void serve(const std::stop_token& stop);
  bool take(std::vector<Job>& jobs, std::uint64_t& taken, std::stop_token& cancelled, const std::stop_token& stop);
  void run_all(const std::vector<Job>& jobs, std::uint64_t taken, const std::stop_token& cancelled);
  void run_one(const Job& job, std::uint64_t taken, const std::stop_token& cancelled);
  void open_model(const std::string& key);
  void post(std::uint64_t taken, const std::function<void(AnalysisSnapshot&)>& change);
};

// Only what belongs to the present request may be seen.
void AnalysisWorker::Shared::post(std::uint64_t taken, const std::function<void(AnalysisSnapshot&)>& change) {
  const std::lock_guard lock(mutex);
  if (taken == request) change(now);
}

bool AnalysisWorker::Shared::take(std::vector<Job>& jobs, std::uint64_t& taken, std::stop_token& cancelled,
                                  const std::stop_token& stop) {
  std::unique_lock lock(mutex);
  if (!changed.wait(lock, stop, [this] { return has_work; })) return false;
  jobs = std::exchange(wanted, {});
  has_work = false;
  taken = request;
  cancel_current = std::stop_source{};
  cancelled = cancel_current.get_token();
  return true;
}

void AnalysisWorker::Shared::open_model(const std::string& key) {
  bool again = false;
  {
    const std::lock_guard lock(mutex);
    again = std::exchange(forget, false);
  }
  if (model != nullptr && model->key == key && !again) return;
  model.reset();  // two models at once could be too many for the device
  model = open(key);
}

void AnalysisWorker::Shared::run_one(const Job& job, std::uint64_t taken, const std::stop_token& cancelled) {
  try {
    open_model(job.run);
    post(taken, [](AnalysisSnapshot& snapshot) { snapshot.state = AnalysisSnapshot::State::measuring; });
    const auto progress = [this, taken](std::int64_t done, std::int64_t total) {
      post(taken, [&](AnalysisSnapshot& snapshot) { snapshot.done = done, snapshot.total = total; });
    };
    std::function<void()> result = job.work(*model, {cancelled, progress});
    if (cancelled.stop_requested()) return;
    post(taken, [&](AnalysisSnapshot& snapshot) { snapshot.results.push_back(std::move(result)); });
  } catch (const engine::Cancelled&) {
  } catch (const std::exception& error) {
    const bool needs_training = dynamic_cast<const NoCheckpoint*>(&error) != nullptr;
    post(taken, [&](AnalysisSnapshot& snapshot) { snapshot.problems.push_back({sentence(error), needs_training}); });
  }
}

void AnalysisWorker::Shared::run_all(const std::vector<Job>& jobs, std::uint64_t taken,
                                     const std::stop_token& cancelled) {
  for (std::size_t i = 0; i < jobs.size() && !cancelled.stop_requested(); ++i) {
    post(taken, [&](AnalysisSnapshot& snapshot) {
      snapshot.state = AnalysisSnapshot::State::loading;
      snapshot.job = i;
      snapshot.done = snapshot.total = 0;
    });
    run_one(jobs[i], taken, cancelled);
  }
  post(taken, [&](AnalysisSnapshot& snapshot) {
    snapshot.state = AnalysisSnapshot::State::idle;
    snapshot.cancelled = cancelled.stop_requested();
  });
}

void AnalysisWorker::Shared::serve(const std::stop_token& stop) {
  std::vector<Job> jobs;
  std::uint64_t taken = 0;
  std::stop_token cancelled;
  while (take(jobs, taken, cancelled, stop)) {
    // Closing the window must end a measurement, too.
    const std::stop_callback forward(stop, [this] {
      const std::lock_guard lock(mutex);
      cancel_current.request_stop();
    });
    run_all(jobs, taken, cancelled);
  }
  model.reset();  // on the thread that made it
}

AnalysisWorker::AnalysisWorker(Opener open) : shared_(std::make_unique<Shared>()) {
  shared_->open = std::move(open);
  shared_->thread = std::jthread([shared = shared_.get()](const std::stop_token& stop) { shared->serve(stop); });
}

AnalysisWorker::~AnalysisWorker() = default;

void AnalysisWorker::run(std::vector<Job> jobs) {
  const std::lock_guard lock(shared_->mutex);
  shared_->now = AnalysisSnapshot{};
  shared_->now.state = AnalysisSnapshot::State::loading;
  shared_->now.jobs = jobs.size();
  shared_->wanted = std::move(jobs);
  shared_->has_work = true;
  ++shared_->request;
  shared_->cancel_current.request_stop();
  shared_->changed.notify_all();
}

void AnalysisWorker::cancel() {
  const std::lock_guard lock(shared_->mutex);
  shared_->cancel_current.request_stop();
  if (!shared_->has_work) return;  // what is under way says itself that it was cancelled
  shared_->wanted.clear();
  shared_->has_work = false;
  shared_->now.state = AnalysisSnapshot::State::idle;
  shared_->now.cancelled = true;
}

void AnalysisWorker::forget_model() {
  const std::lock_guard lock(shared_->mutex);
  shared_->forget = true;
}

AnalysisSnapshot AnalysisWorker::poll() {
  const std::lock_guard lock(shared_->mutex);
  std::vector<std::function<void()>> results = std::exchange(shared_->now.results, {});
  std::vector<AnalysisProblem> problems = std::exchange(shared_->now.problems, {});
  AnalysisSnapshot snapshot = shared_->now;
  snapshot.results = std::move(results);
  snapshot.problems = std::move(problems);
  return snapshot;
}

}  // namespace app
