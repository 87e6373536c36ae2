// A worker as the API shows it.
#pragma once

#include "edge/http/api/backend.h"
#include "edge/http/api/message.h"
#include "routing/worker_view.h"

namespace fairlead::http {

json::object worker_json(const Backend& backend, const routing::WorkerView& view);

}  // namespace fairlead::http
