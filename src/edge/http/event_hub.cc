#include "edge/http/event_hub.h"

#include <charconv>

namespace fairlead::http {

bool wants(const StreamWish& wish, const StreamEvent& event) {
  if (!wish.job.empty() && wish.job != event.job) return false;
  return wish.all_tenants || (!event.tenant.empty() && event.tenant == wish.tenant);
}

std::string EventHub::id_of(uint64_t number) const {
  return life_ + "-" + std::to_string(number);
}

void EventHub::publish(StreamEvent event) {
  uint64_t number = ++published_;
  recent_bytes_ += event.data.size();
  recent_.push_back({number, std::move(event)});
  while (recent_.size() > limits::kStreamReplayEvents ||
         recent_bytes_ > limits::kStreamReplayBytes) {
    recent_bytes_ -= recent_.front().event.data.size();
    recent_.pop_front();
    if (recent_.empty()) return;
  }
  std::string id = id_of(number);
  const StreamEvent& kept = recent_.back().event;
  readers_.remove_if([&](Listening& listening) {
    return wants(listening.wish, kept) && !listening.reader->deliver(id, kept);
  });
}

bool EventHub::replay(Reader* reader, const StreamWish& wish, std::string_view last_id) {
  size_t dash = last_id.rfind('-');
  uint64_t seen = 0;
  bool known = dash != last_id.npos && last_id.substr(0, dash) == life_;
  if (known) {
    std::string_view digits = last_id.substr(dash + 1);
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seen);
    known = error == std::errc() && end == digits.data() + digits.size() && seen <= published_;
  }
  uint64_t first = recent_.empty() ? published_ + 1 : recent_.front().number;
  if (!known || seen + 1 < first) {
    StreamEvent gap{.name = "stream.gap",
                    .data = R"({"type":"stream.gap","reason":"events after the last one seen are )"
                            R"(no longer remembered"})"};
    if (!reader->deliver(id_of(first - 1), gap)) return false;
    seen = first - 1;
  }
  for (const Entry& entry : recent_) {
    if (entry.number <= seen || !wants(wish, entry.event)) continue;
    if (!reader->deliver(id_of(entry.number), entry.event)) return false;
  }
  return true;
}

bool EventHub::add(Reader* reader, StreamWish wish, std::string_view last_id) {
  if (!wish.first_event.empty() && last_id.empty()) {
    StreamEvent first{wish.first_event, wish.job, wish.tenant, wish.first_data,
                      wish.first_revision};
    if (!reader->deliver(id_of(published_), first)) return false;
    for (const Entry& entry : recent_) {
      bool followed = entry.event.revision > wish.first_revision && wants(wish, entry.event);
      if (followed && !reader->deliver(id_of(entry.number), entry.event)) return false;
    }
  }
  if (!last_id.empty() && !replay(reader, wish, last_id)) return false;
  readers_.push_back({reader, std::move(wish)});
  return true;
}

void EventHub::remove(Reader* reader) {
  readers_.remove_if([&](const Listening& listening) { return listening.reader == reader; });
}

void EventHub::forget() {
  recent_.clear();
  recent_bytes_ = 0;
}

}  // namespace fairlead::http
