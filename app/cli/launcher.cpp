#include <cstdlib>
#include <string>

#include "app/cli/processes.h"

namespace app::cli {

bool started_by_launcher() {
  // Open MPI; MPICH and its relatives; srun with either.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE", "MPI_LOCALNRANKS"}) {
    const char* size = std::getenv(name);
    if (size != nullptr && std::strtol(size, nullptr, 10) > 1) return true;
  }
  return false;
}

std::string device_of_process(const std::string& device) {
  if (device != "auto" && device != "cuda") return device;
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}) {
    if (const char* rank = std::getenv(name); rank != nullptr) return device + ":" + rank;
  }
  return device;
}

}  // namespace app::cli
