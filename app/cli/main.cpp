#include <unistd.h>

#include <iostream>

#include "app/cli/cli.h"
#include "app/cli/memory_limit.h"
#include "app/cli/processes.h"

int main(int argc, char** argv) {
  app::cli::limit_memory();
  int code = app::cli::run(argc, argv, {std::cout, std::cerr, isatty(STDERR_FILENO) == 1});
  if (!std::cout.flush()) {
    std::cerr << "fullband-cli: standard output cannot be written; is the disk full?\n";
    code = 1;
  }
  app::cli::leave_processes(code);
  return code;
}
