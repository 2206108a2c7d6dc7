// The engine's typed errors. Each reaches the user once, as one sentence that says what to do.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/error.h"

namespace engine {

using kernels::DeviceError;
using kernels::Error;
using kernels::OutOfMemory;
using kernels::ShapeError;

/// A file's contents are not what its format says; the message names the file and the place in it.
class FormatError : public Error {
 public:
  FormatError(const std::string& file, const std::string& what) : Error(file + ": " + what) {}
};

/// A setting has a value that cannot be used; the message names the field.
class ConfigError : public Error {
 public:
  ConfigError(const std::string& field, const std::string& what) : Error(field + ": " + what), field_(field) {}
  [[nodiscard]] const std::string& field() const { return field_; }

 private:
  std::string field_;
};

/// Reading or writing failed for a reason outside the format (missing, full disk, no permission, locked).
class FileError : public Error {
 public:
  FileError(const std::string& file, const std::string& what) : Error(file + ": " + what) {}
};

/// What is asked for does not fit into the device's memory; the message says what of it is large and what to lower.
class TooLarge : public OutOfMemory {
 public:
  using OutOfMemory::OutOfMemory;
};

/// Training met a number that is not finite; names the step and the first such tensor.
class NonFiniteError : public Error {
 public:
  NonFiniteError(std::int64_t step, const std::string& tensor)
      : Error("step " + std::to_string(step) + ": " + tensor +
              " is not finite; lower the rate or go back to a checkpoint"),
        step_(step),
        tensor_(tensor) {}
  [[nodiscard]] std::int64_t step() const { return step_; }
  [[nodiscard]] const std::string& tensor() const { return tensor_; }

 private:
  std::int64_t step_;
  std::string tensor_;
};

/// The user cancelled a long computation.
class Cancelled : public Error {
 public:
  Cancelled() : Error("cancelled") {}
};

}  // namespace engine
