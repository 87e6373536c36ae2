#include "edge/http/keys.h"

#include <fmt/core.h>

#include <boost/json/parse.hpp>

#include "base/text.h"
#include "edge/http/api/fields.h"
#include "edge/http/api/text.h"

namespace fairlead::http {

std::optional<Role> parse_role(std::string_view word) {
  std::string role = lower(trim(word));
  if (role == "admin") return Role::kAdmin;
  if (role == "operator" || role == "user" || role == "write") return Role::kOperator;
  if (role == "viewer" || role == "read") return Role::kViewer;
  return std::nullopt;
}

Result<void> ApiKeys::add(std::string_view key, KeyHolder holder) {
  key = trim(key);
  if (key.empty() || key.size() > limits::kApiKeyBytesMax) {
    return fail(ErrorCode::kInvalid, fmt::format("a key has {} bytes, must have 1 to {}",
                                                 key.size(), limits::kApiKeyBytesMax));
  }
  if (by_hash_.size() == limits::kApiKeysMax) {
    return fail(ErrorCode::kInvalid,
                fmt::format("there are more than {} keys", limits::kApiKeysMax));
  }
  if (holder.tenant.empty()) holder.tenant = TenantId("default");
  const std::string& principal = holder.principal;
  for (const std::string* name : {&holder.tenant.str(), &principal}) {
    if (name->size() > limits::kTenantBytesMax || !is_utf8(*name)) {
      return fail(ErrorCode::kInvalid, fmt::format("a tenant and a principal have at most {} bytes "
                                                   "of UTF-8",
                                                   limits::kTenantBytesMax));
    }
  }
  if (!by_hash_.emplace(hash_of(key), std::move(holder)).second) {
    return fail(ErrorCode::kInvalid, "a key is given twice");
  }
  return {};
}

Result<void> ApiKeys::add_single(std::string_view key) {
  KeyHolder holder;
  holder.all_tenants = true;
  return add(key, std::move(holder));
}

Result<void> ApiKeys::add_all(std::string_view text) {
  text = trim(text);
  if (text.empty()) return {};
  if (text[0] != '[' && text[0] != '{') return add_words(text);
  auto value = parse_json(text);
  if (!value) return fail(ErrorCode::kInvalid, "API keys: " + value.error().message);
  return add_json(*value);
}

Result<void> ApiKeys::add_json(const json::value& value) {
  size_t index = 0;
  if (const json::array* list = value.if_array()) {
    for (const json::value& entry : *list) {
      if (auto added = add_entry(entry, {}, index++); !added) return added;
    }
    return {};
  }
  const json::object& object = value.as_object();
  if (const json::value* keys = object.if_contains("keys"); keys && keys->is_array()) {
    return add_json(*keys);
  }
  for (const auto& [key, entry] : object) {
    if (auto added = add_entry(entry, key, index++); !added) return added;
  }
  return {};
}

Result<void> ApiKeys::add_entry(const json::value& entry, std::string_view key, size_t index) {
  auto wrong = [&](std::string_view what) {
    return fail(ErrorCode::kInvalid, fmt::format("API keys, entry {}: {}", index + 1, what));
  };
  if (entry.is_string() && key.empty()) {
    auto added = add(std::string_view(entry.get_string()), {});
    if (!added) return wrong(added.error().message);
    return {};
  }
  if (!entry.is_object()) return wrong("must be an object with key, tenant and role");
  Fields fields(entry, Fields::Unknown::kTolerated);
  KeyHolder holder;
  std::string own_key = fields.text("key", limits::kApiKeyBytesMax);
  holder.tenant = TenantId(fields.text("tenant", limits::kTenantBytesMax));
  if (holder.tenant.empty()) {
    holder.tenant = TenantId(fields.text("tenant_id", limits::kTenantBytesMax));
  }
  std::string role = fields.text("role");
  holder.principal = fields.text("principal_id");
  holder.all_tenants = fields.flag("allow_cross_tenant");
  holder.expires_at = fields.time("expires_at", false);
  if (fields.problem()) return wrong("a field is of the wrong kind");
  if (!role.empty()) {
    auto parsed = parse_role(role);
    if (!parsed) return wrong("role \"" + role + "\" must be viewer, operator or admin");
    holder.role = *parsed;
  }
  auto added = add(own_key.empty() ? key : own_key, std::move(holder));
  if (!added) return wrong(added.error().message);
  return {};
}

Result<void> ApiKeys::add_words(std::string_view text) {
  size_t index = 0;
  for (std::string_view word : split(text, ',')) {
    if (trim(word).empty()) continue;
    ++index;
    std::vector<std::string_view> parts = split(trim(word), ':');
    KeyHolder holder;
    std::string_view key = parts[0];
    if (parts.size() > 1) {
      holder.tenant = TenantId(trim(parts[0]));
      key = parts[1];
    }
    if (parts.size() > 2 && !trim(parts[2]).empty()) {
      auto role = parse_role(parts[2]);
      if (!role) {
        return fail(ErrorCode::kInvalid,
                    fmt::format("API keys, entry {}: role \"{}\" must be viewer, operator or admin",
                                index, parts[2]));
      }
      holder.role = *role;
    }
    if (parts.size() > 3) holder.principal = trim(parts[3]);
    if (parts.size() > 4) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("API keys, entry {}: must be tenant:key:role:principal", index));
    }
    if (auto added = add(key, std::move(holder)); !added) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("API keys, entry {}: {}", index, added.error().message));
    }
  }
  return {};
}

std::string ApiKeys::hash_of(std::string_view key) {
  return sha256(trim(key));
}

const KeyHolder* ApiKeys::find(const std::string& hash, WallTime now) const {
  auto found = by_hash_.find(hash);
  if (found == by_hash_.end()) return nullptr;
  const KeyHolder& holder = found->second;
  return holder.expires_at && *holder.expires_at <= now ? nullptr : &holder;
}

}  // namespace fairlead::http
