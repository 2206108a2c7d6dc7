// Causal attention inside documents (method page, "The stack"): no T x T matrix, one query row at a time.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/backend.h"
#include "kernels/cpu/row_math.h"
#include "kernels/shapes.h"

namespace kernels::cpu {
namespace {

/// Rows of each document of `positions`.
void find_documents(ConstIndexView positions, std::vector<Range>& documents) {
  documents.clear();
  for (std::int64_t n = 0; n < positions.count; ++n) {
    if (positions.data[n] == 0) documents.push_back({n, n});
    documents.back().end = n + 1;
  }
}

Range visible(std::int64_t row, std::int64_t document_begin, std::int64_t window) {
  return {window > 0 ? std::max(document_begin, row - window + 1) : document_begin, row + 1};
}

std::int64_t longest_of(const std::vector<Range>& documents) {
  std::int64_t longest = 0;
  for (const Range& document : documents) longest = std::max(longest, document.count());
  return longest;
}

}  // namespace

void CpuBackend::attention(ConstView q, ConstView k, ConstView v, ConstIndexView positions, const AttentionShape& shape,
                           View y, View logsumexp) {
  shapes::attention(q, k, v, positions, shape, y, logsumexp);
  shapes::check_documents("attention", positions);
  find_documents(positions, documents_);
  const std::int64_t d = shape.head_dim;
  const float scale = 1.0F / std::sqrt(static_cast<float>(d));
  const std::int64_t longest = longest_of(documents_);
  const std::int64_t tasks = static_cast<std::int64_t>(documents_.size()) * shape.heads;
  const int team = team_size(threads_, q.rows * shape.heads * d * longest / 8);
  float* scratch = workspace_.floats(team * padded(longest));
  run_team(team, [&](int index) {
    float* scores = scratch + index * padded(longest);
    const Range part = part_of(tasks, index, team);
    for (std::int64_t task = part.begin; task < part.end; ++task) {
      const Range document = documents_[static_cast<std::size_t>(task / shape.heads)];
      const std::int64_t h = task % shape.heads;
      const std::int64_t g = h / (shape.heads / shape.kv_heads);
      for (std::int64_t n = document.begin; n < document.end; ++n) {
        const Range keys = visible(n, document.begin, shape.window);
        float top = -INFINITY;
        for (std::int64_t m = keys.begin; m < keys.end; ++m) {
          scores[m - keys.begin] = scale * dot(q.row(n) + h * d, k.row(m) + g * d, d);
          top = std::max(top, scores[m - keys.begin]);
        }
        float sum = 0.0F;
        for (std::int64_t i = 0; i < keys.count(); ++i) {
          scores[i] = std::exp(scores[i] - top);
          sum += scores[i];
        }
        float* out = y.row(n) + h * d;
        std::fill_n(out, d, 0.0F);
        for (std::int64_t m = keys.begin; m < keys.end; ++m) {
          add_scaled(v.row(m) + g * d, scores[m - keys.begin] / sum, d, out);
        }
        logsumexp.row(n)[h] = top + std::log(sum);
      }
    }
  });
}

void CpuBackend::attention_backward(ConstView dy, ConstView q, ConstView k, ConstView v, ConstView y,
                                    ConstView logsumexp, ConstIndexView positions, const AttentionShape& shape, View dq,
                                    View dk, View dv) {
  shapes::attention_backward(dy, q, k, v, y, logsumexp, positions, shape, dq, dk, dv);
  shapes::check_documents("attention_backward", positions);
  find_documents(positions, documents_);
  const std::int64_t d = shape.head_dim;
  const float scale = 1.0F / std::sqrt(static_cast<float>(d));
  const std::int64_t group = shape.heads / shape.kv_heads;
  fill(dq, 0.0F);
  fill(dk, 0.0F);
  fill(dv, 0.0F);
  const std::int64_t tasks = static_cast<std::int64_t>(documents_.size()) * shape.kv_heads;
  const int team = team_size(threads_, q.rows * shape.heads * d * longest_of(documents_) / 8);
  run_team(team, [&](int index) {
    const Range part = part_of(tasks, index, team);
    for (std::int64_t task = part.begin; task < part.end; ++task) {
      const Range document = documents_[static_cast<std::size_t>(task / shape.kv_heads)];
      const std::int64_t g = task % shape.kv_heads;
      for (std::int64_t h = g * group; h < (g + 1) * group; ++h) {
        for (std::int64_t n = document.begin; n < document.end; ++n) {
          const float* out_gradient = dy.row(n) + h * d;
          const float mean = dot(out_gradient, y.row(n) + h * d, d);
          const Range keys = visible(n, document.begin, shape.window);
          for (std::int64_t m = keys.begin; m < keys.end; ++m) {
            const float score = scale * dot(q.row(n) + h * d, k.row(m) + g * d, d);
            const float p = std::exp(score - logsumexp.row(n)[h]);
            const float dscore = p * (dot(out_gradient, v.row(m) + g * d, d) - mean) * scale;
            add_scaled(out_gradient, p, d, dv.row(m) + g * d);
            add_scaled(k.row(m) + g * d, dscore, d, dq.row(n) + h * d);
            add_scaled(q.row(n) + h * d, dscore, d, dk.row(m) + g * d);
          }
        }
      }
    }
  });
}

}  // namespace kernels::cpu
