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

bool WaitBoard::add(const std::string& wait_class) {
  if (wait_class.starts_with(kTenantPrefix)) {
    return tenants_.try_emplace(wait_class, ++added_).second;
  }
  if (placement_.contains(wait_class)) return false;
  auto parsed = routing::parse_wait_class(wait_class);
  if (!parsed) return false;
  placement_.emplace(wait_class, Known{*std::move(parsed), ++added_});
  return true;
}

std::vector<std::string> WaitBoard::refresh(const std::vector<store::WaitClassView>& classes) {
  std::set<std::string_view> listed;
  for (const store::WaitClassView& view : classes) listed.insert(view.wait_class);
  std::erase_if(placement_, [&](const auto& entry) { return !listed.contains(entry.first); });
  std::erase_if(tenants_, [&](const auto& entry) { return !listed.contains(entry.first); });
  std::vector<std::string> unknown;
  for (const store::WaitClassView& view : classes) {
    if (add(view.wait_class)) unknown.push_back(view.wait_class);
  }
  return unknown;
}

std::vector<std::string> WaitBoard::fitting(const routing::WorkerReport& worker) const {
  std::vector<std::pair<uint64_t, std::string_view>> fit;
  for (const auto& [text, known] : placement_) {
    if (routing::fits(known.wait_class, worker)) fit.emplace_back(known.order, text);
  }
  std::ranges::sort(fit);
  if (fit.size() > limits::kClaimClassesMax) fit.resize(limits::kClaimClassesMax);
  std::vector<std::string> classes;
  for (const auto& [order, text] : fit) classes.emplace_back(text);
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
