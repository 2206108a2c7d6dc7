// A device that does not exist: it hands out places without memory and its operations do nothing. What runs on it takes
// the memory that it would take on a real one, which is how a step's memory is known before anything is allocated.
#pragma once

#include <cstdint>

#include "kernels/backend.h"

namespace engine {

class DryBackend final : public kernels::Backend {
  using View = kernels::View;
  using ConstView = kernels::ConstView;
  using IndexView = kernels::IndexView;
  using ConstIndexView = kernels::ConstIndexView;
  using Write = kernels::Write;
  using AttentionShape = kernels::AttentionShape;
  using FusionShape = kernels::FusionShape;
  using PhiloxStream = kernels::PhiloxStream;
  using HeadLoss = kernels::HeadLoss;
  using SamplerShape = kernels::SamplerShape;
  using AdamStep = kernels::AdamStep;
  using NorMuonStep = kernels::NorMuonStep;

 public:
  [[nodiscard]] kernels::DeviceInfo info() const override {
    kernels::DeviceInfo info;
    info.name = "dry run";
    info.memory_used = memory_used_;
    return info;
  }
  [[nodiscard]] kernels::Buffer allocate(std::int64_t bytes) override {
    memory_used_ += bytes;
    return {*this, place_, bytes};
  }

  void upload(const void*, void*, std::int64_t) override {}
  void download(const void*, void*, std::int64_t) override {}
  void synchronize() override {}
  void linear(ConstView, ConstView, View, Write) override {}
  void linear_backward_input(ConstView, ConstView, View, Write) override {}
  void linear_backward_weight(ConstView, ConstView, View, Write) override {}
  void embed(ConstView, ConstIndexView, View) override {}
  void embed_backward(ConstView, ConstIndexView, View, Write) override {}
  void rms_norm(ConstView, ConstView, View, View) override {}
  void rms_norm_backward(ConstView, ConstView, ConstView, ConstView, View, Write, View, Write) override {}
  void residual_rms_norm(ConstView, ConstView, float, ConstView, View, View, View) override {}
  void residual_rms_norm_backward(ConstView, ConstView, ConstView, ConstView, ConstView, float, View, Write, View, View,
                                  Write) override {}
  void norm_rope(ConstView, ConstIndexView, std::int64_t, float, bool, View, View) override {}
  void norm_rope_backward(ConstView, ConstView, ConstView, ConstIndexView, std::int64_t, float, bool, View) override {}
  void attention(ConstView, ConstView, ConstView, ConstIndexView, const AttentionShape&, View, View) override {}
  void attention_backward(ConstView, ConstView, ConstView, ConstView, ConstView, ConstView, ConstIndexView,
                          const AttentionShape&, View, View, View) override {}
  void decode_attention(ConstView, ConstView, ConstView, ConstIndexView, ConstIndexView, const AttentionShape&,
                        View) override {}
  void head_gate(ConstView, ConstView, View) override {}
  void head_gate_backward(ConstView, ConstView, ConstView, View, View) override {}
  void swiglu(ConstView, View) override {}
  void swiglu_backward(ConstView, ConstView, View) override {}
  void scaled(ConstView, float, View, Write) override {}
  void fill(View, float) override {}
  void add_uniform(ConstView, float, const PhiloxStream&, View) override {}
  void gather_rows(ConstView, ConstIndexView, View) override {}
  void scatter_rows(ConstView, ConstIndexView, View) override {}
  void row_distance(ConstView, ConstView, View) override {}
  void fuse(const FusionShape&, ConstView, ConstView, ConstView, ConstView, ConstIndexView, View, View) override {}
  void fuse_backward(const FusionShape&, ConstView, ConstView, ConstView, ConstView, ConstView, ConstIndexView, View,
                     View, Write, View, Write, View, Write) override {}
  void head_loss(const HeadLoss&) override {}
  void sample(ConstView, const SamplerShape&, ConstView, IndexView, View, View) override {}
  void adamw(View, ConstView, View, View, const AdamStep&) override {}
  void normuon(View, ConstView, View, View, const NorMuonStep&) override {}
  void clip_by_norm(View, float, View) override {}

 protected:
  void release(void* /*data*/, std::int64_t bytes) noexcept override { memory_used_ -= bytes; }

 private:
  alignas(64) char place_[64] = {};  // an address that nothing reads or writes
  std::int64_t memory_used_ = 0;
};

}  // namespace engine
