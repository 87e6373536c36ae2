// Every bench there is; main_bench.cc names them.
#pragma once

#include "bench/report.h"

namespace fairlead::bench {

class Embedded;

void run_placement_bench(BenchReport& report);
void run_core_bench(BenchReport& report);
void run_waiting_bench(BenchReport& report);
void run_api_bench(BenchReport& report);
void run_connections_bench(BenchReport& report);
void run_start_bench(BenchReport& report);
void run_cluster_bench(BenchReport& report);

// Durable full lives a second with so many in flight.
double core_jobs_per_second(Embedded& core, int in_flight);

}  // namespace fairlead::bench
