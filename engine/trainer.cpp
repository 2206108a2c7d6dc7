#include "engine/trainer.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "engine/data/batch_source.h"
#include "engine/error.h"
#include "engine/memory_estimate.h"
#include "engine/run_store.h"
#include "engine/schedule.h"
#include "engine/training_step.h"
#include "engine/validation.h"
#include "engine/version.h"

namespace engine {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "unknown";
}

nlohmann::json run_description(const Recipe& recipe, const TrainerOptions& options, const std::string& device,
                               const std::string& data_hash) {
  return {{"name", recipe.name},
          {"recipe", to_json(recipe)},
          {"seed", options.seed},
          {"steps", recipe.train.steps},
          {"config_hash", config_hash(recipe)},
          {"data_hash", data_hash},
          {"norm_reading", to_string(recipe.model.norm_reading)},
          {"state_tap", to_string(recipe.model.state_tap)},
          {"version", version()},
          {"host", host_name()},
          {"device", device},
          {"state", "training"}};
}

/// Counters that go on over interruptions.
struct Progress {
  std::int64_t step = 0;
  std::int64_t tokens = 0;
  std::int64_t token_equivalents = 0;
  double wall_seconds = 0;
};

class Trainer : public TrainingJob {
 public:
  Trainer(Recipe recipe, TrainerOptions options, std::unique_ptr<data::BatchSource> source)
      : recipe_(std::move(recipe)),
        options_(std::move(options)),
        source_(std::move(source)),
        backend_(kernels::make_backend(options_.device, options_.threads)),
        step_(with_enough_memory(), recipe_.model, options_.group.get()) {
    if (options_.group != nullptr && recipe_.train.rows < options_.group->size()) {
      throw ConfigError("train.rows",
                        "this must be at least the number of processes, " + std::to_string(options_.group->size()));
    }
    step_.reserve(recipe_.train, step_.slice_tokens(own_rows().count, recipe_.data.seq));
  }

  void begin_new() {
    step_.parameters().load(initial_parameters(recipe_.model, options_.seed), "initial parameters");
    if (!writes()) return;
    writer_ = std::make_unique<RunWriter>(RunWriter::create(
        options_.folder, run_description(recipe_, options_, backend_->info().name, source_->data_hash())));
  }

  /// The seed's start values again, for a run that has no checkpoint yet.
  void begin_again() {
    step_.parameters().load(initial_parameters(recipe_.model, options_.seed), "initial parameters");
    if (writes()) writer_ = std::make_unique<RunWriter>(RunWriter::resume(options_.folder, 0));
  }

  void go_on_from(const Checkpoint& checkpoint) {
    const std::string source = options_.folder.string();
    if (!(checkpoint.config == recipe_.model)) throw FormatError(source, "the checkpoint's model is not the run's");
    step_.parameters().load(checkpoint.model, source);
    std::vector<std::int64_t> counts;
    try {
      const nlohmann::json& state = checkpoint.state;
      progress_.step = state.at("step");
      progress_.tokens = state.at("tokens");
      progress_.token_equivalents = state.at("token_equivalents");
      progress_.wall_seconds = state.at("wall_seconds");
      for (const ParameterInfo& info : step_.parameters().layout())
        counts.push_back(state.at("steps_with_gradient").at(info.name));
    } catch (const nlohmann::json::exception& error) {
      throw FormatError(source, std::string("state.json of the checkpoint cannot be used: ") + error.what());
    }
    step_.optimizer().load(checkpoint.optim, counts, recipe_.train.optimizer, source);
    saved_step_ = progress_.step;
    if (!writes()) return;
    writer_ = std::make_unique<RunWriter>(RunWriter::resume(options_.folder, progress_.step));
    writer_->update_run({{"state", "training"}});
  }

  [[nodiscard]] std::int64_t step() const override { return progress_.step; }
  [[nodiscard]] std::int64_t total_steps() const override { return recipe_.train.steps; }
  [[nodiscard]] std::filesystem::path run_folder() const override { return options_.folder; }
  [[nodiscard]] kernels::DeviceInfo device() const override { return backend_->info(); }

