// Writing a run: one owner, whole files, metrics a line at a time.
#include <unistd.h>

#include <algorithm>
#include <random>

#include "engine/atomic_file.h"
#include "engine/checkpoint_file.h"
#include "engine/error.h"
#include "engine/json_io.h"
#include "engine/run_lock.h"
#include "engine/run_store.h"

namespace engine {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

void create_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw FileError(folder.string(), "cannot be created: " + error.message());
  }
}

/// 16 hex digits that no other run has.
std::string random_id() {
  std::random_device device;
  std::string id;
  for (int i = 0; i < 16; ++i) {
    id += "0123456789abcdef"[device() & 15U];
  }
  return id;
}

/// Byte at which the first line past `step` starts: all before it is kept.
std::size_t kept_bytes(const std::string& text, std::int64_t step, const std::string& source) {
  std::size_t start = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', start)) {
    const std::string line = text.substr(start, end - start);
    if (line.find_first_not_of(" \t\r") != std::string::npos) {
      const json object = parse_metrics_line(line, source + ", byte " + std::to_string(start));
      if (object.contains("step") && object["step"].is_number_integer() && object["step"].get<std::int64_t>() > step) {
        break;
      }
    }
    start = end + 1;
  }
  return start;
}

fs::path unused_tail_name(const fs::path& folder) {
  int number = 1;
  while (fs::exists(folder / ("metrics-tail-" + std::to_string(number) + ".jsonl"))) {
    ++number;
  }
  return folder / ("metrics-tail-" + std::to_string(number) + ".jsonl");
}

/// Cuts the metrics after `step`; what is cut goes to a file of its own first, so that no kill can lose it.
void cut_metrics(const fs::path& folder, std::int64_t step) {
  const fs::path file = folder / "metrics.jsonl";
  if (!fs::exists(file)) {
    return;
  }
  const std::string text = read_file(file);
  const std::size_t kept = kept_bytes(text, step, file.string());
  if (kept == text.size()) {
    return;
  }
  write_file_atomically(unused_tail_name(folder), text.substr(kept));
  write_file_atomically(file, text.substr(0, kept));
}

/// Checkpoints past the step that training goes on from belong to the tail that was cut; unfinished ones are of no use.
void set_aside_checkpoints(const fs::path& folder, std::int64_t step) {
  std::vector<fs::path> later;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder / "checkpoints", error)) {
    if (checkpoint_step(entry.path().filename().string()).value_or(0) > step) {
      later.push_back(entry.path());
    }
  }
  for (const fs::path& checkpoint : later) {
    if (fs::exists(checkpoint / "DONE")) {
      set_aside_checkpoint_folder(checkpoint);
    } else {
      remove_checkpoint_folder(checkpoint);
    }
  }
}

void require_plain_name(const std::string& name) {
  if (name.empty() || name.starts_with('.') || name.find('/') != std::string::npos ||
      name.find('\0') != std::string::npos) {
    throw FileError(printable(name), "is not a file name for a run folder");
  }
}

}  // namespace

struct RunWriter::State {
  /// Takes the lock before anything is looked at or written.
  explicit State(fs::path run_folder) : folder(std::move(run_folder)), lock(folder) {}

  fs::path folder;
  RunLock lock;
  json run;
  std::optional<OutputFile> metrics;

  [[nodiscard]] fs::path checkpoints() const { return folder / "checkpoints"; }
  void save_run() const { write_file_atomically(folder / "run.json", dump_json(run, 1) + "\n"); }
  void open_metrics() { metrics.emplace(folder / "metrics.jsonl", OutputFile::Mode::append); }
};

RunWriter::RunWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
RunWriter::RunWriter(RunWriter&&) noexcept = default;
RunWriter& RunWriter::operator=(RunWriter&&) noexcept = default;
RunWriter::~RunWriter() = default;

RunWriter RunWriter::create(const fs::path& folder, const json& run) {
  create_folder(folder);
  auto state = std::make_unique<State>(folder);
  if (fs::exists(folder / "run.json")) {
    throw FileError(folder.string(), "holds a run already; resume it or choose another folder");
  }
  state->run = json{{"id", random_id()}, {"state", "training"}};
  state->run.update(run);
  create_folder(state->checkpoints());
  state->open_metrics();
  state->save_run();
  return RunWriter(std::move(state));
}

RunWriter RunWriter::resume(const fs::path& folder, std::int64_t step) {
  read_run(folder);  // a folder that holds no run says so before a lock is made in it
  auto state = std::make_unique<State>(folder);
  state->run = read_run(folder);
  state->run["state"] = "training";
  create_folder(state->checkpoints());
  remove_leftovers(state->checkpoints());
  cut_metrics(folder, step);
  set_aside_checkpoints(folder, step);
  state->open_metrics();
  state->save_run();
  return RunWriter(std::move(state));
}

const fs::path& RunWriter::folder() const { return state_->folder; }

void RunWriter::append_metrics(const json& line) { state_->metrics->append_whole(dump_json(line) + "\n"); }

void RunWriter::write_checkpoint(std::int64_t step, const Checkpoint& checkpoint, int keep) {
  // A checkpoint without the metrics before it would resume with a gap.
  state_->metrics->sync();
  write_checkpoint_folder(state_->checkpoints(), step, checkpoint);
  const std::vector<CheckpointEntry> entries = list_checkpoints(state_->folder);
  const auto kept = static_cast<std::size_t>(std::max(keep, 1));
  for (std::size_t i = 0; i + kept < entries.size(); ++i) {
    remove_checkpoint_folder(entries[i].folder);
  }
}

void RunWriter::write_file(const std::string& name, const std::string& contents) {
  require_plain_name(name);
  write_file_atomically(state_->folder / name, contents);
}

void RunWriter::update_run(const json& members) {
  state_->run.update(members);
  state_->save_run();
}

}  // namespace engine
