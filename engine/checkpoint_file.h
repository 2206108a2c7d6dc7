// A checkpoint on disk: model.safetensors (with configuration and tokenizer in its metadata), optim.safetensors,
// state.json and, written last, DONE with the names, shapes and hashes of both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "engine/checkpoint.h"

namespace engine {

/// "step-00001234".
std::string checkpoint_folder_name(std::int64_t step);
/// The step of such a name; nothing for any other name.
std::optional<std::int64_t> checkpoint_step(const std::string& folder_name);

/// Writes <checkpoints>/step-XXXXXXXX: temporary folder, sync, rename, DONE last. A checkpoint of that step that is
/// there already is exchanged in one step. FileError leaves every other checkpoint as it was.
void write_checkpoint_folder(const std::filesystem::path& checkpoints, std::int64_t step, const Checkpoint& checkpoint);
/// Removes a checkpoint, or a leftover of one, so that a kill in between leaves nothing that looks complete.
void remove_checkpoint_folder(const std::filesystem::path& folder);
/// Renames it to a name that no reader takes for a checkpoint: "step-00001234.aside-1".
void set_aside_checkpoint_folder(const std::filesystem::path& folder);
/// Removes the temporary folders that a killed process left. Only for the owner of the run.
void remove_leftovers(const std::filesystem::path& checkpoints);

/// FormatError or FileError unless the folder has DONE and every tensor; reads headers, not data.
void require_complete(const std::filesystem::path& checkpoint_folder);

/// One model.safetensors alone: configuration, tokenizer and weights, no optimiser and no training state. FormatError
/// for missing, extra or mis-shaped tensors.
Checkpoint read_model_file(const std::filesystem::path& model_file);
/// The same from memory, for the model that ships with the program. `source` is what messages call it.
Checkpoint read_model_bytes(std::span<const std::byte> model_file, const std::string& source);
/// Atomic.
void write_model_file(const std::filesystem::path& model_file, const Checkpoint& checkpoint);

}  // namespace engine
