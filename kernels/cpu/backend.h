// The CPU backend: float32, rows shared out over a team of threads. One source file an operation group, named as in
// kernels/backend.h.
#pragma once

#include <vector>

#include "kernels/backend.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/product.h"
#include "kernels/cpu/rope_table.h"
#include "kernels/cpu/workspace.h"

namespace kernels::cpu {

/// Few enough that the activations of a narrow model's layers stay in the caches, enough for products at full speed.
constexpr std::int64_t tokens_at_once(int threads) { return std::int64_t{1024} * threads; }

class CpuBackend final : public Backend {
 public:
  /// `threads` >= 1
  explicit CpuBackend(int threads) : threads_(threads) {}

  [[nodiscard]] DeviceInfo info() const override;
  [[nodiscard]] Buffer allocate(std::int64_t bytes) override;
  void upload(const void* host, void* device, std::int64_t bytes) override;
  void download(const void* device, void* host, std::int64_t bytes) override;
  void synchronize() override {}

  void linear(ConstView x, ConstView w, View y, Write write) override;
  void linear_backward_input(ConstView dy, ConstView w, View dx, Write write) override;
  void linear_backward_weight(ConstView dy, ConstView x, View dw, Write write) override;

  void embed(ConstView table, ConstIndexView tokens, View y) override;
  void embed_backward(ConstView dy, ConstIndexView tokens, View dtable, Write write) override;

  void rms_norm(ConstView x, ConstView gain, View y, View inv_rms) override;
  void rms_norm_backward(ConstView dy, ConstView x, ConstView gain, ConstView inv_rms, View dx, Write dx_write,
                         View dgain, Write dgain_write) override;
  void residual_rms_norm(ConstView x, ConstView branch, float scale, ConstView gain, View sum, View y,
                         View inv_rms) override;
  void residual_rms_norm_backward(ConstView dy, ConstView dsum, ConstView sum, ConstView gain, ConstView inv_rms,
                                  float scale, View dx, Write dx_write, View dbranch, View dgain,
                                  Write dgain_write) override;
  void norm_rope(ConstView x, ConstIndexView positions, std::int64_t head_dim, float rope_base, bool normalize, View y,
                 View inv_rms) override;
  void norm_rope_backward(ConstView dy, ConstView x, ConstView inv_rms, ConstIndexView positions, std::int64_t head_dim,
                          float rope_base, bool normalize, View dx) override;

  void attention(ConstView q, ConstView k, ConstView v, ConstIndexView positions, const AttentionShape& shape, View y,
                 View logsumexp) override;
  void attention_backward(ConstView dy, ConstView q, ConstView k, ConstView v, ConstView y, ConstView logsumexp,
                          ConstIndexView positions, const AttentionShape& shape, View dq, View dk, View dv) override;
  void decode_attention(ConstView q, ConstView k_cache, ConstView v_cache, ConstIndexView first, ConstIndexView length,
                        const AttentionShape& shape, View y) override;
  void head_gate(ConstView x, ConstView logits, View y) override;
  void head_gate_backward(ConstView dy, ConstView x, ConstView logits, View dx, View dlogits) override;

  void swiglu(ConstView gate_up, View y) override;
  void swiglu_backward(ConstView dy, ConstView gate_up, View dgate_up) override;
  void scaled(ConstView x, float alpha, View y, Write write) override;
  void fill(View y, float value) override;
  void add_uniform(ConstView x, float amplitude, const PhiloxStream& stream, View y) override;
  void gather_rows(ConstView x, ConstIndexView rows, View y) override;
  void scatter_rows(ConstView x, ConstIndexView rows, View y) override;
  void row_distance(ConstView a, ConstView b, View out) override;

  void fuse(const FusionShape& shape, ConstView state, ConstView token, ConstView plain, ConstView gain,
            ConstIndexView fused, View y, View inv_rms) override;
  void fuse_backward(const FusionShape& shape, ConstView dy, ConstView state, ConstView token, ConstView gain,
                     ConstView inv_rms, ConstIndexView fused, View dstate, View dtoken, Write dtoken_write, View dplain,
                     Write dplain_write, View dgain, Write dgain_write) override;

  void head_loss(const HeadLoss& args) override;
  void sample(ConstView logits, const SamplerShape& shape, ConstView uniforms, IndexView tokens, View logprob,
              View entropy) override;

  void adamw(View parameter, ConstView gradient, View first_moment, View second_moment, const AdamStep& step) override;
  void normuon(View parameter, ConstView gradient, View momentum, View row_moment, const NorMuonStep& step) override;
  void clip_by_norm(View gradients, float max_norm, View norm) override;

 protected:
  void release(void* data, std::int64_t bytes) noexcept override;

 private:
  /// One workspace row of `cols` floats a part, zeroed: where the parts of a reduction over rows add up.
  float* zeroed_partials(int parts, std::int64_t cols);

  /// b[depth, cols], or the transpose of b[cols, depth], as the right operand of products; `to` holds panel_floats().
  Panels packed(ConstView b, float* to) const;
  Panels packed_transposed(ConstView b, float* to) const;

  /// Sum of squares in double precision, over pieces of a fixed size and therefore the same for every thread count.
  double squared_norm(ConstView x);

  int threads_;
  std::int64_t memory_used_ = 0;
  std::int64_t allocations_ = 0;
  Workspace workspace_;
  RopeTable rope_;
  std::vector<Range> documents_;  // scratch of attention: the rows of each document
};

}  // namespace kernels::cpu
