#include "app/cli/processes.h"

namespace app::cli {

std::shared_ptr<engine::ProcessGroup> join_processes(std::function<bool()> /*give_up*/) {
  if (!started_by_launcher()) return nullptr;
  throw engine::DeviceError(
      "Several processes were started, but this build has no MPI: install Open MPI's development files and build "
      "again, or start one process.");
}

void leave_processes(int /*code*/) {}

}  // namespace app::cli
