#include "engine/training_session.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "engine/error.h"

namespace engine {

namespace {

enum class Command { pause, resume, single_step, save, discard, finish, snapshot };

// A caller that sleeps for seconds must not make memory grow: past this many steps the oldest are dropped.
constexpr std::size_t kMailboxSteps = 4096;
constexpr std::size_t kMailboxValidations = 1024;

bool is_stop(Command command) {
  return command == Command::save || command == Command::discard || command == Command::finish;
}

/// Smoothed seconds a step, for the time that is left.
class StepClock {
 public:
  void tick() {
    const auto now = std::chrono::steady_clock::now();
    if (last_) {
      const double seconds = std::chrono::duration<double>(now - *last_).count();
      average_ = average_ == 0 ? seconds : 0.95 * average_ + 0.05 * seconds;
    }
    last_ = now;
  }
  /// A pause must not count as a slow step.
  void interrupt() { last_.reset(); }
  [[nodiscard]] double seconds_for(std::int64_t steps) const { return average_ * static_cast<double>(steps); }

 private:
  std::optional<std::chrono::steady_clock::time_point> last_;
  double average_ = 0;
};

template <typename Value>
void push_bounded(std::deque<Value>& queue, Value value, std::size_t capacity, bool& overflowed) {
  if (queue.size() == capacity) {
    queue.pop_front();
    overflowed = true;
  }
  queue.push_back(std::move(value));
}

template <typename Value>
std::vector<Value> to_vector(std::deque<Value>&& queue) {
  return {std::make_move_iterator(queue.begin()), std::make_move_iterator(queue.end())};
}

}  // namespace

using SnapshotPromise = std::promise<std::shared_ptr<const Checkpoint>>;

struct TrainingSession::Shared {
  // Everything down to `steps` is shared between the two threads and guarded by `mutex`, which is never held over a
  // step, a save or a call of the job.
  mutable std::mutex mutex;
  std::condition_variable_any changed;
  std::deque<Command> commands;
  JobFactory factory;
  TrainingSnapshot now;  // its vectors stay empty: they are filled from the two queues
  std::deque<StepMetrics> steps;
  std::deque<ValidationMetrics> validations;
  std::deque<SnapshotPromise> snapshots;  // one a snapshot command

  std::jthread thread;  // last member: joins before the others go

  // ---- called by the owner -----------------------------------------------------------------------------------------
  [[nodiscard]] bool busy_locked() const {
    return now.state != TrainingState::idle && now.state != TrainingState::failed;
  }
  void send(Command command);
  void mirror(Command command);

