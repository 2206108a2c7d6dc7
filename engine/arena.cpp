#include "engine/arena.h"

#include <algorithm>

namespace engine {
namespace {
constexpr std::int64_t kAlignment = 64;
constexpr std::int64_t kSmallestBlock = std::int64_t{1} << 20;
}  // namespace

kernels::View Arena::matrix(std::int64_t rows, std::int64_t cols) {
  return {static_cast<float*>(take(rows * cols * std::int64_t{sizeof(float)})), rows, cols, cols};
}

kernels::IndexView Arena::indices(std::int64_t count) {
  return {static_cast<std::int32_t*>(take(count * std::int64_t{sizeof(std::int32_t)})), count};
}

void* Arena::take(std::int64_t wanted) {
  const std::int64_t size = std::max(kAlignment, (wanted + kAlignment - 1) / kAlignment * kAlignment);
  while (current_ < blocks_.size() && used_ + size > blocks_[current_].bytes()) {
    ++current_;
    used_ = 0;
  }
  if (current_ == blocks_.size()) {
    // A quarter more at a time: few blocks, and little memory beyond what is needed while a step has them all.
    blocks_.push_back(backend_->allocate(std::max({size, kSmallestBlock, bytes() / 4})));
  }
  void* place = static_cast<char*>(blocks_[current_].data()) + used_;
  used_ += size;
  taken_ += size;
  peak_ = std::max(peak_, taken_);
  return place;
}

void Arena::reset() {
  if (blocks_.size() > 1) {
    blocks_.clear();
    blocks_.push_back(backend_->allocate(peak_));
  }
  rewind({});
  peak_ = 0;
}

void Arena::reserve(std::int64_t wanted) {
  if (blocks_.size() > 1 || bytes() < wanted) {
    blocks_.clear();
    blocks_.push_back(backend_->allocate(wanted));
  }
  rewind({});
  peak_ = 0;
}

void Arena::rewind(const Mark& mark) {
  current_ = mark.block;
  used_ = mark.used;
  taken_ = mark.taken;
}

std::int64_t Arena::bytes() const {
  std::int64_t total = 0;
  for (const kernels::Buffer& block : blocks_) total += block.bytes();
  return total;
}

}  // namespace engine
