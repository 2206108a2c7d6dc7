#include "app/live_model.h"

#include <future>
#include <utility>

#include "engine/checkpoint.h"

namespace app {

void LiveModel::begin(const RunData& run, engine::TrainingSession& session) {
  const std::lock_guard lock(mutex_);
  session_ = &session;
  key_ = run.key;
  name_ = run.name;
  seed_ = run.seed;
  recipe_ = run.recipe;
}

void LiveModel::end() {
  const std::lock_guard lock(mutex_);
  session_ = nullptr;
}

std::shared_ptr<const engine::Checkpoint> LiveModel::copy(const std::string& key) {
  std::future<std::shared_ptr<const engine::Checkpoint>> snapshot;
  {
    const std::lock_guard lock(mutex_);
    if (session_ == nullptr || key != key_) return nullptr;
    snapshot = session_->request_snapshot();
  }
  try {
    return snapshot.get();
  } catch (const std::future_error&) {
    return nullptr;  // the window closes
  }
}

std::unique_ptr<AnalysisModel> LiveModel::open(const std::string& key) {
  std::string name;
  std::uint64_t seed = 0;
  std::optional<engine::Recipe> recipe;
  {
    const std::lock_guard lock(mutex_);
    name = name_;
    seed = seed_;
    recipe = recipe_;
  }
  const std::shared_ptr<const engine::Checkpoint> checkpoint = copy(key);  // of no other run, should one begin now
  if (checkpoint == nullptr) return nullptr;
  auto model = std::make_unique<AnalysisModel>(*checkpoint);
  model->key = key;
  model->name = std::move(name);
  model->step = checkpoint->state.value("step", std::int64_t{0});
  model->seed = seed;
  model->recipe = std::move(recipe);
  return model;
}

}  // namespace app