  StepMetrics train_step() override {
    const Clock::time_point start = Clock::now();
    const TrainConfig& train = recipe_.train;
    const data::Batch padded = source_->training(options_.seed, progress_.step, train.rows);
    const StepBatch batch =
        make_step_batch(padded, train, options_.seed, progress_.step, passes_at(train, options_.seed, progress_.step),
                        own_rows(), step_.tokens_at_once());
    step_.run(batch, train, options_.seed, progress_.step);
    StepMetrics metrics = read_metrics(batch);
    check_finite(metrics);
    step_.optimise(train, progress_.step);
    advance(metrics, batch.all_tokens, seconds_since(start));
    if (progress_.step % std::max<std::int64_t>(1, train.log_every) == 0 || progress_.step == train.steps) {
      log(to_json(metrics, train.steps));
    }
    return metrics;
  }

  std::optional<ValidationMetrics> validate_if_due() override {
    const TrainConfig& train = recipe_.train;
    const bool wanted = train.validate_every > 0 && writes();
    const bool due = wanted && (progress_.step % train.validate_every == 0 || progress_.step == train.steps);
    if (!due) return std::nullopt;
    const Clock::time_point start = Clock::now();
    const int passes = train.validation_passes > 0 ? train.validation_passes : largest_passes(train);
    ValidationMetrics metrics =
        validate(*backend_, step_.parameters(), *source_, train.validation_rows, passes, train.rows);
    progress_.wall_seconds += seconds_since(start);
    metrics.step = progress_.step;
    metrics.tokens = progress_.tokens;
    metrics.token_equivalents = progress_.token_equivalents;
    metrics.wall_seconds = progress_.wall_seconds;
    log(to_json(metrics, train.steps));
    return metrics;
  }

  void checkpoint_if_due() override {
    const std::int64_t every = recipe_.train.checkpoint_every;
    if (writes() && every > 0 && progress_.step % every == 0) write_checkpoint();
  }

  void save(const char* state) override {
    if (!writes()) return;
    write_checkpoint();
    writer_->update_run({{"state", state}});
  }

  [[nodiscard]] Checkpoint snapshot() override { return model_now(); }

  void discard() override {
    if (!writes()) return;
    const std::filesystem::path folder = writer_->folder();
    writer_.reset();
    std::error_code error;
    std::filesystem::remove_all(folder, error);
    if (error) throw FileError(folder.string(), "could not be removed: " + error.message());
  }

 private:
  /// The first of several processes alone touches the run folder.
  [[nodiscard]] bool writes() const { return options_.group == nullptr || options_.group->rank() == 0; }
  void log(const nlohmann::json& line) {
    if (writes()) writer_->append_metrics(line);
  }
  [[nodiscard]] RowShare own_rows() const {
    const std::int64_t rows = recipe_.train.rows;
    if (options_.group == nullptr) return {0, rows};
    return row_share(rows, options_.group->rank(), options_.group->size());
  }

  /// The device, once the training is known to fit; a refusal comes before anything is allocated.
  kernels::Backend& with_enough_memory() {
    const kernels::DeviceInfo device = backend_->info();
    const std::int64_t rows = own_rows().count;
    require_memory(recipe_, rows * recipe_.data.seq, longest_slice(rows, recipe_.data.seq, device.tokens_at_once),
                   device.memory_total);
    return *backend_;
  }

  StepMetrics read_metrics(const StepBatch& batch) {
    StepMetrics metrics;
    metrics.passes = batch.passes;
    metrics.pass_loss = step_.pass_losses();
    metrics.objective = objective(metrics.pass_loss, recipe_.train.lambda);
    metrics.gradient_norm = step_.gradient_norm();
    metrics.learning_rate = recipe_.train.rate * rate_share(recipe_.train, progress_.step);
    return metrics;
  }

  /// Before the optimiser touches anything, so that the parameters stay those of the last good step.
  void check_finite(const StepMetrics& metrics) {
    if (std::isfinite(metrics.objective) && std::isfinite(metrics.gradient_norm)) return;
    const std::int64_t step = progress_.step + 1;
    for (const HostTensor& tensor : step_.parameters().store()) require_finite(tensor, step, "");
    for (std::size_t k = 0; k < metrics.pass_loss.size(); ++k) {
      if (!std::isfinite(metrics.pass_loss[k])) throw NonFiniteError(step, "loss of pass " + std::to_string(k + 1));
    }
    for (const HostTensor& tensor : step_.parameters().store_gradients()) require_finite(tensor, step, "gradient of ");
    throw NonFiniteError(step, "gradient norm");
  }

  static void require_finite(const HostTensor& tensor, std::int64_t step, const std::string& prefix) {
    const bool finite =
        std::all_of(tensor.values.begin(), tensor.values.end(), [](float v) { return std::isfinite(v); });
    if (!finite) throw NonFiniteError(step, prefix + tensor.name);
  }

