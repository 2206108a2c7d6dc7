// Reading runs. Writing: run_writer.cpp; checkpoints: checkpoint_file.cpp.
#include "engine/run_store.h"

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "engine/atomic_file.h"
#include "engine/checkpoint_file.h"
#include "engine/error.h"
#include "engine/json_io.h"
#include "engine/run_lock.h"

namespace engine {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kSkipped = "skipped: ";
constexpr std::uint64_t kShortTail = 1 << 12;  // some lines of metrics
constexpr std::uint64_t kLongTail = 1 << 20;   // should the last ones be very long

/// The bytes from `offset` to what is the end now.
std::string read_from(const fs::path& file, std::uint64_t offset) {
  std::ifstream stream(file, std::ios::binary | std::ios::ate);
  if (!stream) {
    throw FileError(file.string(), "cannot be read: " + system_reason(errno));
  }
  const auto size = static_cast<std::uint64_t>(std::max<std::streamoff>(stream.tellg(), 0));
  std::string text(size > offset ? size - offset : 0, '\0');
  stream.seekg(static_cast<std::streamoff>(offset));
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(stream.gcount(), 0)));
  return text;
}

/// A line without its end is complete if it reads: an object's text never goes on after its last brace.
bool is_complete_object(const std::string& line) {
  try {
    parse_metrics_line(line, "");
    return true;
  } catch (const FormatError&) {
    return false;
  }
}

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

std::optional<std::int64_t> step_of_line(const std::string& line) {
  try {
    const json object = parse_metrics_line(line, "");
    const auto step = object.find("step");
    return step != object.end() && step->is_number_integer() ? std::optional(step->get<std::int64_t>()) : std::nullopt;
  } catch (const FormatError&) {
    return std::nullopt;
  }
}

/// Step of the last line in `tail` that reads and has one.
std::optional<std::int64_t> last_step_in(std::string tail) {
  while (!tail.empty()) {
    const std::size_t newline = tail.rfind('\n');
    const std::size_t start = newline == std::string::npos ? 0 : newline + 1;
    if (const std::optional<std::int64_t> step = step_of_line(tail.substr(start))) {
      return step;
    }
    tail.resize(newline == std::string::npos ? 0 : newline);
  }
  return std::nullopt;
}

/// Step of the last complete line, from the end of the file alone. Problems are left to whoever reads it all.
std::int64_t last_step(const fs::path& file) {
  std::error_code error;
  const std::uint64_t size = fs::file_size(file, error);
  if (error || size == 0) {
    return 0;
  }
  for (std::uint64_t bytes = kShortTail; bytes <= kLongTail; bytes *= 16) {
    if (const auto step = last_step_in(read_from(file, size > bytes ? size - bytes : 0))) {
      return *step;
    }
  }
  return 0;
}

std::string text_member(const json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_string() ? object[key].get<std::string>() : "";
}

json object_member(const json& object, const char* key) {
  return object.is_object() && object.contains(key) ? object[key] : json::object();
}

void read_run_members(const json& run, RunSummary& summary) {
  const json recipe = object_member(run, "recipe");
  summary.name = text_member(recipe, "name");
  summary.id = text_member(run, "id");
  const json steps = object_member(object_member(recipe, "train"), "steps");
  summary.total_steps = steps.is_number_integer() ? steps.get<std::int64_t>() : 0;
  summary.state = text_member(run, "state");
}

/// What run.json says holds only for a run that nobody is writing to.
void settle_state(RunSummary& summary) {
  if (run_owner(summary.folder).has_value()) {
    summary.state = "training";
  } else if (summary.state != "done" && summary.state != "failed" && summary.state != "stopped") {
    summary.state = "stopped";
    summary.problem = "the training was interrupted; it can be resumed from its newest checkpoint";
  }
}

}  // namespace

