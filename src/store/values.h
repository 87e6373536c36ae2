// The stored form of what lies beside the records: a version byte, then the fields in order. A
// value that makes no sense is kCorrupt, never a crash.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "store/store.h"

namespace fairlead::store {

// Who has an idempotency key, and until when.
struct KeyHolder {
  JobId job;
  WallTime expires;
};

std::string encode(const DeadLetter& entry);
std::string encode(const Timer& timer);
std::string encode(const StoredMessage& message);
std::string encode(const KeyHolder& holder);
std::string encode(const Blob& blob);
std::string encode(int64_t counter);

Result<DeadLetter> decode_dead_letter(std::string_view bytes);
Result<Timer> decode_timer(std::string_view bytes);
Result<StoredMessage> decode_message(std::string_view bytes);
Result<KeyHolder> decode_key_holder(std::string_view bytes);
Result<Blob> decode_blob(std::string_view bytes);
// When the blob expires, without a copy of its bytes.
Result<std::optional<WallTime>> decode_blob_expiry(std::string_view bytes);
Result<int64_t> decode_counter(std::string_view bytes);

}  // namespace fairlead::store
