#include "scheduler/wait_board.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "base/limits.h"

namespace fairlead::scheduler {

namespace {
constexpr std::string_view kTenantPrefix = "tenant=";
}

std::string tenant_class(const TenantId& tenant) {
  return std::string(kTenantPrefix) + tenant.str();
}

bool WaitBoard::add(const std::string& wait_class, WallTime since) {
  if (wait_class.starts_with(kTenantPrefix)) return tenants_.insert(wait_class).second;
  if (placement_.contains(wait_class)) return false;
  auto parsed = routing::parse_wait_class(wait_class);
  if (!parsed) return false;
  placement_.emplace(wait_class, Known{*std::move(parsed), since});
  return true;
}

std::vector<std::string> WaitBoard::refresh(const std::string& after,
                                            const std::vector<store::WaitClassView>& page,
                                            bool last) {
  std::set<std::string_view> listed;
  for (const store::WaitClassView& view : page) listed.insert(view.wait_class);
  auto gone = [&](const std::string& name) {
    return name > after && (last || name <= page.back().wait_class) && !listed.contains(name);
  };
  std::erase_if(placement_, [&](const auto& entry) { return gone(entry.first); });
  std::erase_if(tenants_, gone);
  std::vector<std::string> unknown;
  for (const store::WaitClassView& view : page) {
    if (add(view.wait_class, view.oldest_since)) {
      unknown.push_back(view.wait_class);
    } else if (auto known = placement_.find(view.wait_class); known != placement_.end()) {
      known->second.oldest = view.oldest_since;
    }
  }
  return unknown;
}

std::vector<std::string> WaitBoard::fitting(const routing::WorkerReport& worker) const {
  std::vector<std::pair<WallTime, std::string_view>> fit;
  for (const auto& [text, known] : placement_) {
    if (routing::fits(known.wait_class, worker)) fit.emplace_back(known.oldest, text);
  }
  auto end = fit.begin() + static_cast<ptrdiff_t>(std::min(fit.size(), limits::kClaimClassesMax));
  std::ranges::partial_sort(fit, end);
  fit.erase(end, fit.end());
  std::vector<std::string> classes;
  for (const auto& [oldest, text] : fit) classes.emplace_back(text);
  return classes;
}

std::vector<std::vector<std::string>> WaitBoard::groups(const routing::WorkerReport* worker,
                                                        const TenantId& tenant) const {
  std::vector<std::vector<std::string>> groups;
  if (empty()) return groups;
  if (worker) {
    if (auto classes = fitting(*worker); !classes.empty()) groups.push_back(std::move(classes));
  }
  if (std::string own = tenant_class(tenant); tenants_.contains(own)) {
    groups.push_back({std::move(own)});
  }
  return groups;
}

}  // namespace fairlead::scheduler
