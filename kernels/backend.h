// The one interface between the model and a device: fused operations on float32 matrices.
//
// Shapes: N token rows, D width, H query heads, G key/value heads, d = head width, F feed-forward width, V vocabulary,
// R decoded rows. Every operation throws ShapeError before it writes anything when its operands do not fit; empty
// operands (N = 0) are valid. Views may be strided. An output never overlaps an input unless the comment allows it.
// Reductions have a fixed order: the same inputs and the same thread count give the same bits.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "kernels/philox.h"
#include "kernels/tensor.h"

namespace kernels {

/// Whether an operation overwrites its output or adds to it.
enum class Write { assign, accumulate };

/// How the carried state and the token meet (paper, Eq. 4): state * sigmoid(token), or state + token.
enum class FusionKind { gate, add };

/// Causal attention. `window` > 0 lets a position see only the last `window` positions, itself included. GQA when heads
/// > kv_heads.
struct AttentionShape {
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t head_dim = 1;
  std::int64_t window = 0;
};

/// Fusion of the previous position's state with this position's token (method page, "What enters the stack").
struct FusionShape {
  FusionKind kind = FusionKind::gate;
  bool normalize = true;   ///< RMS-norm the fused vector (times `gain` where one is given)
  std::int64_t shift = 1;  ///< row n reads the state of row n - shift: 1 in a parallel pass, 0 in decoding
};

/// Operands of the output head with its loss; see Backend::head_loss.
struct HeadLoss {
  ConstView states;        ///< [N,D] normed states
  ConstView weight;        ///< [V,D] output embedding
  ConstIndexView targets;  ///< [N]; -1 = not scored
  ConstView row_weight;    ///< [N,1] coefficient of each row's negative log-likelihood in the objective
  float z_weight = 0.0F;   ///< coefficient of row_weight * logsumexp^2 in the objective
  View nll;                ///< out [N,1], nats; 0 where not scored
  IndexView argmax;        ///< out [N], lowest id on ties
  View d_states;           ///< out [N,D], or absent: no gradient is computed
  Write d_states_write = Write::assign;
  View d_weight;  ///< out [V,D], or absent
  Write d_weight_write = Write::assign;
};

/// Sampler settings. temperature 0 is greedy; top_k 0 and top_p 1 are off. Ties go to the lowest id.
struct SamplerShape {
  float temperature = 0.0F;
  std::int64_t top_k = 0;
  float top_p = 1.0F;
};

/// One AdamW step (Loshchilov and Hutter) with bias correction for step number `step` (from 1).
struct AdamStep {
  float rate = 0.0F;
  float beta1 = 0.9F;
  float beta2 = 0.95F;
  float epsilon = 1e-8F;
  float weight_decay = 0.0F;
  std::int64_t step = 1;
};

/// One NorMuon step (arXiv 2510.05491); see the method page for the formula.
struct NorMuonStep {
  float rate = 0.0F;
  float beta1 = 0.95F;
  float beta2 = 0.95F;
  float epsilon = 1e-8F;
  float weight_decay = 0.0F;
};

/// What the window shows about a device.
struct DeviceInfo {
  std::string name;               ///< for example "CPU" or the GPU's product name
  int threads = 1;                ///< CPU threads, or multiprocessors of a GPU
  std::int64_t memory_used = 0;   ///< bytes held through allocate()
  std::int64_t memory_total = 0;  ///< bytes, 0 when unknown
  std::int64_t allocations = 0;   ///< allocate() calls plus growths of the workspace; constant in a steady state
  /// Tokens of a training step whose activations suit its caches; 0 when it would rather have all at once.
  std::int64_t tokens_at_once = 0;
};

/// Operations that are run again and again on the same operands; made by Backend::record, and gone before its backend.
class Recording {
 public:
  Recording() = default;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  virtual ~Recording() = default;
  virtual void run() = 0;
};

/// A device, its memory and its operations. Belongs to the thread that made it; that thread uses and destroys it.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  // ---- memory -----------------------------------------------------------------------------------------------------
  [[nodiscard]] virtual DeviceInfo info() const = 0;
  /// Uninitialised device memory; OutOfMemory when there is none. Zero bytes give a valid empty buffer.
  [[nodiscard]] virtual Buffer allocate(std::int64_t bytes) = 0;
  virtual void upload(const void* host, void* device, std::int64_t bytes) = 0;
  virtual void download(const void* device, void* host, std::int64_t bytes) = 0;
  /// Waits until all earlier operations are done.
  virtual void synchronize() = 0;

  /// `work` calls operations of this backend, and nothing of its memory, always the same ones on the same operands:
  /// only what the operands hold may change between runs. A GPU keeps the operations of a run and starts them all at
  /// once from then on, without calling `work`; on the CPU every run calls it.
  [[nodiscard]] virtual std::unique_ptr<Recording> record(std::function<void()> work);

