// What `resolve` answered before: jobs of one kind come by the thousand, and say the same. One
// thread.
#pragma once

#include <cstddef>
#include <expected>
#include <memory>
#include <string>

#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include "routing/pool_map.h"
#include "routing/route.h"

namespace fairlead::routing {

class RememberedRoutes {
 public:
  using Answer = std::expected<std::shared_ptr<const Route>, Refusal>;

  RememberedRoutes() = default;
  RememberedRoutes(const RememberedRoutes&) = delete;
  RememberedRoutes& operator=(const RememberedRoutes&) = delete;

  // What `resolve` answers. With another map than before, all routes are forgotten.
  Answer resolve(const std::shared_ptr<const PoolMap>& map, const RouteQuery& query);

  // At most kRoutesRememberedMax.
  size_t size() const { return routes_.size(); }

 private:
  // Brings all that the route depends on into `key_`; false when it is not to be remembered.
  bool make_key(const RouteQuery& query);

  // Kept, so that no later map can be mistaken for it by its address.
  std::shared_ptr<const PoolMap> map_;
  // Of the query at hand; a member to spare its allocation.
  std::string key_;
  boost::unordered_flat_map<std::string, std::shared_ptr<const Route>> routes_;
};

}  // namespace fairlead::routing
