// The stored form of a record: a version byte, the length of the rest, then tagged fields. Fields
// that hold their default take no bytes; unknown tags of a newer writer are skipped.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "job/record.h"

namespace fairlead::job {

// Appends to `out`, so that a writer can reuse one buffer.
void encode(const Record& record, std::string& out);
std::string encode(const Record& record);

// Bytes from disk are not trusted: anything malformed, cut short or of a newer version is kCorrupt,
// never a crash, and memory stays in proportion to the bytes.
Result<Record> decode(std::string_view bytes);

// The bytes of all its texts: what makes one record much larger than another.
size_t text_bytes(const Record& record);

}  // namespace fairlead::job
