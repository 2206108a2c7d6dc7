// The processes that mpirun started, for `mpirun -n N fullband-cli train`. Built with MPI where it is found
// (processes_mpi.cpp), without it otherwise (processes_none.cpp).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "engine/process_group.h"

namespace app::cli {

/// Whether a launcher (mpirun, srun) started this process as one of several.
bool started_by_launcher();

/// Joins the others, or null when this process runs alone. While it waits for them it asks `give_up` again and again:
/// once that is true, it waits a moment more and then throws ProcessLost. DeviceError: several processes were started,
/// but this build has no MPI.
std::shared_ptr<engine::ProcessGroup> join_processes(std::function<bool()> give_up);

/// The device of this process: with "auto" or "cuda", the GPU that has its number among the processes of its machine.
std::string device_of_process(const std::string& device);

/// Before main() returns: leaves the others, or with a `code` other than 0 ends them too.
void leave_processes(int code);

}  // namespace app::cli
