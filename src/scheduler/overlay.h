// The configuration that services share, as far as a scheduler goes by it: the document
// `cfg:system:default` (CFG-7). Its `data` has, each where it is wanted,
//
//   pools       as pools.yaml:     {topics, pools}
//   timeouts    as timeouts.yaml:  {reconciler, topics, workflows}
//   scheduler   {input_fail_mode}
//
// and belongs to others in all else.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "routing/pool_map.h"
#include "scheduler/fail_mode.h"
#include "scheduler/timeouts_file.h"

namespace fairlead::scheduler {

inline constexpr const char* kOverlayKey = "cfg:system:default";

struct Overlay {
  std::shared_ptr<const routing::PoolMap> pools;  // nullptr: it names none
  std::optional<TimeoutsFile> timeouts;
  std::optional<FailMode> fail_mode;
  std::string canonical;  // two that have the same say the same
};

// kInvalid, with what is wrong, when a part of it makes no sense: then nothing of it is used.
Result<Overlay> parse_overlay(std::string_view document);

// What a replica's own files say.
struct OverlayFiles {
  std::shared_ptr<const routing::PoolMap> pools;  // nullptr: there is no such file
  std::optional<TimeoutsFile> timeouts;
};

// The document with what is new in the files, or nothing when there is none: topics and pools that
// it does not have are added, timeouts are replaced by all that their file says. Files that other
// services have taken in already are not new. `document` is empty when there is none yet.
Result<std::optional<std::string>> merge_files(std::string_view document, const OverlayFiles& files,
                                               WallTime now);

}  // namespace fairlead::scheduler
