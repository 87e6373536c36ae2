// Every bench there is; main_bench.cc names them.
#pragma once

#include "bench/report.h"

namespace fairlead::bench {

void run_placement_bench(BenchReport& report);

}  // namespace fairlead::bench
