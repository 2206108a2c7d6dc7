// The safetensors container: u64 little-endian header length, a JSON header, tensor bytes. The reader is strict and
// refuses whatever is not exactly that before it allocates anything for the data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/checkpoint.h"

namespace engine {

enum class DType { f64, f32, f16, bf16, i64, i32, i16, i8, u64, u32, u16, u8, boolean };

std::size_t dtype_size(DType dtype);
/// As in files: "F32", "BF16", "BOOL".
std::string to_string(DType dtype);

/// A tensor as it lies in the file, row-major, little-endian.
struct StoredTensor {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;

  [[nodiscard]] std::int64_t elements() const;
  /// Nearest float32; exact for f32, f16, bf16.
  [[nodiscard]] std::vector<float> to_float() const;
  [[nodiscard]] std::vector<double> to_double() const;
  /// Error for a floating-point dtype or a u64 above the int64 range.
  [[nodiscard]] std::vector<std::int64_t> to_int64() const;

  friend bool operator==(const StoredTensor&, const StoredTensor&) = default;
};

/// Where a tensor's bytes lie, counted from the end of the header.
struct TensorEntry {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct SafetensorsHeader {
  std::map<std::string, std::string> metadata;
  std::vector<TensorEntry> entries;  ///< in the order of their bytes
  std::uint64_t data_start = 0;      ///< byte of the file at which the data begins
};

struct SafetensorsFile {
  std::string source;  ///< what messages call it
  std::map<std::string, std::string> metadata;
  std::vector<StoredTensor> tensors;  ///< in the order of their bytes

  [[nodiscard]] bool has(const std::string& name) const;
  /// FormatError when it is not there.
  [[nodiscard]] const StoredTensor& at(const std::string& name) const;
};

/// FormatError names the file and the tensor; FileError when the system cannot read it.
SafetensorsFile read_safetensors(const std::filesystem::path& file);
SafetensorsFile read_safetensors(std::span<const std::byte> bytes, const std::string& source);
/// Names, shapes and metadata alone, with every check on them; cheap.
SafetensorsHeader read_safetensors_header(const std::filesystem::path& file);

/// All shards of a `model.safetensors.index.json`; file names inside its folder only, and each tensor where the index
/// says it is.
SafetensorsFile read_safetensors_index(const std::filesystem::path& index_file);

/// The same tensors give the same bytes: sorted by alignment, then name. Error for a name given twice or a shape that
/// does not fit the values.
std::string safetensors_bytes(const std::vector<StoredTensor>& tensors,
                              const std::map<std::string, std::string>& metadata = {});
/// Atomic, float32.
void write_safetensors(const std::filesystem::path& file, const std::vector<HostTensor>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace engine
