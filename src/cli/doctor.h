// A look at everything that may keep jobs from running.
#pragma once

#include <vector>

#include "cli/verb.h"

namespace fairlead::cli {

// One line for each thing looked at, with what to do about it. 0: all is well or only worth a word,
// 1: something fails (or, with --strict, is worth a word); 2 is for wrong words.
int doctor(Call& call);

// Of either dialect.
std::vector<Flag> doctor_flags();

}  // namespace fairlead::cli