  // ---- products (linear.cpp) --------------------------------------------------------------------------------------
  /// y[N,O] (=, +=) x[N,I] w[O,I]^T
  virtual void linear(ConstView x, ConstView w, View y, Write write) = 0;
  /// dx[N,I] (=, +=) dy[N,O] w[O,I]
  virtual void linear_backward_input(ConstView dy, ConstView w, View dx, Write write) = 0;
  /// dw[O,I] (=, +=) dy[N,O]^T x[N,I]
  virtual void linear_backward_weight(ConstView dy, ConstView x, View dw, Write write) = 0;

  // ---- embedding (embedding.cpp) ----------------------------------------------------------------------------------
  /// y[n] = table[tokens[n]]; an id outside [0,V) is a ShapeError on the CPU.
  virtual void embed(ConstView table, ConstIndexView tokens, View y) = 0;
  /// dtable[v] (=, +=) sum of dy[n] over tokens[n] == v, in the order of n
  virtual void embed_backward(ConstView dy, ConstIndexView tokens, View dtable, Write write) = 0;

  // ---- norms and rotation (norm_rope.cpp); epsilon 1e-6 added to the mean square -----------------------------------
  /// y = x * inv_rms * gain (absent gain: 1); saves inv_rms[N,1]
  virtual void rms_norm(ConstView x, ConstView gain, View y, View inv_rms) = 0;
  /// dx (=, +=), dgain (=, +=; absent when the gain is absent)
  virtual void rms_norm_backward(ConstView dy, ConstView x, ConstView gain, ConstView inv_rms, View dx, Write dx_write,
                                 View dgain, Write dgain_write) = 0;
  /// sum = x + scale * branch; y = sum * inv_rms * gain: the end of one block's branch and the norm before the next
  virtual void residual_rms_norm(ConstView x, ConstView branch, float scale, ConstView gain, View sum, View y,
                                 View inv_rms) = 0;
  /// With total = dsum (absent: 0) + the norm's gradient for dy (absent: 0): dx (=, +=) total, dbranch = scale * total,
  /// dgain (=, +=).
  virtual void residual_rms_norm_backward(ConstView dy, ConstView dsum, ConstView sum, ConstView gain,
                                          ConstView inv_rms, float scale, View dx, Write dx_write, View dbranch,
                                          View dgain, Write dgain_write) = 0;
  /// Per head of width head_dim: RMS norm without gain (when `normalize`), then RoPE, rotate-half, by positions[n].
  /// x and y [N, heads*head_dim]; saves inv_rms[N, heads] (written only when `normalize`).
  virtual void norm_rope(ConstView x, ConstIndexView positions, std::int64_t head_dim, float rope_base, bool normalize,
                         View y, View inv_rms) = 0;
  /// dx (=) from dy; x and inv_rms as in the forward call
  virtual void norm_rope_backward(ConstView dy, ConstView x, ConstView inv_rms, ConstIndexView positions,
                                  std::int64_t head_dim, float rope_base, bool normalize, View dx) = 0;

  // ---- attention (attention.cpp, decode_attention.cpp, head_gate.cpp) ---------------------------------------------
  /// Causal attention inside documents, without a T x T matrix. positions[n] is the place of row n in its document, so
  /// the document starts at row n - positions[n]. q[N,H*d], k and v [N,G*d], y[N,H*d]; saves logsumexp[N,H]. Scale
  /// 1/sqrt(d).
  virtual void attention(ConstView q, ConstView k, ConstView v, ConstIndexView positions, const AttentionShape& shape,
                         View y, View logsumexp) = 0;
  /// dq, dk, dv (=)
  virtual void attention_backward(ConstView dy, ConstView q, ConstView k, ConstView v, ConstView y, ConstView logsumexp,
                                  ConstIndexView positions, const AttentionShape& shape, View dq, View dk, View dv) = 0;
  /// One query a row against a cache: row r reads cache rows first[r] .. first[r] + length[r] - 1, the last being its
  /// own.
  virtual void decode_attention(ConstView q, ConstView k_cache, ConstView v_cache, ConstIndexView first,
                                ConstIndexView length, const AttentionShape& shape, View y) = 0;
  /// y = x * sigmoid(logits) head by head; x, y [N,H*d], logits [N,H]
  virtual void head_gate(ConstView x, ConstView logits, View y) = 0;
  /// dx (=), dlogits (=)
  virtual void head_gate_backward(ConstView dy, ConstView x, ConstView logits, View dx, View dlogits) = 0;

