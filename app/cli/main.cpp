#include <unistd.h>

#include <iostream>

#include "app/cli/cli.h"

int main(int argc, char** argv) {
  return app::cli::run(argc, argv, {std::cout, std::cerr, isatty(STDERR_FILENO) == 1});
}
