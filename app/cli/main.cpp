#include <unistd.h>

#include <iostream>

#include "app/cli/cli.h"
#include "app/cli/processes.h"

int main(int argc, char** argv) {
  const int code = app::cli::run(argc, argv, {std::cout, std::cerr, isatty(STDERR_FILENO) == 1});
  std::cout.flush();
  app::cli::leave_processes(code);
  return code;
}
