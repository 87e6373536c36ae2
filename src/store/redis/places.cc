#include "store/redis/places.h"

#include <cstdint>

namespace fairlead::store::redis {

namespace {

constexpr uint8_t kListOfSixteen = 0x90;
constexpr uint8_t kShortText = 0xa0;
constexpr uint8_t kText8 = 0xd9;
constexpr uint8_t kText16 = 0xda;

void pack_text(std::string& out, const std::string& text) {
  if (text.size() < 32) {
    out += static_cast<char>(kShortText | text.size());
  } else if (text.size() < 256) {
    out += {static_cast<char>(kText8), static_cast<char>(text.size())};
  } else {
    // Names are far shorter than this could hold (base/limits.h).
    out += {static_cast<char>(kText16), static_cast<char>(text.size() >> 8),
            static_cast<char>(text.size())};
  }
  out += text;
}

// Takes a text off the front; empty when there is none.
std::string_view take_text(std::string_view& bytes) {
  auto byte = [&](size_t at) { return static_cast<uint8_t>(bytes[at]); };
  size_t head = 1, size = 0;
  if (bytes.empty()) return {};
  if ((byte(0) & 0xe0) == kShortText) {
    size = byte(0) & 0x1f;
  } else if (byte(0) == kText8 && bytes.size() > 1) {
    head = 2;
    size = byte(1);
  } else if (byte(0) == kText16 && bytes.size() > 2) {
    head = 3;
    size = static_cast<size_t>(byte(1)) << 8 | byte(2);
  } else {
    bytes = {};
    return {};
  }
  std::string_view text = bytes.substr(head, size);
  bytes.remove_prefix(std::min(bytes.size(), head + size));
  return text;
}

}  // namespace

Places::Places(const job::Record& record) {
  if (job::holds_tenant_slot(record)) tenant = record.tenant.str();
  if (job::holds_worker_slot(record) && !record.assignee.empty()) {
    worker = record.assignee.str();
    worker_at = std::to_string(to_micros(record.dispatched_at));
  }
  if (job::is_terminal(record.state)) return;
  if (record.wait) wait_class = record.wait->wait_class;
  if (record.due && wait_class.empty()) due = std::to_string(to_micros(*record.due));
  if (record.publish_pending) unpublished = std::to_string(to_micros(record.dispatched_at));
}

std::string Places::pack() const {
  std::string out(1, static_cast<char>(kListOfSixteen | 6));
  for (const std::string* text : {&tenant, &worker, &worker_at, &wait_class, &due, &unpublished}) {
    pack_text(out, *text);
  }
  return out;
}

Places Places::unpack(std::string_view bytes) {
  Places places;
  if (bytes.empty()) return places;
  bytes.remove_prefix(1);
  for (std::string* text : {&places.tenant, &places.worker, &places.worker_at, &places.wait_class,
                            &places.due, &places.unpublished}) {
    *text = take_text(bytes);
  }
  return places;
}

}  // namespace fairlead::store::redis
