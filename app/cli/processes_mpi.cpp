#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "app/cli/processes.h"

namespace app::cli {
namespace {

using Clock = std::chrono::steady_clock;

// A launcher that ends a job sends SIGTERM and a second later SIGKILL: the checkpoint must be written in between.
constexpr std::chrono::milliseconds kGrace{200};
constexpr std::chrono::microseconds kNap{50};
// Values exchanged at once: bounds the buffers, and MPI counts are 32-bit.
constexpr std::size_t kPiece = std::size_t{1} << 24U;

MPI_Datatype type_of(const float* /*unused*/) { return MPI_FLOAT; }
MPI_Datatype type_of(const double* /*unused*/) { return MPI_DOUBLE; }

class MpiGroup : public engine::ProcessGroup {
 public:
  explicit MpiGroup(std::function<bool()> give_up) : give_up_(std::move(give_up)) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  void sum(std::span<float> values) override { sum_in_pieces(values); }
  void sum(std::span<double> values) override { sum_in_pieces(values); }

 private:
  template <class Value>
  void sum_in_pieces(std::span<Value> values) {
    for (std::size_t first = 0; first < values.size(); first += kPiece) {
      sum_piece(values.subspan(first, std::min(kPiece, values.size() - first)));
    }
  }

  /// Each process adds up one slice, in the order of the ranks, and gives it to all: MPI's own reduction promises no
  /// order.
  template <class Value>
  void sum_piece(std::span<Value> values) {
    const auto size = static_cast<std::size_t>(size_);
    const std::size_t slice = (values.size() + size - 1) / size;
    std::vector<Value> mine(values.begin(), values.end());
    mine.resize(slice * size);
    std::vector<Value> slices(slice * size);  // of this process's slice, from each rank
    const auto count = static_cast<int>(slice);
    const MPI_Datatype type = type_of(values.data());
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ialltoall(mine.data(), count, type, slices.data(), count, type, MPI_COMM_WORLD, &request));
    wait(request);
    std::vector<Value> total(slice);
    for (std::size_t rank = 0; rank < size; ++rank) {
      for (std::size_t i = 0; i < slice; ++i) total[i] += slices[rank * slice + i];
    }
    check(MPI_Iallgather(total.data(), count, type, mine.data(), count, type, MPI_COMM_WORLD, &request));
    wait(request);
    std::copy_n(mine.begin(), values.size(), values.begin());
  }

  /// Naps between looks, so that a waiting process leaves its core to the others.
  void wait(MPI_Request& request) {
    Clock::time_point last_moment = Clock::time_point::max();
    for (int looks = 0;; ++looks) {
      int done = 0;
      check(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
      if (done != 0) return;
      const Clock::time_point now = Clock::now();
      if (last_moment == Clock::time_point::max() && give_up_()) last_moment = now + kGrace;
      if (now > last_moment) throw engine::ProcessLost("A process ended, or this one was told to stop.");
      if (looks > 100) std::this_thread::sleep_for(kNap);
    }
  }

  static void check(int code) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw engine::ProcessLost("The connection to the other processes broke: " + std::string(text) + ".");
  }

  std::function<bool()> give_up_;
  int rank_ = 0;
  int size_ = 1;
};

bool joined() {
  int begun = 0;
  int ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  return begun != 0 && ended == 0;
}

}  // namespace

std::shared_ptr<engine::ProcessGroup> join_processes(std::function<bool()> give_up) {
  if (!started_by_launcher()) return nullptr;
  int provided = 0;
  if (!joined() && MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
    throw engine::DeviceError("MPI could not be started; start one process, or see what mpirun says.");
  }
  return std::make_shared<MpiGroup>(std::move(give_up));
}

void leave_processes(int code) {
  if (!joined()) return;
  if (code == 0) {
    MPI_Finalize();
  } else {
    MPI_Abort(MPI_COMM_WORLD, code);  // the others may wait for this one for ever
  }
}

}  // namespace app::cli
