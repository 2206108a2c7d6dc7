// fullband-cli train: trains a recipe into a run folder, or goes on with one.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <iomanip>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "app/cli/checks.h"
#include "app/cli/cli.h"
#include "app/cli/json_line.h"
#include "app/cli/processes.h"
#include "app/cli/progress_line.h"
#include "app/cli/run_source.h"
#include "engine/error.h"
#include "engine/run_store.h"
#include "engine/trainer.h"

namespace app::cli {
namespace {

struct TrainOptions {
  std::string recipe;
  std::vector<std::string> overrides;
  engine::TrainerOptions trainer;
  std::string out;
  bool log = false;
  bool json = false;
};

volatile std::sig_atomic_t interrupted = 0;

/// Ctrl-C and a polite kill end training after the step, with a checkpoint; the handlers before come back afterwards.
class StopOnSignal {
 public:
  StopOnSignal() {
    interrupted = 0;
    previous_int_ = std::signal(SIGINT, [](int) { interrupted = 1; });
    previous_term_ = std::signal(SIGTERM, [](int) { interrupted = 1; });
  }
  ~StopOnSignal() {
    std::signal(SIGINT, previous_int_);
    std::signal(SIGTERM, previous_term_);
  }
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

 private:
  void (*previous_int_)(int);
  void (*previous_term_)(int);
};

std::string losses_text(const std::vector<double>& losses) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(4);
  for (std::size_t k = 0; k < losses.size(); ++k) text << (k == 0 ? "" : " / ") << losses[k];
  return text.str();
}

void print_validation(const engine::ValidationMetrics& v, std::int64_t total, std::ostream& out) {
  std::ostringstream accuracy;
  accuracy << std::fixed << std::setprecision(1);
  for (std::size_t k = 0; k < v.pass_accuracy.size(); ++k)
    accuracy << (k == 0 ? "" : " / ") << 100 * v.pass_accuracy[k];
  out << "step " << v.step << " of " << total << "  validation loss by pass " << losses_text(v.pass_loss)
      << "  answers right by pass " << accuracy.str() << " %  " << duration_text(v.wall_seconds) << "\n";
}

nlohmann::json result_json(const engine::TrainingJob& job, const std::optional<engine::StepMetrics>& last,
                           const std::optional<engine::ValidationMetrics>& validation, bool done) {
  nlohmann::json result = {{"run", job.run_folder().string()}, {"step", job.step()}, {"done", done}};
  if (last) {
    result["loss"] = last->pass_loss;
    result["tokens"] = last->tokens;
    result["token_equivalents"] = last->token_equivalents;
    result["wall_seconds"] = last->wall_seconds;
  }
  if (validation) {
    result["validation_loss"] = validation->pass_loss;
    result["validation_accuracy"] = validation->pass_accuracy;
  }
  const auto checkpoint = engine::read_newest_checkpoint(job.run_folder(), false);
  result["tensor_hash"] = engine::tensor_hash(checkpoint.model);
  return result;
}

std::unique_ptr<engine::TrainingJob> make_job(TrainOptions& options) {
  options.trainer.folder = options.out;
  if (options.trainer.resume) {
    if (!options.overrides.empty()) throw engine::ConfigError("--set", "a resumed run keeps its settings");
    return engine::resume_trainer(options.trainer);
  }
  engine::Recipe recipe = find_recipe(options.recipe);
  for (const std::string& assignment : options.overrides) engine::apply_override(recipe, assignment);
  recipe.validate();
  return engine::make_trainer(recipe, options.trainer);
}

/// A broken checkpoint that was passed over costs steps, which the user should know; going on moves it aside.
std::vector<std::string> broken_checkpoints(const TrainOptions& options) {
  std::vector<std::string> problems;
  if (options.trainer.resume) engine::list_checkpoints(options.out, &problems);
  return problems;
}

void say_where_it_goes_on(const engine::TrainingJob& job, const std::vector<std::string>& problems,
                          const Streams& streams) {
  for (const std::string& problem : problems) streams.err << "fullband-cli: " << problem << "\n";
  if (job.step() == 0) streams.err << "fullband-cli: the run has no checkpoint yet and begins again\n";
}

/// What the training loop has seen last.
struct Seen {
  std::optional<engine::StepMetrics> step;
  std::optional<engine::ValidationMetrics> validation;
};

void train_steps(engine::TrainingJob& job, const TrainOptions& options, const Streams& streams, Seen& seen) {
  const std::int64_t total = job.total_steps();
  ProgressLine progress(streams, "training", total);
  while (job.step() < total && interrupted == 0) {
    seen.step = job.train_step();
    progress.update(job.step(), "loss " + losses_text(seen.step->pass_loss));
    if (auto measured = job.validate_if_due()) {
      seen.validation = measured;
      if (options.log) print_validation(*seen.validation, total, streams.err);
    }
    if (job.step() < total) job.checkpoint_if_due();
  }
}

/// The weights are those of the last whole step. When not even saving them finds memory, its error goes on instead.
[[noreturn]] void save_without_memory(engine::TrainingJob& job) {
  const std::string step = std::to_string(job.step());
  job.save("stopped");
  throw engine::TooLarge("out of memory after step " + step + ", which is saved; end other programs and go on with " +
                         "--resume --out " + job.run_folder().string());
}

/// Memory that runs out between two checkpoints costs none of the steps that are done.
void train_or_save(engine::TrainingJob& job, const TrainOptions& options, const Streams& streams, Seen& seen) {
  const std::int64_t first = job.step();
  try {
    train_steps(job, options, streams, seen);
  } catch (const engine::OutOfMemory&) {
    if (job.step() == first) throw;
    save_without_memory(job);
  } catch (const std::bad_alloc&) {
    if (job.step() == first) throw;
    save_without_memory(job);
  }
}

/// One of several processes: true when all steps are done. Otherwise process 0 has saved the last whole step.
bool train_together(engine::TrainingJob& job, const TrainOptions& options, const Streams& streams, Seen& seen) {
  std::string why = "The training was told to stop.";
  try {
    train_steps(job, options, streams, seen);
  } catch (const engine::ProcessLost& lost) {
    why = lost.what();
  }
  const bool done = job.step() >= job.total_steps();
  job.save(done ? "done" : "stopped");
  if (!done && options.trainer.group->rank() == 0) {
    streams.err << "fullband-cli: " << why << " Saved step " << job.step() << " of " << job.total_steps()
                << ": go on with --resume --out " << job.run_folder().string() << std::endl;
  }
  return done;
}

int train(TrainOptions& options, const Streams& streams) {
  const StopOnSignal stop_on_signal;
  options.trainer.group = join_processes([] { return interrupted != 0; });
  const bool together = options.trainer.group != nullptr;
  if (together) options.trainer.device = device_of_process(options.trainer.device);
  const bool quiet = together && options.trainer.group->rank() != 0;
  const std::vector<std::string> broken = broken_checkpoints(options);
  const std::unique_ptr<engine::TrainingJob> job = with_device_of_option([&] { return make_job(options); });
  if (options.trainer.resume && !quiet) say_where_it_goes_on(*job, broken, streams);
  const std::int64_t total = job->total_steps();
  Seen seen;
  if (together) {
    const Streams own = {streams.out, streams.err, streams.progress && !quiet};
    if (!train_together(*job, options, own, seen)) return 1;
    if (quiet) return 0;
  } else {
    train_or_save(*job, options, streams, seen);
    job->save(job->step() >= total ? "done" : "stopped");
  }
  const bool done = job->step() >= total;
  if (options.json) {
    streams.out << json_line(result_json(*job, seen.step, seen.validation, done));
    return 0;
  }
  if (seen.validation && !options.log) print_validation(*seen.validation, total, streams.out);
  streams.out << (done ? "done: " : "stopped, go on with --resume: ") << job->run_folder().string() << "\n";
  return 0;
}

}  // namespace