  void advance(StepMetrics& metrics, std::int64_t tokens, double seconds) {
    progress_.step += 1;
    progress_.tokens += tokens;
    progress_.token_equivalents += tokens * metrics.passes;
    progress_.wall_seconds += seconds;
    metrics.step = progress_.step;
    metrics.tokens = progress_.tokens;
    metrics.token_equivalents = progress_.token_equivalents;
    metrics.wall_seconds = progress_.wall_seconds;
    metrics.unix_seconds = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    metrics.tokens_per_second = seconds > 0 ? static_cast<double>(tokens) / seconds : 0.0;
  }

  /// The model, and how far its training is.
  [[nodiscard]] Checkpoint model_now() {
    Checkpoint checkpoint;
    checkpoint.config = recipe_.model;
    checkpoint.model = step_.parameters().store();
    checkpoint.tokenizer = source_->tokenizer().to_json();
    checkpoint.state = {{"step", progress_.step},
                        {"tokens", progress_.tokens},
                        {"token_equivalents", progress_.token_equivalents},
                        {"wall_seconds", progress_.wall_seconds},
                        {"seed", options_.seed}};
    return checkpoint;
  }

  void write_checkpoint() {
    if (saved_step_ == progress_.step) return;
    Checkpoint checkpoint = model_now();
    // The last step may have overflowed: that must not take the place of a good checkpoint.
    for (const HostTensor& tensor : checkpoint.model) require_finite(tensor, progress_.step, "");
    checkpoint.optim = step_.optimizer().store(recipe_.train.optimizer);
    for (std::size_t i = 0; i < step_.parameters().layout().size(); ++i) {
      checkpoint.state["steps_with_gradient"][step_.parameters().layout()[i].name] = step_.optimizer().counts()[i];
    }
    writer_->write_checkpoint(progress_.step, checkpoint);
    saved_step_ = progress_.step;
  }

  Recipe recipe_;
  TrainerOptions options_;
  std::unique_ptr<data::BatchSource> source_;
  std::unique_ptr<kernels::Backend> backend_;
  TrainingStep step_;
  std::unique_ptr<RunWriter> writer_;  ///< null where another process writes
  Progress progress_;
  std::int64_t saved_step_ = -1;
};

}  // namespace

std::unique_ptr<TrainingJob> make_trainer(const Recipe& recipe, const TrainerOptions& options) {
  if (options.resume) return resume_trainer(options);
  recipe.validate();
  Recipe complete = recipe;
  auto source = data::make_batch_source(recipe.data);
  complete.model.vocab = source->tokenizer().vocab();
  auto trainer = std::make_unique<Trainer>(std::move(complete), options, std::move(source));
  trainer->begin_new();
  return trainer;
}

namespace {

/// What run.json says about how the run was begun.
struct BegunRun {
  Recipe recipe;
  std::uint64_t seed = 1;
  std::string data_hash;
};

BegunRun read_begun_run(const std::filesystem::path& folder) {
  const nlohmann::json run = read_run(folder);
  try {
    return {recipe_from_json(run.at("recipe")), run.at("seed"), run.at("data_hash")};
  } catch (const nlohmann::json::exception& error) {
    throw FormatError((folder / "run.json").string(), std::string("cannot be used to go on: ") + error.what());
  }
}

/// A run that was killed before its first checkpoint has none; broken ones do not count as none.
bool has_checkpoints(const std::filesystem::path& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "checkpoints", error)) {
    if (std::filesystem::exists(entry.path() / "DONE")) return true;
  }
  return false;
}

}  // namespace

std::unique_ptr<TrainingJob> resume_trainer(const TrainerOptions& options) {
  const BegunRun run = read_begun_run(options.folder);
  TrainerOptions resumed = options;
  resumed.seed = run.seed;
  std::optional<Checkpoint> checkpoint;
  std::shared_ptr<const data::Tokenizer> tokenizer;
  if (has_checkpoints(options.folder)) {
    checkpoint = read_newest_checkpoint(options.folder, true);
    tokenizer = data::tokenizer_from_json(checkpoint->tokenizer);
  }
  auto source = data::make_batch_source(run.recipe.data, tokenizer);
  if (run.data_hash != source->data_hash()) {
    throw FileError(options.folder.string(), "cannot go on: the training data changed since the run began");
  }
  auto trainer = std::make_unique<Trainer>(run.recipe, resumed, std::move(source));
  if (checkpoint) {
    trainer->go_on_from(*checkpoint);
  } else {
    trainer->begin_again();
  }
  return trainer;
}

}  // namespace engine
