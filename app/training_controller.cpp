#include "app/training_controller.h"

#include <algorithm>
#include <cmath>
#include <system_error>
#include <utility>

#include "app/paths.h"
#include "engine/trainer.h"

namespace app {

namespace {

constexpr int kPollMilliseconds = 40;
constexpr int kTellMilliseconds = 150;  // numbers that change faster cannot be read
constexpr std::size_t kRecentSteps = 50;

/// A recipe's name as part of a folder's name: nothing that a file system could take amiss.
std::string folder_name(const std::string& name) {
  std::string result;
  for (const char c : name) {
    const bool separator = c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
    result += separator || c == ' ' ? '-' : c;
  }
  if (result.empty() || result.front() == '.') result = "run" + result;
  return result;
}

int passes_at(const engine::TrainConfig& train, double share) {
  double end = 0;
  for (const engine::Stage& stage : train.schedule) {
    end += stage.share;
    if (share < end) return stage.passes;
  }
  return train.schedule.empty() ? 1 : train.schedule.back().passes;
}

double mean_passes(const engine::TrainConfig& train) {
  double mean = 0;
  for (const engine::Stage& stage : train.schedule) mean += stage.share * stage.passes;
  return mean;
}

/// Passes still to be done, over all remaining steps.
double passes_left(const engine::TrainConfig& train, std::int64_t step, std::int64_t total) {
  if (train.interleaved) return mean_passes(train) * static_cast<double>(total - step);
  double sum = 0;
  const std::int64_t stride = std::max<std::int64_t>(1, (total - step) / 1000);
  for (std::int64_t at = step; at < total; at += stride) {
    const auto weight = static_cast<double>(std::min(stride, total - at));
    sum += weight * passes_at(train, static_cast<double>(at) / static_cast<double>(total));
  }
  return sum;
}

}  // namespace

JobMaker real_jobs() {
  return [](const TrainingRequest& request) {
    engine::TrainerOptions options;
    options.folder = request.folder;
    options.seed = request.seed;
    options.resume = request.resume;
    return request.resume ? engine::resume_trainer(options) : engine::make_trainer(request.recipe, options);
  };
}

double seconds_left(const engine::Recipe& recipe, std::int64_t step, std::int64_t total_steps,
                    const std::vector<engine::StepMetrics>& recent) {
  if (recent.size() < 2 || step >= total_steps) return 0;
  const std::size_t first = recent.size() > kRecentSteps ? recent.size() - kRecentSteps : 0;
  double passes = 0;
  for (std::size_t i = first + 1; i < recent.size(); ++i) passes += recent[i].passes;
  const double seconds = recent.back().wall_seconds - recent[first].wall_seconds;
  if (passes <= 0 || !(seconds > 0)) return 0;
  // Logging every n-th step leaves steps out: scale to the steps that the span really covers.
  const auto covered = static_cast<double>(recent.back().step - recent[first].step);
  const double per_pass = seconds / (passes * covered / static_cast<double>(recent.size() - 1 - first));
  return per_pass * passes_left(recipe.train, step, total_steps);
}

TrainingController::TrainingController(JobMaker make_job, QObject* parent)
    : QObject(parent), make_job_(std::move(make_job)), runs_folder_(default_runs_folder()) {
  timer_.setInterval(kPollMilliseconds);
  connect(&timer_, &QTimer::timeout, this, &TrainingController::poll);
}

TrainingController::~TrainingController() { live_model_->end(); }

std::filesystem::path TrainingController::free_folder(const std::string& name, std::uint64_t seed) const {
  const std::string base = folder_name(name) + "-seed" + std::to_string(seed);
  std::filesystem::path folder = runs_folder_ / base;
  std::error_code error;
  for (int number = 2; std::filesystem::exists(folder, error); ++number) {
    folder = runs_folder_ / (base + "-" + std::to_string(number));
  }
  return folder;
}

bool TrainingController::launch(const TrainingRequest& request, RunData run) {
  if (!session_.start([make_job = make_job_, request] { return make_job(request); })) return false;
  last_request_ = request;
  live_ = std::make_shared<RunData>(std::move(run));
  live_model_->begin(*live_, session_);
  now_ = session_.poll();
  timer_.start();
  emit started(QString::fromStdString(live_->key));
  emit state_changed();
  return true;
}

bool TrainingController::start(const engine::Recipe& recipe, std::uint64_t seed) {
  recipe.validate();
  if (session_.busy()) return false;
  TrainingRequest request{recipe, free_folder(recipe.name, seed), seed, false};
  RunData run;
  run.key = request.folder.string();
  run.name = recipe.name;
  run.seed = seed;
  run.recipe = recipe;
  run.config_hash = engine::config_hash(recipe);
  run.total_steps = recipe.train.steps;
  return launch(request, std::move(run));
}

bool TrainingController::continue_run(const std::filesystem::path& folder, const RunData& known) {
  TrainingRequest request;
  if (known.recipe) request.recipe = *known.recipe;
  request.folder = folder;
  request.seed = known.seed;
  request.resume = true;
  RunData run = known;
  if (!launch(request, std::move(run))) return false;
  reading_again_ = true;  // resuming may cut the tail of the metrics: they are read again after the first step
  return true;
}

void TrainingController::rewind() {
  if (last_request_) start_again(last_request_->seed);
}

void TrainingController::rewind_with_new_seed() {
  if (last_request_) start_again(last_request_->seed + 1);
}

void TrainingController::start_again(std::uint64_t seed) {
  if (session_.busy()) {
    seed_after_stop_ = seed;
    session_.stop_and_save();
    return;
  }
  const engine::Recipe recipe = last_request_->recipe;
  start(recipe, seed);
}

double TrainingController::seconds_left() const {
  if (!live_ || !live_->recipe || !busy()) return 0;
  return app::seconds_left(*live_->recipe, now_.step, now_.total_steps, live_->steps);
}

// The mailbox dropped steps, or the metrics were cut: the file has them all.
void TrainingController::read_again() {
  background_.run([this, folder = last_request_->folder, live = live_]() -> Background::Done {
    auto all = std::make_shared<RunData>(load_run_folder(folder));
    return [this, all, live] {
      if (live != live_ || all->steps.empty()) return;
      const auto is_new = [last = all->step()](const auto& metrics) { return metrics.step > last; };
      std::copy_if(live->steps.begin(), live->steps.end(), std::back_inserter(all->steps), is_new);
      std::copy_if(live->validations.begin(), live->validations.end(), std::back_inserter(all->validations), is_new);
      live_->steps = std::move(all->steps);
      live_->validations = std::move(all->validations);
      ++live_->rewrites;
      emit progressed();
    };
  });
}

void TrainingController::take_values() {
  if (reading_again_) {
    const std::int64_t first = now_.steps.empty() ? now_.step : now_.steps.front().step;
    const auto is_replaced = [first](const auto& metrics) { return metrics.step >= first; };
    std::erase_if(live_->steps, is_replaced);
    std::erase_if(live_->validations, is_replaced);
    ++live_->rewrites;
    reading_again_ = false;
  }
  add_snapshot(*live_, now_);
  untold_ = true;
  if (now_.overflowed) read_again();
}

void TrainingController::tell_if_due(bool now) {
  if (!untold_ || (!now && told_.isValid() && !told_.hasExpired(kTellMilliseconds))) return;
  untold_ = false;
  told_.start();
  emit progressed();
}

void TrainingController::poll() {
  const engine::TrainingState before = now_.state;
  now_ = session_.poll();
  if (live_ && (!now_.steps.empty() || !now_.validations.empty())) take_values();
  tell_if_due(now_.state != before);
  if (now_.state != before) emit state_changed();
  if (busy()) return;
  timer_.stop();
  if (const auto seed = std::exchange(seed_after_stop_, std::nullopt)) start_again(*seed);
}

}  // namespace app
