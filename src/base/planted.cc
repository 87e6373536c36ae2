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
    case PlantedBug::kRepeatGivesUpItsSlot:
      return "repeat-gives-up-its-slot";
    case PlantedBug::kDowntimeCounts:
      return "downtime-counts";
    case PlantedBug::kOwnClockTrusted:
      return "own-clock-trusted";
    case PlantedBug::kRetriedResultDropped:
      return "retried-result-dropped";
    case PlantedBug::kWrongWorkerTaken:
      return "wrong-worker-taken";
    case PlantedBug::kDoubtfulLeaseForgotten:
      return "doubtful-lease-forgotten";
    case PlantedBug::kApprovalSkipped:
      return "approval-skipped";
    case PlantedBug::kOrphansNeverPublished:
      return "orphans-never-published";
    case PlantedBug::kDeadLetterForgotten:
      return "dead-letter-forgotten";
    case PlantedBug::kRefusedMessageForgotten:
      return "refused-message-forgotten";
    case PlantedBug::kBusAbsenceCounts:
      return "bus-absence-counts";
    case PlantedBug::kLostEpochGivenAgain:
      return "lost-epoch-given-again";
    case PlantedBug::kRetriesUnbounded:
      return "retries-unbounded";
  }
  return "none";
}

}  // namespace fairlead