  // ---- pointwise (pointwise.cpp) ----------------------------------------------------------------------------------
  /// y[N,F] = silu(gate) * up, gate_up[N,2F] holds gate then up
  virtual void swiglu(ConstView gate_up, View y) = 0;
  /// dgate_up (=)
  virtual void swiglu_backward(ConstView dy, ConstView gate_up, View dgate_up) = 0;
  /// y (=, +=) alpha * x
  virtual void scaled(ConstView x, float alpha, View y, Write write) = 0;
  virtual void fill(View y, float value) = 0;
  /// y = x + u with u uniform in [-amplitude, amplitude), element i of the matrix from element stream.first + i of the
  /// stream; y may be x
  virtual void add_uniform(ConstView x, float amplitude, const PhiloxStream& stream, View y) = 0;
  /// y[i] = x[rows[i]]
  virtual void gather_rows(ConstView x, ConstIndexView rows, View y) = 0;
  /// y[rows[i]] = x[i]; row numbers are distinct
  virtual void scatter_rows(ConstView x, ConstIndexView rows, View y) = 0;
  /// out[n] = || a[n] - b[n] ||_2, out [N,1]
  virtual void row_distance(ConstView a, ConstView b, View out) = 0;

  // ---- fusion (fusion.cpp; paper, Eqs. 4 and 8) -------------------------------------------------------------------
  /// y[n] = fused[n] ? norm(combine(state[n - shift], token[n])) : plain[n]. All [N,D]; gain [1,D] or absent; saves
  /// inv_rms[N,1] (when `normalize`; 0 on plain rows). fused[n] with n < shift is a ShapeError on the CPU.
  virtual void fuse(const FusionShape& shape, ConstView state, ConstView token, ConstView plain, ConstView gain,
                    ConstIndexView fused, View y, View inv_rms) = 0;
  /// dstate (=; 0 where no fused row reads it), dtoken (=, +=; 0 on plain rows), dplain (=, +=), dgain (=, +=; absent
  /// without gain)
  virtual void fuse_backward(const FusionShape& shape, ConstView dy, ConstView state, ConstView token, ConstView gain,
                             ConstView inv_rms, ConstIndexView fused, View dstate, View dtoken, Write dtoken_write,
                             View dplain, Write dplain_write, View dgain, Write dgain_write) = 0;

  // ---- vocabulary (vocab.cpp, sample.cpp) -------------------------------------------------------------------------
  /// Output head, softmax cross-entropy and both gradients in row chunks: never all logits at once.
  virtual void head_loss(const HeadLoss& args) = 0;
  /// Picks one token a row of logits[R,V]. uniforms[R,1] in [0,1) are inverted through the filtered distribution in id
  /// order: top_k first, then the fewest likely ids that hold top_p of the rest. logprob and entropy [R,1] (nats) are
  /// those of the unfiltered distribution at temperature 1. A row with NaN gives id 0 and NaN statistics.
  virtual void sample(ConstView logits, const SamplerShape& shape, ConstView uniforms, IndexView tokens, View logprob,
                      View entropy) = 0;

  // ---- optimisers (optimizer.cpp, normuon.cpp) --------------------------------------------------------------------
  /// Parameter, gradient and both moments of one shape, in place.
  virtual void adamw(View parameter, ConstView gradient, View first_moment, View second_moment,
                     const AdamStep& step) = 0;
  /// parameter, gradient, momentum [R,C]; row_moment [R,1], in place.
  virtual void normuon(View parameter, ConstView gradient, View momentum, View row_moment, const NorMuonStep& step) = 0;
  /// norm[0,0] = ||gradients||_2; when it is finite and above max_norm > 0, gradients *= max_norm / norm.
  virtual void clip_by_norm(View gradients, float max_norm, View norm) = 0;

 protected:
  friend class Buffer;
  virtual void release(void* data, std::int64_t bytes) noexcept = 0;
};

inline Buffer::~Buffer() {
  if (backend_ != nullptr) backend_->release(data_, bytes_);
}

/// Calls the work at every run.
class PlainRecording final : public Recording {
 public:
  explicit PlainRecording(std::function<void()> work) : work_(std::move(work)) {}
  void run() override { work_(); }

 private:
  std::function<void()> work_;
};

inline std::unique_ptr<Recording> Backend::record(std::function<void()> work) {
  return std::make_unique<PlainRecording>(std::move(work));
}

/// Makes the backend for "cpu", "cuda:N", "auto" or "auto:N" (the first GPU or GPU N when one is usable, else the CPU).
/// `threads` 0 means all cores. DeviceError names what is missing.
std::unique_ptr<Backend> make_backend(const std::string& device, int threads = 0);
/// DeviceInfo::tokens_at_once of the backend that "auto" gives, without making it.
std::int64_t automatic_tokens_at_once();

}  // namespace kernels
