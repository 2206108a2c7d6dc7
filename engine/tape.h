// Reverse-mode differentiation of fused operations. The model is written forward once (engine/ops.h); the tape runs the
// paired backwards in reverse order and alone decides that a gradient's first arrival assigns and later ones
// accumulate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include "engine/arena.h"
#include "kernels/backend.h"

namespace engine {

/// A matrix on the tape; a handle, valid until the tape is cleared.
struct Variable {
  std::int32_t id = -1;
  [[nodiscard]] bool present() const { return id >= 0; }
};

/// Where a backward writes a gradient, and how.
struct GradientTarget {
  kernels::View view;
  kernels::Write write = kernels::Write::assign;
};

class Tape {
 public:
  Tape(kernels::Backend& backend, Arena& arena) : backend_(&backend), arena_(&arena) {}

  [[nodiscard]] kernels::Backend& backend() const { return *backend_; }
  /// Where memory comes from now: in a backward with scopes, the scratch that lives as long as one scope's backward.
  [[nodiscard]] Arena& arena() const { return backward_in_scope() ? *scratch_ : *arena_; }
  /// Memory for what follows comes from here.
  void use_arena(Arena& arena) { arena_ = &arena; }

  /// From now on scopes count: gradients of a scope's own variables live in `scratch` and only until the scope's
  /// backward is done, so that a step needs them for one scope at a time. Without it every gradient stays.
  void use_scopes(Arena& scratch) { scratch_ = &scratch; }
  /// What is recorded from here on is a scope, up to the next call.
  void begin_scope();

  /// The variables so far (parameters) survive clear().
  void seal() { sealed_ = entries_.size(); }
  /// Forgets records and all variables since seal(), and every gradient's arrival; keeps its own memory.
  void clear();
  /// The same, but parameters keep their gradients: what follows adds to them.
  void clear_keeping_gradients();
  /// Off: forward only, nothing is recorded and no gradient exists.
  void set_recording(bool recording) { recording_ = recording; }
  [[nodiscard]] bool recording() const { return recording_; }

  /// A value that gets no gradient.
  Variable constant(kernels::View value);
  /// A parameter: its gradient is written to `gradient` (absent: none is wanted).
  Variable leaf(kernels::View value, kernels::View gradient);
  /// New storage for an operation's result; it has a gradient when `differentiable` and recording.
  Variable result(std::int64_t rows, std::int64_t cols, bool differentiable);

  [[nodiscard]] kernels::View value(Variable variable) const { return entry(variable).value; }
  [[nodiscard]] bool differentiable(Variable variable) const { return entry(variable).differentiable; }
  /// Whether a gradient has arrived.
  [[nodiscard]] bool has_gradient(Variable variable) const { return entry(variable).arrived; }
  /// The gradient that has arrived, or an absent view.
  [[nodiscard]] kernels::ConstView gradient(Variable variable) const;
  /// Marks an arrival and says where and how to write it.
  GradientTarget gradient_target(Variable variable);

  /// Adds a backward step; `backward` is called with the tape and must be trivially destructible (views and handles).
  template <class Backward>
  void record(const Backward& backward) {
    static_assert(std::is_trivially_destructible_v<Backward> && std::is_trivially_copyable_v<Backward>);
    static_assert(sizeof(Backward) <= kRecordBytes && alignof(Backward) <= alignof(std::max_align_t));
    if (!recording_) return;
    Record& record = records_.emplace_back();
    new (record.bytes) Backward(backward);
    record.call = [](const void* bytes, Tape& tape) { (*static_cast<const Backward*>(bytes))(tape); };
  }

  /// Runs all recorded backwards, last first. Seeds (the losses' own gradients) have been written before.
  void backward();

  /// Runs `compute` and forgets how its results came about: the variables and memory of this call are gone afterwards,
  /// so it must copy to earlier variables what is to stay.
  template <class Compute>
  void without_memory(const Compute& compute) {
    const Place place = begin_forgetting();
    compute();
    forget(place);
  }
  /// Inside a backward: records again what without_memory() forgot, passes gradients on to it and runs its backwards.
  /// `compute` ends with a hand_over() for each variable that stayed.
  template <class Compute>
  void recompute(const Compute& compute) {
    const std::size_t first_record = records_.size();
    const std::size_t first_entry = entries_.size();
    compute();
    run_backwards(first_record);
    records_.resize(first_record);
    entries_.resize(first_entry);
  }
  /// The gradient that arrived at `from` is the one of `to`, which holds the same numbers.
  void hand_over(Variable from, Variable to);

 private:
  static constexpr std::size_t kRecordBytes = 512;

  struct Entry {
    kernels::View value;
    kernels::View gradient;
    bool differentiable = false;
    bool arrived = false;
  };
  struct Record {
    alignas(std::max_align_t) std::byte bytes[kRecordBytes];
    void (*call)(const void*, Tape&) = nullptr;
  };
  /// A point in the order of recording.
  struct Place {
    std::size_t record = 0;
    std::size_t entry = 0;
    Arena::Mark memory;
    bool recording = true;
  };

  [[nodiscard]] bool backward_in_scope() const { return in_backward_ && scratch_ != nullptr; }
  Place begin_forgetting();
  void forget(const Place& place);
  /// Runs the records from the last one down to `first`.
  void run_backwards(std::size_t first);

  [[nodiscard]] const Entry& entry(Variable variable) const { return entries_[static_cast<std::size_t>(variable.id)]; }
  Variable add(const Entry& entry);

  kernels::Backend* backend_;
  Arena* arena_;
  Arena* scratch_ = nullptr;
  bool recording_ = true;
  bool in_backward_ = false;
  std::size_t scope_entry_ = 0;  // first variable of the scope whose backward runs
  std::vector<Place> scopes_;
  std::size_t sealed_ = 0;
  std::vector<Entry> entries_;
  std::vector<Record> records_;
};

}  // namespace engine
