// Models in several files: model.safetensors.index.json names the shard of each tensor.
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/atomic_file.h"
#include "engine/error.h"
#include "engine/json_io.h"
#include "engine/safetensors.h"

namespace engine {
namespace {

/// Anything but a plain file name could leave the folder.
void require_plain_name(const std::string& shard, const std::string& source) {
  if (!shard.ends_with(".safetensors") || shard.find_first_of("/\\\n") != std::string::npos ||
      shard.find('\0') != std::string::npos) {
    throw FormatError(source, "shard " + printable(shard) + " must be the name of a .safetensors file in this folder");
  }
}

using TensorsByShard = std::map<std::string, std::set<std::string>>;

TensorsByShard read_index(const std::filesystem::path& index_file) {
  const std::string source = index_file.string();
  const nlohmann::json index = parse_json(read_file(index_file), source);
  if (!index.is_object() || !index.contains("weight_map") || !index["weight_map"].is_object()) {
    throw FormatError(source, "must be an object with a \"weight_map\"");
  }
  TensorsByShard tensors;
  for (const auto& [tensor, shard] : index["weight_map"].items()) {
    if (!shard.is_string()) {
      throw FormatError(source, "the shard of tensor " + printable(tensor) + " must be a file name");
    }
    require_plain_name(shard.get<std::string>(), source);
    tensors[shard.get<std::string>()].insert(tensor);
  }
  return tensors;
}

void add_shard(SafetensorsFile& whole, const std::set<std::string>& expected, SafetensorsFile shard) {
  for (const std::string& name : expected) {
    static_cast<void>(shard.at(name));
  }
  for (StoredTensor& tensor : shard.tensors) {
    if (!expected.contains(tensor.name)) {
      throw FormatError(shard.source, "tensor " + printable(tensor.name) + " is not in the index");
    }
    whole.tensors.push_back(std::move(tensor));
  }
  whole.metadata.merge(shard.metadata);
}

}  // namespace

SafetensorsFile read_safetensors_index(const std::filesystem::path& index_file) {
  SafetensorsFile whole{index_file.string(), {}, {}};
  for (const auto& [shard, expected] : read_index(index_file)) {
    add_shard(whole, expected, read_safetensors(index_file.parent_path() / shard));
  }
  return whole;
}

}  // namespace engine