  // ---- the engine thread -------------------------------------------------------------------------------------------
  void serve(const std::stop_token& stop);
  void run(const JobFactory& make_job, const std::stop_token& stop);
  TrainingEnd drive(TrainingJob& job, const std::stop_token& stop);
  std::optional<Command> next_command(bool wait, const std::stop_token& stop);
  bool step_once(TrainingJob& job, StepClock& clock);
  TrainingEnd finish(TrainingJob& job, Command how);
  bool discard_wanted();
  void take_snapshot(TrainingJob& job);
  void publish(const TrainingJob& job, const StepMetrics& metrics, const StepClock& clock);
  void set_state(TrainingState state);
  void end(TrainingEnd how, const std::string& message);
};

// The state changes at once so that a button can mirror it; the engine thread follows between steps.
void TrainingSession::Shared::mirror(Command command) {
  if (command == Command::pause && now.state == TrainingState::running) now.state = TrainingState::pausing;
  if (is_stop(command) && now.state != TrainingState::saving) now.state = TrainingState::stopping;
}

void TrainingSession::Shared::send(Command command) {
  const std::lock_guard lock(mutex);
  if (!busy_locked()) return;
  if (command == Command::single_step && now.state != TrainingState::paused) return;
  commands.push_back(command);
  mirror(command);
  changed.notify_all();
}

void TrainingSession::Shared::set_state(TrainingState state) {
  const std::lock_guard lock(mutex);
  if (now.state != TrainingState::stopping || state == TrainingState::saving) now.state = state;
}

std::optional<Command> TrainingSession::Shared::next_command(bool wait, const std::stop_token& stop) {
  std::unique_lock lock(mutex);
  if (wait) changed.wait(lock, stop, [this] { return !commands.empty(); });
  if (commands.empty()) return std::nullopt;
  const Command command = commands.front();
  commands.pop_front();
  return command;
}

void TrainingSession::Shared::publish(const TrainingJob& job, const StepMetrics& metrics, const StepClock& clock) {
  const kernels::DeviceInfo device = job.device();
  const std::lock_guard lock(mutex);
  now.step = job.step();
  now.seconds_left = clock.seconds_for(job.total_steps() - job.step());
  now.device = device;
  push_bounded(steps, metrics, kMailboxSteps, now.overflowed);
}

// Returns false when a number was not finite: the training then waits for a stop.
bool TrainingSession::Shared::step_once(TrainingJob& job, StepClock& clock) {
  try {
    const StepMetrics metrics = job.train_step();
    clock.tick();
    publish(job, metrics, clock);
    if (auto validation = job.validate_if_due()) {
      const std::lock_guard lock(mutex);
      push_bounded(validations, std::move(*validation), kMailboxValidations, now.overflowed);
    }
    job.checkpoint_if_due();
    return true;
  } catch (const NonFiniteError& error) {
    const std::lock_guard lock(mutex);
    now.non_finite = true;
    now.message = error.what();
    return false;
  }
}

bool TrainingSession::Shared::discard_wanted() {
  const std::lock_guard lock(mutex);
  for (const Command command : commands) {
    if (command == Command::discard) return true;
  }
  return false;
}

// A model that cannot be copied is the asker's problem, not the training's.
void TrainingSession::Shared::take_snapshot(TrainingJob& job) {
  SnapshotPromise promise;
  {
    const std::lock_guard lock(mutex);
    if (snapshots.empty()) return;
    promise = std::move(snapshots.front());
    snapshots.pop_front();
  }
  try {
    promise.set_value(std::make_shared<const Checkpoint>(job.snapshot()));
  } catch (...) {
    promise.set_exception(std::current_exception());
  }
}

TrainingEnd TrainingSession::Shared::finish(TrainingJob& job, Command how) {
  bool discard = how == Command::discard;
  if (!discard) {
    set_state(TrainingState::saving);
    bool broken = false;
    {
      const std::lock_guard lock(mutex);
      broken = now.non_finite;
    }
    // After a non-finite number the weights are spoilt, so the last good checkpoint stays the newest.
    if (!broken) job.save(how == Command::finish ? "done" : "stopped");
    discard = discard_wanted();
    if (!discard) return how == Command::finish && !broken ? TrainingEnd::done : TrainingEnd::stopped;
  }
  job.discard();
  return TrainingEnd::discarded;
}

TrainingEnd TrainingSession::Shared::drive(TrainingJob& job, const std::stop_token& stop) {
  StepClock clock;
  bool paused = false;
  bool finite = true;
  set_state(TrainingState::running);
  while (!stop.stop_requested()) {
    bool single = false;
    while (const auto command = next_command(paused && !single, stop)) {
      if (is_stop(*command)) return finish(job, *command);
      if (*command == Command::snapshot) {
        take_snapshot(job);
        continue;
      }
      if (*command == Command::pause) paused = true;
      if (*command == Command::resume && finite) paused = false;
      if (*command == Command::single_step) single = paused && finite;
      if (single) break;
      if (paused) clock.interrupt();
      set_state(paused ? TrainingState::paused : TrainingState::running);
    }
    if (stop.stop_requested()) break;
    if (job.step() >= job.total_steps()) return finish(job, Command::finish);
    finite = step_once(job, clock);
    if (!finite) paused = true;
    if (paused) clock.interrupt();
    if (paused) set_state(TrainingState::paused);
  }
  return TrainingEnd::stopped;
}

void TrainingSession::Shared::end(TrainingEnd how, const std::string& message) {
  const std::lock_guard lock(mutex);
  now.state = how == TrainingEnd::failed ? TrainingState::failed : TrainingState::idle;
  now.end = how;
  if (how == TrainingEnd::failed) now.message = message;
  now.seconds_left = 0;
  commands.clear();
  for (SnapshotPromise& promise : snapshots) promise.set_value(nullptr);
  snapshots.clear();
}

void TrainingSession::Shared::run(const JobFactory& make_job, const std::stop_token& stop) {
  TrainingEnd how = TrainingEnd::failed;
  std::string message;
  try {
    // The job ends with this block, before the state says that another may start.
    const std::unique_ptr<TrainingJob> job = make_job();
    const kernels::DeviceInfo device = job->device();
    {
      const std::lock_guard lock(mutex);
      now.step = job->step();
      now.total_steps = job->total_steps();
      now.run_folder = job->run_folder();
      now.device = device;
    }
    how = drive(*job, stop);
  } catch (const std::bad_alloc&) {
    message = "The memory does not suffice; lower the rows, the tokens a row or the width.";
  } catch (const std::exception& error) {
    message = error.what();
  }
  end(how, message);
}

void TrainingSession::Shared::serve(const std::stop_token& stop) {
  while (true) {
    JobFactory make_job;
    {
      std::unique_lock lock(mutex);
      if (!changed.wait(lock, stop, [this] { return factory != nullptr; })) return;
      make_job = std::exchange(factory, nullptr);
    }
    run(make_job, stop);
  }
}

TrainingSession::TrainingSession() : shared_(std::make_unique<Shared>()) {
  shared_->thread = std::jthread([shared = shared_.get()](const std::stop_token& stop) { shared->serve(stop); });
}

TrainingSession::~TrainingSession() = default;

bool TrainingSession::start(JobFactory make_job) {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->busy_locked() || !make_job) return false;
  shared_->now = TrainingSnapshot{};
  shared_->now.state = TrainingState::starting;
  shared_->steps.clear();
  shared_->validations.clear();
  shared_->commands.clear();
  shared_->factory = std::move(make_job);
  shared_->changed.notify_all();
  return true;
}

