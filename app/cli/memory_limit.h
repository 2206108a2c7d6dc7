// Keeps the program from taking more memory than the machine can give.
#pragma once

namespace app::cli {

/// Without it the system promises any amount and later kills this program, or another one, without a word. With it an
/// allocation beyond what is free now fails, and the verb ends with a sentence. Does nothing where that is not known.
void limit_memory();

}  // namespace app::cli
