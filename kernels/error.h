// Typed errors of the whole program. Each message names the operation, file, field or line and says what to do.
#pragma once

#include <stdexcept>
#include <string>

namespace kernels {

/// Base of every error that the program reports to its user in one sentence.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Operands of an operation do not fit together; the message names the operation and the shapes.
class ShapeError : public Error {
 public:
  using Error::Error;
};

/// A device could not provide the memory asked for; the message names the bytes and the setting to lower.
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

/// A device is missing, lost or refused a call.
class DeviceError : public Error {
 public:
  using Error::Error;
};

}  // namespace kernels
