#include "app/redis_watch.h"

#include <gmock/gmock.h>

namespace fairlead::app {
namespace {

using store::redis::ServerSettings;
using testing::HasSubstr;

TEST(DurabilitySentence, SaysWhatACrashMayLose) {
  ServerSettings settings;
  settings.append_only = false;
  EXPECT_THAT(durability_sentence(settings), HasSubstr("since its last snapshot is lost"));
  settings.append_only = true;
  settings.append_sync = "always";
  EXPECT_THAT(durability_sentence(settings), HasSubstr("before it acknowledges"));
  settings.append_sync = "everysec";
  EXPECT_THAT(durability_sentence(settings), HasSubstr("may lose the last one"));
  settings.append_sync = "no";
  EXPECT_THAT(durability_sentence(settings), HasSubstr("leaves it to the system"));
}

TEST(DurabilitySentence, SaysWhatAFailoverMayLose) {
  ServerSettings settings;
  settings.replicas_min = 0;
  EXPECT_THAT(durability_sentence(settings), HasSubstr("a failover may lose"));
  settings.replicas_min = 1;
  EXPECT_THAT(durability_sentence(settings), HasSubstr("needs 1 replica to take writes"));
}

}  // namespace
}  // namespace fairlead::app
