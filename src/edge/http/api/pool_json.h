// A pool as the API shows it.
#pragma once

#include <map>
#include <string>

#include "edge/http/api/backend.h"
#include "edge/http/api/message.h"

namespace fairlead::http {

// The workers of a pool, added up.
struct PoolView {
  int64_t workers = 0;
  int64_t active = 0;
  int64_t capacity = 0;
  json::array worker_list;
};

// With its workers, up to a page of them.
PoolView pool_view(const Backend& backend, const std::string& name);
// Of every pool, without the lists of workers, in one walk over them.
std::map<std::string, PoolView> pool_views(const Backend& backend);

json::object pool_json(const Backend& backend, const std::string& name, const PoolEntry& pool,
                       const PoolView& view);
// With its workers.
json::object pool_detail(const Backend& backend, const std::string& name, const PoolEntry& pool);

}  // namespace fairlead::http
