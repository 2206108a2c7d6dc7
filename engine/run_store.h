// A run on disk: run.json, metrics.jsonl, checkpoints/step-XXXXXXXX/, results of the views. Everything written is
// atomic.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/checkpoint.h"

namespace engine {

/// A finished checkpoint folder (it has DONE and every tensor).
struct CheckpointEntry {
  std::int64_t step = 0;
  std::filesystem::path folder;
};

/// What a run list shows, read without loading tensors or the whole metrics file.
struct RunSummary {
  std::filesystem::path folder;
  std::string name;       ///< recipe name
  std::string id;         ///< random, in run.json
  std::int64_t step = 0;  ///< last complete metrics line
  std::int64_t total_steps = 0;
  std::string state;    ///< "training" (lock held by a live process), "done", "stopped", "failed", "broken"
  std::string problem;  ///< one sentence when something was skipped or broken
};

/// Exclusive owner of a run folder while training writes to it. Holds the lock file with the process id;
/// a dead owner's lock is taken over. All members may throw FileError / FormatError.
class RunWriter {
 public:
  /// Creates the folder (must not hold a run yet) and writes run.json: the members of `run` with a random "id" and
  /// "state": "training" where it has none. Read back here: recipe.name, recipe.train.steps, id, state, norm_reading
  /// and state_tap (or recipe.model's).
  static RunWriter create(const std::filesystem::path& folder, const nlohmann::json& run);
  /// Opens an existing run to go on; the metrics past `step` are kept aside in metrics-tail-<n>.jsonl and cut,
  /// finished checkpoints past it are renamed step-XXXXXXXX.aside-<n>.
  static RunWriter resume(const std::filesystem::path& folder, std::int64_t step);

  RunWriter(RunWriter&&) noexcept;
  RunWriter& operator=(RunWriter&&) noexcept;
  ~RunWriter();

  [[nodiscard]] const std::filesystem::path& folder() const;
  /// Appends one line and flushes.
  void append_metrics(const nlohmann::json& line);
  /// Temporary folder, sync, rename, DONE last; older checkpoints but the newest `keep` complete ones are removed
  /// afterwards.
  void write_checkpoint(std::int64_t step, const Checkpoint& checkpoint, int keep = 2);
  /// Atomically writes a small file of the run (rollouts, probes, state, report).
  void write_file(const std::string& name, const std::string& contents);
  /// Merges members into run.json, atomically ("state": "done", for example).
  void update_run(const nlohmann::json& members);

 private:
  struct State;
  explicit RunWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// run.json of a run; FormatError names file and place.
nlohmann::json read_run(const std::filesystem::path& folder);
/// All complete metrics lines from byte `offset` on (which is moved past them); one cut last line is tolerated;
/// non-finite numbers are read from "NaN", "Infinity", "-Infinity", bare NaN and null. A file that has become shorter
/// than `offset` is read from its start again.
std::vector<nlohmann::json> read_metrics(const std::filesystem::path& folder, std::uint64_t& offset);
/// Complete checkpoints in ascending order of step; what was skipped is said in `problems`.
std::vector<CheckpointEntry> list_checkpoints(const std::filesystem::path& folder,
                                              std::vector<std::string>* problems = nullptr);
/// Strict: missing, extra or mis-shaped tensors, or another norm reading or state tap than `run.json` says, are a
/// FormatError.
Checkpoint read_checkpoint(const std::filesystem::path& checkpoint_folder, bool with_optimizer);
/// The newest checkpoint that reads, skipping broken ones with a message; none: FileError, which says what is wrong
/// with the newest one.
Checkpoint read_newest_checkpoint(const std::filesystem::path& run_folder, bool with_optimizer,
                                  std::vector<std::string>* problems = nullptr);
RunSummary summarize_run(const std::filesystem::path& folder);
/// Run folders directly below `root`, cheaply (case: 300 runs must list in well under a second).
std::vector<std::filesystem::path> find_runs(const std::filesystem::path& root);

}  // namespace engine
