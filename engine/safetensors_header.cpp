#include "engine/safetensors_header.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/error.h"
#include "engine/json_io.h"

namespace engine {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;

struct DTypeName {
  DType dtype;
  const char* name;
  std::size_t size;
};

constexpr std::array<DTypeName, 13> kDTypes = {{{DType::f64, "F64", 8},
                                                {DType::f32, "F32", 4},
                                                {DType::f16, "F16", 2},
                                                {DType::bf16, "BF16", 2},
                                                {DType::i64, "I64", 8},
                                                {DType::i32, "I32", 4},
                                                {DType::i16, "I16", 2},
                                                {DType::i8, "I8", 1},
                                                {DType::u64, "U64", 8},
                                                {DType::u32, "U32", 4},
                                                {DType::u16, "U16", 2},
                                                {DType::u8, "U8", 1},
                                                {DType::boolean, "BOOL", 1}}};

const DTypeName& dtype_entry(DType dtype) {
  return *std::find_if(kDTypes.begin(), kDTypes.end(), [&](const DTypeName& entry) { return entry.dtype == dtype; });
}

DType dtype_of(const json& value, const std::string& where, const std::string& source) {
  const std::string name = value.is_string() ? value.get<std::string>() : value.dump();
  const auto* const found =
      std::find_if(kDTypes.begin(), kDTypes.end(), [&](const DTypeName& entry) { return name == entry.name; });
  if (!value.is_string() || found == kDTypes.end()) {
    throw FormatError(source, where + "has the unknown dtype " + printable(name));
  }
  return found->dtype;
}

/// A whole number from 0 to the largest int64; -0, 1.0 and 1e3 are refused as well.
std::int64_t count_of(const json& value, const std::string& where, const char* what, const std::string& source) {
  const auto limit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > limit) {
    throw FormatError(source, where + "has a " + what + " that is not a whole number from 0 to 2^63 - 1");
  }
  return value.get<std::int64_t>();
}

/// Bytes that shape and dtype ask for; nothing on overflow.
std::optional<std::uint64_t> bytes_of(const TensorEntry& entry) {
  std::int64_t bytes = static_cast<std::int64_t>(dtype_size(entry.dtype));
  for (const std::int64_t extent : entry.shape) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) {
      return std::nullopt;
    }
  }
  return static_cast<std::uint64_t>(bytes);
}

void check_members(const json& object, const std::string& where, const std::string& source) {
  const bool known = object.is_object() && object.size() == 3 && object.contains("dtype") && object.contains("shape") &&
                     object.contains("data_offsets");
  if (!known || !object["shape"].is_array() || !object["data_offsets"].is_array() ||
      object["data_offsets"].size() != 2) {
    throw FormatError(source, where + "must have exactly a dtype, a shape and two data_offsets");
  }
}

TensorEntry entry_of(const std::string& name, const json& object, const std::string& source) {
  const std::string where = "tensor " + printable(name) + " ";
  check_members(object, where, source);
  TensorEntry entry;
  entry.name = name;
  entry.dtype = dtype_of(object["dtype"], where, source);
  for (const json& extent : object["shape"]) {
    entry.shape.push_back(count_of(extent, where, "size in its shape", source));
  }
  entry.begin = static_cast<std::uint64_t>(count_of(object["data_offsets"][0], where, "data offset", source));
  entry.end = static_cast<std::uint64_t>(count_of(object["data_offsets"][1], where, "data offset", source));
  const std::optional<std::uint64_t> bytes = bytes_of(entry);
  if (!bytes.has_value() || entry.end < entry.begin || *bytes != entry.end - entry.begin) {
    throw FormatError(source, where + "has data offsets that do not fit its shape and dtype");
  }
  return entry;
}

std::map<std::string, std::string> metadata_of(const json& object, const std::string& source) {
  if (!object.is_object()) {
    throw FormatError(source, "__metadata__ must be an object of texts");
  }
  std::map<std::string, std::string> metadata;
  for (const auto& [key, value] : object.items()) {
    if (!value.is_string()) {
      throw FormatError(source, "__metadata__ member " + printable(key) + " must be a text");
    }
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

void check_contiguous(const std::vector<TensorEntry>& entries, std::uint64_t data_size, const std::string& source) {
  std::uint64_t next = 0;
  for (const TensorEntry& entry : entries) {
    if (entry.begin != next) {
      throw FormatError(source, "tensor " + printable(entry.name) + " must start at byte " + std::to_string(next) +
                                    " of the data, not at " + std::to_string(entry.begin));
    }
    next = entry.end;
  }
  if (next != data_size) {
    const std::string cut = next > data_size ? "is cut off; take another copy: " : "";
    throw FormatError(source, cut + "the tensors end at byte " + std::to_string(next) +
                                  " of the data, the file at byte " + std::to_string(data_size));
  }
}

}  // namespace

std::size_t dtype_size(DType dtype) { return dtype_entry(dtype).size; }

std::string to_string(DType dtype) { return dtype_entry(dtype).name; }

std::uint64_t safetensors_header_length(std::uint64_t first_bytes, std::uint64_t file_size, const std::string& source) {
  if (first_bytes > kMaxHeaderBytes) {
    throw FormatError(source, "the header length of " + std::to_string(first_bytes) + " bytes is above the limit of " +
                                  std::to_string(kMaxHeaderBytes) + "; this is not a safetensors file");
  }
  if (first_bytes > file_size - kLengthBytes) {
    throw FormatError(source, "the header of " + std::to_string(first_bytes) + " bytes does not fit into the file of " +
                                  std::to_string(file_size) + " bytes; it may be cut off");
  }
  return first_bytes;
}

SafetensorsHeader parse_safetensors_header(std::string_view text, std::uint64_t file_size, const std::string& source) {
  if (!text.starts_with('{')) {
    throw FormatError(source, "the header must be a JSON object");
  }
  const json object = parse_json(text, source);
  SafetensorsHeader header;
  header.data_start = kLengthBytes + text.size();
  for (const auto& [name, value] : object.items()) {
    if (name == "__metadata__") {
      header.metadata = metadata_of(value, source);
    } else {
      header.entries.push_back(entry_of(name, value, source));
    }
  }
  std::stable_sort(header.entries.begin(), header.entries.end(), [](const TensorEntry& a, const TensorEntry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  check_contiguous(header.entries, file_size - header.data_start, source);
  return header;
}

std::string safetensors_header_bytes(const SafetensorsHeader& header) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  if (!header.metadata.empty()) {
    object["__metadata__"] = header.metadata;
  }
  for (const TensorEntry& entry : header.entries) {
    object[entry.name] = {
        {"dtype", to_string(entry.dtype)}, {"shape", entry.shape}, {"data_offsets", {entry.begin, entry.end}}};
  }
  std::string text;
  try {
    text = object.dump();
  } catch (const json::exception&) {
    throw Error("safetensors: names and metadata must be UTF-8");
  }
  text.append((kLengthBytes - text.size() % kLengthBytes) % kLengthBytes, ' ');
  const std::uint64_t length = text.size();
  std::string bytes(kLengthBytes, '\0');
  std::memcpy(bytes.data(), &length, kLengthBytes);
  return bytes + text;
}

}  // namespace engine
