#include "scheduler/wait_board.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "base/check.h"
#include "base/limits.h"

namespace fairlead::scheduler {

namespace {

constexpr std::string_view kTenantPrefix = "tenant=";

// No pool, label or value has a zero byte between its parts: what may be mistaken is looked at.
std::string shelf_of(const PoolName& pool) {
  return pool.str();
}
std::string shelf_of(const PoolName& pool, std::string_view label, std::string_view value) {
  std::string name = pool.str();
  name.push_back('\0');
  name += label;
  name.push_back('\0');
  name += value;
  return name;
}

}  // namespace

std::string tenant_class(const TenantId& tenant) {
  return std::string(kTenantPrefix) + tenant.str();
}

bool is_tenant_class(std::string_view wait_class) {
  return wait_class.starts_with(kTenantPrefix);
}

bool WaitBoard::add(const std::string& wait_class, WallTime since) {
  if (is_tenant_class(wait_class)) return tenants_.insert(wait_class).second;
  if (placement_.contains(wait_class)) return false;
  auto parsed = routing::parse_wait_class(wait_class);
  if (!parsed) return false;
  auto known = placement_.emplace(wait_class, Known{*std::move(parsed), since, {}}).first;
  shelve(wait_class, known->second);
  return true;
}

void WaitBoard::shelve(const std::string& text, Known& known) {
  for (const PoolName& pool : known.wait_class.pools) {
    const std::string* best = nullptr;
    std::vector<std::string> names;
    if (known.wait_class.placement.empty()) names.push_back(shelf_of(pool));
    for (const auto& [name, value] : known.wait_class.placement) {
      names.push_back(shelf_of(pool, name, value));
    }
    for (const std::string& name : names) {
      if (!best || shelves_[name].size() < shelves_[*best].size()) best = &name;
    }
    for (const std::string& name : names) {
      if (shelves_[name].empty() && &name != best) shelves_.erase(name);
    }
    shelves_[*best].emplace(known.oldest, text);
    known.shelves.push_back(*best);
  }
}

void WaitBoard::unshelve(const std::string& text, const Known& known) {
  for (const std::string& name : known.shelves) {
    auto shelf = shelves_.find(name);
    shelf->second.erase({known.oldest, text});
    if (shelf->second.empty()) shelves_.erase(shelf);
  }
}

std::vector<std::string> WaitBoard::refresh(const std::string& after,
                                            const std::vector<store::WaitClassView>& page,
                                            bool last) {
  check(last || !page.empty(), "a page that is not the last names classes");
  auto is_listed = [&](const std::string& name) {
    return std::ranges::binary_search(page, name, {}, &store::WaitClassView::wait_class);
  };
  auto end_of_page = [&](const auto& classes) {
    return last ? classes.end() : classes.upper_bound(page.back().wait_class);
  };
  for (auto it = placement_.upper_bound(after); it != end_of_page(placement_);) {
    if (is_listed(it->first)) {
      ++it;
      continue;
    }
    unshelve(it->first, it->second);
    it = placement_.erase(it);
  }
  for (auto it = tenants_.upper_bound(after); it != end_of_page(tenants_);) {
    it = is_listed(*it) ? std::next(it) : tenants_.erase(it);
  }
  std::vector<std::string> unknown;
  for (const store::WaitClassView& view : page) {
    if (add(view.wait_class, view.oldest_since)) {
      unknown.push_back(view.wait_class);
    } else if (auto known = placement_.find(view.wait_class); known != placement_.end()) {
      set_oldest(known->first, known->second, view.oldest_since);
    }
  }
  return unknown;
}

void WaitBoard::set_oldest(const std::string& text, Known& known, WallTime oldest) {
  if (known.oldest == oldest) return;
  for (const std::string& name : known.shelves) {
    Shelf& shelf = shelves_.at(name);
    shelf.erase({known.oldest, text});
    shelf.emplace(oldest, text);
  }
  known.oldest = oldest;
}

std::vector<std::string> WaitBoard::fitting(const routing::WorkerReport& worker) const {
  Shelf fit;
  visit(shelf_of(worker.pool), worker, fit);
  for (const auto& [name, value] : worker.labels) {
    visit(shelf_of(worker.pool, name, value), worker, fit);
  }
  std::vector<std::string> classes;
  for (const auto& [oldest, text] : fit) {
    if (classes.size() == limits::kClaimClassesMax) break;
    classes.push_back(text);
  }
  return classes;
}

void WaitBoard::visit(const std::string& name, const routing::WorkerReport& worker,
                      Shelf& fit) const {
  auto shelf = shelves_.find(name);
  if (shelf == shelves_.end()) return;
  size_t visits = 0;
  size_t found = 0;
  for (const auto& entry : shelf->second) {
    if (++visits > limits::kFittingVisitsMax || found == limits::kClaimClassesMax) break;
    if (!routing::fits(placement_.at(entry.second).wait_class, worker)) continue;
    fit.insert(entry);
    ++found;
  }
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
