// What the metrics listener serves: GET /metrics, and the probes.
#pragma once

#include <string>

#include "edge/http/api/route.h"

namespace fairlead::metrics {

inline constexpr uint16_t kDefaultPort = 2112;

// Of the scheduler behind a backend: its counters and histograms, live jobs by state, workers and
// how long ago they were heard.
std::string metrics_text(const http::Backend& backend);

http::Routes metrics_routes();

}  // namespace fairlead::metrics
