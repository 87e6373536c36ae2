#include "base/planted.h"

namespace fairlead {

const char* to_string(PlantedBug bug) {
  switch (bug) {
    case PlantedBug::kNone:
      return "none";
    case PlantedBug::kPublishBeforeCommit:
      return "publish-before-commit";
    case PlantedBug::kGateAcknowledgesDispatchedAway:
      return "gate-acknowledges-dispatched-away";
    case PlantedBug::kLeaseWithoutFencing:
      return "lease-without-fencing";
    case PlantedBug::kOldEpochResultAccepted:
      return "old-epoch-result-accepted";
    case PlantedBug::kEpochPublishedTwice:
      return "epoch-published-twice";
    case PlantedBug::kSlotLeaked:
      return "slot-leaked";
    case PlantedBug::kWakeUpLost:
      return "wake-up-lost";
    case PlantedBug::kRepeatQueuesBehind:
      return "repeat-queues-behind";
  }
  return "none";
}

}  // namespace fairlead
