#include "engine/safetensors.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

#include "engine/atomic_file.h"
#include "engine/error.h"
#include "engine/json_io.h"
#include "engine/safetensors_header.h"

namespace engine {
namespace {

std::uint64_t length_field(const char* bytes) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes, sizeof(length));
  return length;
}

void require_length_field(std::uint64_t file_size, const std::string& source) {
  if (file_size < kLengthBytes) {
    throw FormatError(source, "a safetensors file has at least 8 bytes, this has " + std::to_string(file_size));
  }
}

/// A file opened for reading with its size known; reads exactly or throws.
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& file) : source_(file.string()) {
    std::error_code error;
    size_ = std::filesystem::file_size(file, error);
    stream_.open(file, std::ios::binary);
    if (error || !stream_) {
      throw FileError(source_, "cannot be read: " + (error ? error.message() : system_reason(errno)));
    }
  }

  void read(void* to, std::uint64_t bytes) {
    stream_.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
    if (static_cast<std::uint64_t>(stream_.gcount()) != bytes) {
      throw FileError(source_, "cannot be read to its end; it may have changed meanwhile");
    }
  }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] const std::string& source() const { return source_; }

 private:
  std::string source_;
  std::ifstream stream_;
  std::uint64_t size_ = 0;
};

SafetensorsHeader read_header(InputFile& input) {
  require_length_field(input.size(), input.source());
  std::string field(kLengthBytes, '\0');
  input.read(field.data(), field.size());
  std::string text(safetensors_header_length(length_field(field.data()), input.size(), input.source()), '\0');
  input.read(text.data(), text.size());
  return parse_safetensors_header(text, input.size(), input.source());
}

StoredTensor empty_tensor(const TensorEntry& entry) {
  return {entry.name, entry.dtype, entry.shape, std::vector<std::byte>(entry.end - entry.begin)};
}

/// What a writer needs to know of a tensor, whatever holds it.
struct TensorView {
  std::string name;
  DType dtype;
  std::vector<std::int64_t> shape;
  std::string_view bytes;
};

void check_view(const TensorView& view) {
  std::int64_t bytes = static_cast<std::int64_t>(dtype_size(view.dtype));
  bool fits = true;
  for (const std::int64_t extent : view.shape) {
    fits = fits && extent >= 0 && !__builtin_mul_overflow(bytes, extent, &bytes);
  }
  if (!fits || bytes != static_cast<std::int64_t>(view.bytes.size()) || view.name == "__metadata__") {
    throw Error("safetensors: tensor " + printable(view.name) + " has a shape that does not fit its values");
  }
}

/// Largest alignment first, then by name: every tensor is aligned and the order does not depend on the caller.
void sort_views(std::vector<TensorView>& views) {
  std::sort(views.begin(), views.end(), [](const TensorView& a, const TensorView& b) {
    return std::pair(dtype_size(b.dtype), std::string_view(a.name)) <
           std::pair(dtype_size(a.dtype), std::string_view(b.name));
  });
}

SafetensorsHeader header_of(const std::vector<TensorView>& views, const std::map<std::string, std::string>& metadata) {
  SafetensorsHeader header{metadata, {}, 0};
  std::uint64_t next = 0;
  for (const TensorView& view : views) {
    check_view(view);
    header.entries.push_back({view.name, view.dtype, view.shape, next, next + view.bytes.size()});
    next += view.bytes.size();
  }
  std::vector<std::string> names;
  for (const TensorView& view : views) {
    names.push_back(view.name);
  }
  std::sort(names.begin(), names.end());
  if (const auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end()) {
    throw Error("safetensors: tensor " + printable(*twice) + " is given twice");
  }
  return header;
}

}  // namespace

bool SafetensorsFile::has(const std::string& name) const {
  return std::any_of(tensors.begin(), tensors.end(), [&](const StoredTensor& tensor) { return tensor.name == name; });
}

const StoredTensor& SafetensorsFile::at(const std::string& name) const {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(), [&](const StoredTensor& tensor) { return tensor.name == name; });
  if (found == tensors.end()) {
    throw FormatError(source, "tensor " + printable(name) + " is missing");
  }
  return *found;
}

SafetensorsHeader read_safetensors_header(const std::filesystem::path& file) {
  InputFile input(file);
  return read_header(input);
}

SafetensorsFile read_safetensors(const std::filesystem::path& file) {
  InputFile input(file);
  SafetensorsHeader header = read_header(input);
  SafetensorsFile result{input.source(), std::move(header.metadata), {}};
  for (const TensorEntry& entry : header.entries) {
    result.tensors.push_back(empty_tensor(entry));
    input.read(result.tensors.back().bytes.data(), result.tensors.back().bytes.size());
  }
  return result;
}

SafetensorsFile read_safetensors(std::span<const std::byte> bytes, const std::string& source) {
  require_length_field(bytes.size(), source);
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::uint64_t length = safetensors_header_length(length_field(all.data()), all.size(), source);
  SafetensorsHeader header = parse_safetensors_header(all.substr(kLengthBytes, length), all.size(), source);
  SafetensorsFile result{source, std::move(header.metadata), {}};
  for (const TensorEntry& entry : header.entries) {
    const auto data = bytes.subspan(header.data_start + entry.begin, entry.end - entry.begin);
    result.tensors.push_back({entry.name, entry.dtype, entry.shape, {data.begin(), data.end()}});
  }
  return result;
}

std::string safetensors_bytes(const std::vector<StoredTensor>& tensors,
                              const std::map<std::string, std::string>& metadata) {
  std::vector<TensorView> views;
  for (const StoredTensor& tensor : tensors) {
    views.push_back({tensor.name,
                     tensor.dtype,
                     tensor.shape,
                     {reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()}});
  }
  sort_views(views);
  std::string bytes = safetensors_header_bytes(header_of(views, metadata));
  for (const TensorView& view : views) {
    bytes += view.bytes;
  }
  return bytes;
}

void write_safetensors(const std::filesystem::path& file, const std::vector<HostTensor>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  std::vector<TensorView> views;
  for (const HostTensor& tensor : tensors) {
    views.push_back({tensor.name,
                     DType::f32,
                     tensor.shape,
                     {reinterpret_cast<const char*>(tensor.values.data()), tensor.values.size() * sizeof(float)}});
  }
  sort_views(views);
  const std::string header = safetensors_header_bytes(header_of(views, metadata));
  AtomicFile output(file);
  output.stream().write(header);
  for (const TensorView& view : views) {
    output.stream().write(view.bytes);
  }
  output.commit();
}

}  // namespace engine
