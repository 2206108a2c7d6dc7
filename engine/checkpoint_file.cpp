#include "engine/checkpoint_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <map>

#include "engine/atomic_file.h"
#include "engine/error.h"
#include "engine/json_io.h"
#include "engine/parameters.h"
#include "engine/run_store.h"
#include "engine/safetensors.h"

namespace engine {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kModel = "model.safetensors";
constexpr const char* kOptim = "optim.safetensors";
constexpr const char* kState = "state.json";
constexpr const char* kDone = "DONE";
constexpr const char* kTemporary = ".tmp-";
constexpr const char* kFormat = "fullband-checkpoint-1";

using Shapes = std::map<std::string, std::vector<std::int64_t>>;

// ---- what DONE says ----

template <typename Tensors>
Shapes shapes_of(const Tensors& tensors) {
  Shapes shapes;
  for (const auto& tensor : tensors) {
    shapes[tensor.name] = tensor.shape;
  }
  return shapes;
}

json manifest_of(const Checkpoint& checkpoint) {
  return {{"model", {{"hash", tensor_hash(checkpoint.model)}, {"tensors", shapes_of(checkpoint.model)}}},
          {"optim", {{"hash", tensor_hash(checkpoint.optim)}, {"tensors", shapes_of(checkpoint.optim)}}}};
}

/// One of the two files as DONE describes it.
struct Listed {
  std::string hash;
  Shapes tensors;
};

/// Nothing for an empty DONE, which says only that the checkpoint is finished.
std::optional<Listed> listed(const fs::path& folder, const char* part) {
  const fs::path file = folder / kDone;
  if (!fs::exists(file)) {
    throw FormatError(folder.string(), "has no DONE, so it was not finished; use an earlier checkpoint");
  }
  const std::string text = read_file(file);
  if (text.find_first_not_of(" \n") == std::string::npos) {
    return std::nullopt;
  }
  try {
    const json object = parse_json(text, file.string()).at(part);
    return Listed{object.at("hash").get<std::string>(), object.at("tensors").get<Shapes>()};
  } catch (const json::exception&) {
    throw FormatError(file.string(), std::string("does not list the tensors of \"") + part + "\"");
  }
}

void check_shapes(const Shapes& wanted, const Shapes& found, const std::string& source) {
  for (const auto& [name, shape] : wanted) {
    const auto tensor = found.find(name);
    if (tensor == found.end()) {
      throw FormatError(source, "tensor " + printable(name) + " is missing");
    }
    if (tensor->second != shape) {
      throw FormatError(source, "tensor " + printable(name) + " has shape " + json(tensor->second).dump() + " where " +
                                    json(shape).dump() + " is needed");
    }
  }
  for (const auto& [name, shape] : found) {
    if (!wanted.contains(name)) {
      throw FormatError(source, "tensor " + printable(name) + " does not belong here");
    }
  }
}

void check_listed(const std::optional<Listed>& listed, const std::vector<HostTensor>& tensors, const fs::path& file) {
  if (!listed.has_value()) {
    return;
  }
  check_shapes(listed->tensors, shapes_of(tensors), file.string());
  if (listed->hash != tensor_hash(tensors)) {
    throw FormatError(file.string(), "the numbers are not those that were written; use an earlier checkpoint");
  }
}

// ---- reading ----

std::vector<HostTensor> host_tensors(const SafetensorsFile& file) {
  std::vector<HostTensor> tensors;
  for (const StoredTensor& tensor : file.tensors) {
    tensors.push_back({tensor.name, tensor.shape, tensor.to_float()});
  }
  return tensors;
}

json metadata_json(const SafetensorsFile& file, const char* key) {
  const auto text = file.metadata.find(key);
  if (text == file.metadata.end()) {
    throw FormatError(file.source,
                      std::string("the metadata has no \"") + key + "\"; this is no model of this program");
  }
  return parse_json(text->second, file.source + ", " + key);
}

ModelConfig config_of(const SafetensorsFile& file) {
  try {
    ModelConfig config = model_config_from_json(metadata_json(file, "config"));
    config.validate();
    return config;
  } catch (const ConfigError& error) {
    throw FormatError(file.source, error.what());
  }
}

Checkpoint model_of(const SafetensorsFile& file) {
  Checkpoint checkpoint;
  checkpoint.config = config_of(file);
  checkpoint.tokenizer = metadata_json(file, "tokenizer");
  check_shapes(shapes_of(parameter_layout(checkpoint.config)), shapes_of(file.tensors), file.source);
  checkpoint.model = host_tensors(file);
  return checkpoint;
}

/// What run.json says about a choice of the model, null if nothing.
json run_choice(const json& run, const std::string& key) {
  return run.contains(key) ? run[key] : run.value(json::json_pointer("/recipe/model/" + key), json());
}

/// <run>/checkpoints/step-XXXXXXXX, with or without a slash at its end.
fs::path run_folder_of(const fs::path& checkpoint_folder) {
  const fs::path folder = fs::absolute(checkpoint_folder).lexically_normal();
  return (folder.has_filename() ? folder : folder.parent_path()).parent_path().parent_path();
}

/// The run that a checkpoint lies in may say which norm reading and state tap it trains; all readings have the same
/// tensors, so that nothing else would notice.
void check_run(const fs::path& folder, const ModelConfig& config) {
  const fs::path run_folder = run_folder_of(folder);
  if (!fs::exists(run_folder / "run.json")) {
    return;
  }
  const json run = read_run(run_folder);
  const std::map<std::string, std::string> stored = {{"norm_reading", to_string(config.norm_reading)},
                                                     {"state_tap", to_string(config.state_tap)}};
  for (const auto& [key, value] : stored) {
    const json said = run_choice(run, key);
    if (!said.is_null() && said != value) {
      throw FormatError((folder / kModel).string(), key + " is " + value + ", but run.json says " + said.dump());
    }
  }
}

// ---- writing ----

std::map<std::string, std::string> metadata_of(const Checkpoint& checkpoint) {
  return {{"format", kFormat},
          {"config", dump_json(to_json(checkpoint.config))},
          {"tokenizer", dump_json(checkpoint.tokenizer)}};
}

void remove_tree(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) {
    throw FileError(path.string(), "cannot be removed: " + error.message());
  }
}

