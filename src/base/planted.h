// Planted bugs: switches in the real code that make it wrong in one way, so that a simulation can
// prove that its checkers would notice. All are off but where a simulation or a campaign of crashes
// (tests/chaos/) turns one on.
#pragma once

#include <array>

namespace fairlead {

enum class PlantedBug {
  kNone,
  kPublishBeforeCommit,
  kGateAcknowledgesDispatchedAway,
  kLeaseWithoutFencing,
  kOldEpochResultAccepted,
  kEpochPublishedTwice,
  kSlotLeaked,
  kWakeUpLost,
  kRepeatQueuesBehind,
  kRepeatGivesUpItsSlot,
  kDowntimeCounts,
  kOwnClockTrusted,
  kRetriedResultDropped,
  kWrongWorkerTaken,
  kDoubtfulLeaseForgotten,
  kApprovalSkipped,
  kOrphansNeverPublished,
  kDeadLetterForgotten,
  kRefusedMessageForgotten,
  kBusAbsenceCounts,
  kLostEpochGivenAgain,
  kRetriesUnbounded,
};

inline constexpr std::array kPlantedBugs = {
    PlantedBug::kPublishBeforeCommit,  PlantedBug::kGateAcknowledgesDispatchedAway,
    PlantedBug::kLeaseWithoutFencing,  PlantedBug::kOldEpochResultAccepted,
    PlantedBug::kEpochPublishedTwice,  PlantedBug::kSlotLeaked,
    PlantedBug::kWakeUpLost,           PlantedBug::kRepeatQueuesBehind,
    PlantedBug::kRepeatGivesUpItsSlot, PlantedBug::kDowntimeCounts,
    PlantedBug::kOwnClockTrusted,      PlantedBug::kRetriedResultDropped,
    PlantedBug::kWrongWorkerTaken,     PlantedBug::kDoubtfulLeaseForgotten,
    PlantedBug::kApprovalSkipped,      PlantedBug::kOrphansNeverPublished,
    PlantedBug::kDeadLetterForgotten,  PlantedBug::kRefusedMessageForgotten,
    PlantedBug::kBusAbsenceCounts,     PlantedBug::kLostEpochGivenAgain,
    PlantedBug::kRetriesUnbounded,
};

const char* to_string(PlantedBug bug);

// One thread simulates; nobody else writes it.
inline constinit PlantedBug planted_bug = PlantedBug::kNone;

inline bool planted(PlantedBug bug) {
  return planted_bug == bug;
}

}  // namespace fairlead