void add_train_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<TrainOptions>();
  CLI::App* command = app.add_subcommand("train", "Train a recipe into a run folder");
  CLI::Option* recipe =
      command->add_option("--recipe", options->recipe, "Name of a recipe, or a recipe file")->check(not_empty());
  command->add_option("--set", options->overrides, "Change a field, for example train.rate=1e-3 (repeatable)");
  command->add_option("--out", options->out, "Run folder")->required()->check(not_empty());
  CLI::Option* seed =
      command->add_option("--seed", options->trainer.seed, "Seed")->check(seed_number())->capture_default_str();
  command->add_option("--device", options->trainer.device, "auto, cpu or cuda:N")->capture_default_str();
  command->add_option("--threads", options->trainer.threads, "CPU threads, 0 = all")
      ->check(whole_number(0, kMostThreads))
      ->capture_default_str();
  CLI::Option* resume =
      command
          ->add_flag("--resume", options->trainer.resume, "Go on from the run's newest checkpoint, with its settings")
          ->excludes(recipe)
          ->excludes(seed);
  command->add_flag("--log", options->log, "Print a line for each validation");
  command->add_flag("--json", options->json, "Print one JSON object");
  command->callback([options, recipe, resume, &action] {
    if (recipe->empty() && resume->empty()) throw CLI::RequiredError("--recipe or --resume");
    action = [options](const Streams& streams) { return train(*options, streams); };
  });
}

}  // namespace app::cli