void create_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw FileError(folder.string(), "cannot be created: " + error.message());
  }
}

/// Removes a temporary folder unless it was renamed; says nothing, for it may run while an error is on its way.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(fs::path folder) : folder_(std::move(folder)) {
    remove_tree(folder_);
    create_folder(folder_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return folder_; }

 private:
  fs::path folder_;
};

void rename_folder(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) {
    throw FileError(to.string(), "cannot be renamed into place: " + system_reason(errno));
  }
}

/// The folder at `to` is the old one or the new one, never neither.
void exchange_folders(const fs::path& from, const fs::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) {
    return;
  }
  // File systems that cannot exchange: the old one steps aside first.
  const fs::path aside = to.parent_path() / (std::string(kTemporary) + "old-" + to.filename().string());
  remove_tree(aside);
  rename_folder(to, aside);
  rename_folder(from, to);
  remove_tree(aside);
}

}  // namespace

std::string checkpoint_folder_name(std::int64_t step) {
  const std::string digits = std::to_string(step);
  return "step-" + std::string(digits.size() < 8 ? 8 - digits.size() : 0, '0') + digits;
}

std::optional<std::int64_t> checkpoint_step(const std::string& folder_name) {
  const std::string prefix = "step-";
  if (!folder_name.starts_with(prefix)) {
    return std::nullopt;
  }
  std::int64_t step = 0;
  std::from_chars(folder_name.data() + prefix.size(), folder_name.data() + folder_name.size(), step);
  return step >= 0 && checkpoint_folder_name(step) == folder_name ? std::optional(step) : std::nullopt;
}

void write_checkpoint_folder(const fs::path& checkpoints, std::int64_t step, const Checkpoint& checkpoint) {
  const std::string name = checkpoint_folder_name(step);
  const fs::path folder = checkpoints / name;
  const TemporaryFolder temporary(checkpoints / (kTemporary + name));
  write_model_file(temporary.path() / kModel, checkpoint);
  write_safetensors(temporary.path() / kOptim, checkpoint.optim);
  write_file_atomically(temporary.path() / kState, dump_json(checkpoint.state, 1) + "\n");
  const std::string done = dump_json(manifest_of(checkpoint)) + "\n";
  if (fs::exists(folder)) {
    write_file_atomically(temporary.path() / kDone, done);
    exchange_folders(temporary.path(), folder);
  } else {
    rename_folder(temporary.path(), folder);
    write_file_atomically(folder / kDone, done);
  }
  sync_folder(checkpoints);
}

void set_aside_checkpoint_folder(const fs::path& folder) {
  int number = 1;
  fs::path aside;
  do {
    aside = folder.string() + ".aside-" + std::to_string(number++);
  } while (fs::exists(aside));
  rename_folder(folder, aside);
}

void remove_checkpoint_folder(const fs::path& folder) {
  const fs::path doomed = folder.parent_path() / (std::string(kTemporary) + "remove-" + folder.filename().string());
  remove_tree(doomed);
  rename_folder(folder, doomed);
  remove_tree(doomed);
}

void remove_leftovers(const fs::path& checkpoints) {
  std::error_code error;
  std::vector<fs::path> leftovers;
  for (const fs::directory_entry& entry : fs::directory_iterator(checkpoints, error)) {
    if (entry.path().filename().string().starts_with(kTemporary)) {
      leftovers.push_back(entry.path());
    }
  }
  for (const fs::path& leftover : leftovers) {
    remove_tree(leftover);
  }
}

void require_complete(const fs::path& folder) {
  for (const auto& [part, name] : {std::pair("model", kModel), std::pair("optim", kOptim)}) {
    const std::optional<Listed> wanted = listed(folder, part);
    const SafetensorsHeader header = read_safetensors_header(folder / name);
    if (wanted.has_value()) {
      check_shapes(wanted->tensors, shapes_of(header.entries), (folder / name).string());
    }
  }
  if (!fs::exists(folder / kState)) {
    throw FileError((folder / kState).string(), "is missing");
  }
}

Checkpoint read_model_file(const fs::path& model_file) { return model_of(read_safetensors(model_file)); }

Checkpoint read_model_bytes(std::span<const std::byte> model_file, const std::string& source) {
  return model_of(read_safetensors(model_file, source));
}

void write_model_file(const fs::path& model_file, const Checkpoint& checkpoint) {
  write_safetensors(model_file, checkpoint.model, metadata_of(checkpoint));
}

Checkpoint read_checkpoint(const fs::path& folder, bool with_optimizer) {
  const std::optional<Listed> model = listed(folder, "model");
  Checkpoint checkpoint = read_model_file(folder / kModel);
  check_listed(model, checkpoint.model, folder / kModel);
  check_run(folder, checkpoint.config);
  if (with_optimizer) {
    checkpoint.optim = host_tensors(read_safetensors(folder / kOptim));
    check_listed(listed(folder, "optim"), checkpoint.optim, folder / kOptim);
  }
  checkpoint.state = parse_json(read_file(folder / kState), (folder / kState).string());
  return checkpoint;
}

}  // namespace engine