void TrainingSession::pause() { shared_->send(Command::pause); }
void TrainingSession::resume() { shared_->send(Command::resume); }
void TrainingSession::single_step() { shared_->send(Command::single_step); }
void TrainingSession::stop_and_save() { shared_->send(Command::save); }
void TrainingSession::stop_and_discard() { shared_->send(Command::discard); }
void TrainingSession::finish_now() { shared_->send(Command::finish); }

std::future<std::shared_ptr<const Checkpoint>> TrainingSession::request_snapshot() {
  const std::lock_guard lock(shared_->mutex);
  SnapshotPromise promise;
  auto snapshot = promise.get_future();
  if (!shared_->busy_locked()) {
    promise.set_value(nullptr);
    return snapshot;
  }
  shared_->snapshots.push_back(std::move(promise));
  shared_->commands.push_back(Command::snapshot);
  shared_->changed.notify_all();
  return snapshot;
}

TrainingSnapshot TrainingSession::poll() {
  std::deque<StepMetrics> steps;
  std::deque<ValidationMetrics> validations;
  TrainingSnapshot snapshot;
  {
    const std::lock_guard lock(shared_->mutex);
    snapshot = shared_->now;
    shared_->now.overflowed = false;
    steps.swap(shared_->steps);
    validations.swap(shared_->validations);
  }
  snapshot.steps = to_vector(std::move(steps));
  snapshot.validations = to_vector(std::move(validations));
  return snapshot;
}

TrainingState TrainingSession::state() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->now.state;
}

bool TrainingSession::busy() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->busy_locked();
}

const char* to_string(TrainingState state) {
  switch (state) {
    case TrainingState::idle:
      return "idle";
    case TrainingState::starting:
      return "starting";
    case TrainingState::running:
      return "running";
    case TrainingState::pausing:
      return "pausing";
    case TrainingState::paused:
      return "paused";
    case TrainingState::stopping:
      return "stopping";
    case TrainingState::saving:
      return "saving";
    case TrainingState::failed:
      return "failed";
  }
  return "unknown";
}

}  // namespace engine
