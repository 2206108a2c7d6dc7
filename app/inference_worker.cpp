#include "app/inference_worker.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <iterator>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

namespace app {

namespace {

constexpr const char* kNoMemory = "The memory does not suffice; close other programs or choose a smaller model.";

std::string sentence(const std::exception& error) {
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ? kNoMemory : error.what();
}

}  // namespace

struct InferenceWorker::Shared {
  struct Work {
    DecoderFactory make_decoder;  // set: load first
    std::vector<engine::RolloutRequest> requests;
    std::uint64_t ticket = 0;
  };

  std::mutex mutex;  // guards everything up to `thread`; never held while the model works
  std::condition_variable_any changed;
  Work wanted;
  bool has_work = false;
  std::stop_source cancel_current;
  std::uint64_t tickets = 0;
  WorkerSnapshot now;
  std::jthread thread;  // last member: joins before the others go

  void serve(const std::stop_token& stop);
  bool take(Work& work, std::stop_token& cancelled, const std::stop_token& stop);
  void load(std::unique_ptr<Decoder>& decoder, const DecoderFactory& make_decoder);
  void decode(Decoder& decoder, const Work& work, const std::stop_token& cancelled);
  void decode_one(Decoder& decoder, const engine::RolloutRequest& request, std::uint64_t ticket,
                  const std::stop_token& cancelled);
  void post(RolloutEvent event);
  void set_state(WorkerSnapshot::State state);
  void rest(bool has_model);
};

void InferenceWorker::Shared::post(RolloutEvent event) {
  const std::lock_guard lock(mutex);
  now.events.push_back(std::move(event));
}

void InferenceWorker::Shared::set_state(WorkerSnapshot::State state) {
  const std::lock_guard lock(mutex);
  now.state = state;
}

// Work that arrived meanwhile goes on without a moment of rest in between.
void InferenceWorker::Shared::rest(bool has_model) {
  const std::lock_guard lock(mutex);
  if (!has_work) now.state = has_model ? WorkerSnapshot::State::ready : WorkerSnapshot::State::empty;
}

bool InferenceWorker::Shared::take(Work& work, std::stop_token& cancelled, const std::stop_token& stop) {
  std::unique_lock lock(mutex);
  if (!changed.wait(lock, stop, [this] { return has_work; })) return false;
  work = std::exchange(wanted, Work{});
  has_work = false;
  cancel_current = std::stop_source{};
  cancelled = cancel_current.get_token();
  now.state = work.make_decoder ? WorkerSnapshot::State::loading : WorkerSnapshot::State::decoding;
  return true;
}

void InferenceWorker::Shared::load(std::unique_ptr<Decoder>& decoder, const DecoderFactory& make_decoder) {
  try {
    decoder.reset();  // two models at once could be too many for the device
    decoder = make_decoder();
    ModelInfo info = decoder->info();
    const std::lock_guard lock(mutex);
    now.model = std::move(info);
    now.reloaded = true;
    now.problem.clear();
  } catch (const std::exception& error) {
    decoder.reset();
    const std::lock_guard lock(mutex);
    now.model = ModelInfo{};
    now.reloaded = true;
    now.problem = sentence(error);
  }
}

void InferenceWorker::Shared::decode_one(Decoder& decoder, const engine::RolloutRequest& request, std::uint64_t ticket,
                                         const std::stop_token& cancelled) {
  RolloutEvent event;
  event.ticket = ticket;
  event.mode = request.mode;
  try {
    event.prompt = decoder.read_prompt(request.prompt);
    post(event);
    event.kind = RolloutEvent::Kind::token;
    event.prompt = {};
    const auto on_token = [&](const engine::RolloutToken& token) {
      event.token = token;
      post(event);
    };
    engine::Rollout rollout = decoder.rollout(request, on_token, cancelled);
    event.kind = RolloutEvent::Kind::finished;
    if (rollout.stop != engine::StopReason::cancelled) event.verdict = decoder.judge(request.prompt, rollout.text);
    event.rollout = std::move(rollout);
  } catch (const std::exception& error) {
    event.kind = RolloutEvent::Kind::failed;
    event.message = sentence(error);
  }
  post(std::move(event));
}

void InferenceWorker::Shared::decode(Decoder& decoder, const Work& work, const std::stop_token& cancelled) {
  for (const engine::RolloutRequest& request : work.requests) {
    if (cancelled.stop_requested()) return;
    decode_one(decoder, request, work.ticket, cancelled);
  }
}

void InferenceWorker::Shared::serve(const std::stop_token& stop) {
  std::unique_ptr<Decoder> decoder;
  Work work;
  std::stop_token cancelled;
  while (take(work, cancelled, stop)) {
    // Closing the window must end a rollout, too.
    const std::stop_callback forward(stop, [this] {
      const std::lock_guard lock(mutex);
      cancel_current.request_stop();
    });
    if (work.make_decoder) load(decoder, work.make_decoder);
    if (!work.requests.empty() && decoder != nullptr) {
      set_state(WorkerSnapshot::State::decoding);
      decode(*decoder, work, cancelled);
    }
    rest(decoder != nullptr);
  }
}

InferenceWorker::InferenceWorker() : shared_(std::make_unique<Shared>()) {
  shared_->thread = std::jthread([shared = shared_.get()](const std::stop_token& stop) { shared->serve(stop); });
}

InferenceWorker::~InferenceWorker() = default;

void InferenceWorker::load(DecoderFactory make_decoder) {
  const std::lock_guard lock(shared_->mutex);
  shared_->wanted = Shared::Work{};
  shared_->wanted.make_decoder = std::move(make_decoder);
  shared_->has_work = true;
  shared_->cancel_current.request_stop();
  shared_->now.state = WorkerSnapshot::State::loading;
  shared_->changed.notify_all();
}

std::uint64_t InferenceWorker::run(std::vector<engine::RolloutRequest> requests) {
  const std::lock_guard lock(shared_->mutex);
  shared_->wanted.requests = std::move(requests);  // a load that waits is kept and done first
  shared_->wanted.ticket = ++shared_->tickets;
  shared_->has_work = true;
  if (shared_->now.state != WorkerSnapshot::State::loading) shared_->now.state = WorkerSnapshot::State::decoding;
  shared_->cancel_current.request_stop();
  shared_->changed.notify_all();
  return shared_->tickets;
}

void InferenceWorker::cancel() {
  const std::lock_guard lock(shared_->mutex);
  shared_->wanted.requests.clear();
  shared_->cancel_current.request_stop();
}

WorkerSnapshot InferenceWorker::poll() {
  const std::lock_guard lock(shared_->mutex);
  std::vector<RolloutEvent> events = std::exchange(shared_->now.events, {});
  WorkerSnapshot snapshot = shared_->now;
  snapshot.events = std::move(events);
  shared_->now.reloaded = false;
  return snapshot;
}

}  // namespace app