json read_run(const fs::path& folder) {
  const fs::path file = folder / "run.json";
  json run = parse_json(read_file(file), file.string());
  if (!run.is_object()) {
    throw FormatError(file.string(), "line 1: must be an object");
  }
  return run;
}

std::vector<json> read_metrics(const fs::path& folder, std::uint64_t& offset) {
  const fs::path file = folder / "metrics.jsonl";
  std::error_code error;
  const std::uint64_t size = fs::file_size(file, error);
  if (!error && size < offset) {
    offset = 0;
  }
  std::vector<json> lines;
  const std::string text = read_from(file, offset);
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start);
    const std::string line = text.substr(start, end - start);
    if (end == std::string::npos && !is_complete_object(line)) {
      break;
    }
    if (!is_blank(line)) {
      lines.push_back(parse_metrics_line(line, file.string() + ", byte " + std::to_string(offset)));
    }
    const std::size_t next = end == std::string::npos ? text.size() : end + 1;
    offset += next - start;
    start = next;
  }
  return lines;
}

std::vector<CheckpointEntry> list_checkpoints(const fs::path& folder, std::vector<std::string>* problems) {
  std::vector<CheckpointEntry> entries;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder / "checkpoints", error)) {
    const std::optional<std::int64_t> step = checkpoint_step(entry.path().filename().string());
    if (!step.has_value()) {
      continue;
    }
    try {
      require_complete(entry.path());
      entries.push_back({*step, entry.path()});
    } catch (const Error& problem) {
      if (problems != nullptr) problems->push_back(kSkipped + std::string(problem.what()));
    }
  }
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
  return entries;
}

namespace {

/// The trainer may remove a checkpoint while it is read; there is a newer one then, so the list is taken anew.
std::optional<Checkpoint> newest_that_reads(const fs::path& run_folder, bool with_optimizer,
                                            std::vector<std::string>& skipped) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    const std::vector<CheckpointEntry> entries = list_checkpoints(run_folder, attempt == 0 ? &skipped : nullptr);
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
      try {
        return read_checkpoint(entry->folder, with_optimizer);
      } catch (const Error& problem) {
        if (attempt == 0) skipped.push_back(kSkipped + std::string(problem.what()));
      }
    }
  }
  return std::nullopt;
}

/// Says what is wrong with the newest checkpoint, where there is any.
FileError no_checkpoint(const fs::path& run_folder, const std::vector<std::string>& skipped) {
  // The texts begin with the checkpoints' names, whose order is that of the steps.
  const auto newest = std::max_element(skipped.begin(), skipped.end());
  const std::string why = newest == skipped.end() ? "" : ": " + newest->substr(std::string(kSkipped).size());
  return {run_folder.string(), "has no complete checkpoint" + why};
}

}  // namespace

Checkpoint read_newest_checkpoint(const fs::path& run_folder, bool with_optimizer, std::vector<std::string>* problems) {
  std::vector<std::string> skipped;
  std::optional<Checkpoint> newest = newest_that_reads(run_folder, with_optimizer, skipped);
  if (!newest) throw no_checkpoint(run_folder, skipped);
  if (problems != nullptr) problems->insert(problems->end(), skipped.begin(), skipped.end());
  return std::move(*newest);
}

RunSummary summarize_run(const fs::path& folder) {
  RunSummary summary;
  summary.folder = folder;
  summary.name = folder.filename().string();
  try {
    read_run_members(read_run(folder), summary);
    summary.step = last_step(folder / "metrics.jsonl");
    settle_state(summary);
  } catch (const Error& problem) {
    summary.state = "broken";
    summary.problem = problem.what();
  }
  return summary;
}

std::vector<fs::path> find_runs(const fs::path& root) {
  std::vector<fs::path> runs;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(root, error)) {
    std::error_code ignored;
    if (fs::exists(entry.path() / "run.json", ignored)) {
      runs.push_back(entry.path());
    }
  }
  std::sort(runs.begin(), runs.end());
  return runs;
}

}  // namespace engine
