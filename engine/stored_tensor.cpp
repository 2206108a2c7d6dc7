// A stored tensor's numbers as float, double or int64.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/error.h"
#include "engine/json_io.h"
#include "engine/safetensors.h"

namespace engine {
namespace {

/// IEEE binary16.
double half_to_double(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  double magnitude = 0;
  if (exponent == 31) {
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, -24);
  } else {
    magnitude = std::ldexp(1024 + fraction, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

/// The upper half of a float32.
double brain_to_double(std::uint16_t bits) {
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U));
}

/// Calls use(value) for each element, read as `Element`.
template <typename Element, typename Use>
void for_each(const StoredTensor& tensor, Use use) {
  for (std::size_t at = 0; at + sizeof(Element) <= tensor.bytes.size(); at += sizeof(Element)) {
    Element value;
    std::memcpy(&value, tensor.bytes.data() + at, sizeof(Element));
    use(value);
  }
}

/// Calls use(value) for each element of any dtype but the half-width floats, which come as double.
template <typename Use>
void for_each_value(const StoredTensor& tensor, Use use) {
  switch (tensor.dtype) {
    case DType::f64:
      return for_each<double>(tensor, use);
    case DType::f32:
      return for_each<float>(tensor, use);
    case DType::f16:
      return for_each<std::uint16_t>(tensor, [&](std::uint16_t bits) { use(half_to_double(bits)); });
    case DType::bf16:
      return for_each<std::uint16_t>(tensor, [&](std::uint16_t bits) { use(brain_to_double(bits)); });
    case DType::i64:
      return for_each<std::int64_t>(tensor, use);
    case DType::i32:
      return for_each<std::int32_t>(tensor, use);
    case DType::i16:
      return for_each<std::int16_t>(tensor, use);
    case DType::i8:
      return for_each<std::int8_t>(tensor, use);
    case DType::u64:
      return for_each<std::uint64_t>(tensor, use);
    case DType::u32:
      return for_each<std::uint32_t>(tensor, use);
    case DType::u16:
      return for_each<std::uint16_t>(tensor, use);
    case DType::u8:
    case DType::boolean:
      return for_each<std::uint8_t>(tensor, use);
  }
}

template <typename Number>
std::vector<Number> converted(const StoredTensor& tensor) {
  std::vector<Number> numbers;
  numbers.reserve(tensor.bytes.size() / dtype_size(tensor.dtype));
  for_each_value(tensor, [&](auto value) { numbers.push_back(static_cast<Number>(value)); });
  return numbers;
}

bool is_floating(DType dtype) {
  return dtype == DType::f64 || dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
}

}  // namespace

std::int64_t StoredTensor::elements() const { return static_cast<std::int64_t>(bytes.size() / dtype_size(dtype)); }

std::vector<float> StoredTensor::to_float() const { return converted<float>(*this); }

std::vector<double> StoredTensor::to_double() const { return converted<double>(*this); }

std::vector<std::int64_t> StoredTensor::to_int64() const {
  if (is_floating(dtype)) {
    throw Error("tensor " + printable(name) + " holds " + to_string(dtype) + " where whole numbers are needed");
  }
  std::vector<std::int64_t> numbers = converted<std::int64_t>(*this);
  for (const std::int64_t number : numbers) {
    if (dtype == DType::u64 && number < 0) {
      throw Error("tensor " + printable(name) + " holds a number above 2^63 - 1");
    }
  }
  return numbers;
}

}  // namespace engine
