// API keys: who may call. Only their hashes are kept and compared.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "base/time.h"
#include "edge/http/api/message.h"

namespace fairlead::http {

struct KeyHolder {
  TenantId tenant{"default"};
  Role role = Role::kAdmin;
  std::string principal;
  bool all_tenants = false;
  std::optional<WallTime> expires_at;
};

// Immutable once made; to change the keys, parse anew and swap.
class ApiKeys {
 public:
  // One key, an admin's who may act for every tenant: CORDUM_API_KEY.
  Result<void> add_single(std::string_view key);

  // Several keys: CORDUM_API_KEYS, or the file named by CORDUM_API_KEYS_PATH. Either JSON (a list
  // of entries, an object of entries by key, or {"keys": […]}), an entry being a text or an object
  // {key, tenant, role, principal_id, allow_cross_tenant, expires_at}; or words between commas,
  // each "tenant:key:role:principal" or a key alone. The error says which entry is wrong.
  Result<void> add_all(std::string_view text);

  bool empty() const { return by_hash_.empty(); }
  size_t size() const { return by_hash_.size(); }

  // By what a key is known here.
  static std::string hash_of(std::string_view key);
  // nullptr when there is none, or it has expired.
  const KeyHolder* find(const std::string& hash, WallTime now) const;

 private:
  Result<void> add(std::string_view key, KeyHolder holder);
  Result<void> add_json(const json::value& value);
  Result<void> add_entry(const json::value& entry, std::string_view key, size_t index);
  Result<void> add_words(std::string_view text);

  std::unordered_map<std::string, KeyHolder> by_hash_;
};

// viewer, operator (user, write) and admin. Nothing for any other word.
std::optional<Role> parse_role(std::string_view word);

}  // namespace fairlead::http
