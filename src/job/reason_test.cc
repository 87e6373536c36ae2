#include "job/reason.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace fairlead::job {
namespace {

TEST(ReasonCode, TextsAreReadBackAndDistinct) {
  std::set<std::string> texts;
  for (ReasonCode code : kAllReasonCodes) {
    EXPECT_EQ(parse_reason_code(to_string(code)), code) << to_string(code);
    texts.insert(to_string(code));
  }
  EXPECT_EQ(texts.size(), kAllReasonCodes.size());
}

TEST(ReasonCode, TextsAreThoseOfTheSpecification) {
  for (const char* text :
       {"no_pool_mapping", "no_workers", "pool_overloaded", "tenant_limit", "stale_worker",
        "safety_denied", "safety_unknown", "max_retries_exceeded", "max_scheduling_retries",
        "dispatch_failed", "output_quarantined", "output_quarantined_async", "quarantine_failed",
        "saga_unmarshal_failed", "approval_rejected", "unknown_job", "timeout"}) {
    EXPECT_TRUE(parse_reason_code(text)) << text;
  }
}

TEST(ReasonCode, NoReasonHasNoText) {
  EXPECT_STREQ(to_string(ReasonCode::kNone), "");
}

TEST(ReasonCode, AWorkersOwnCodeIsNoneOfOurs) {
  EXPECT_EQ(parse_reason_code("E_MODEL_OVERLOADED"), std::nullopt);
  EXPECT_EQ(parse_reason_code("NO_WORKERS"), std::nullopt);
}

TEST(ReasonCode, NumbersAreStoredAndStayAsTheyAre) {
  for (size_t i = 0; i < kAllReasonCodes.size(); ++i) {
    EXPECT_EQ(static_cast<size_t>(kAllReasonCodes[i]), i);
  }
  EXPECT_EQ(static_cast<int>(ReasonCode::kNoWorkers), 1);
  EXPECT_EQ(static_cast<int>(ReasonCode::kNoPoolMapping), 9);
  EXPECT_EQ(static_cast<int>(ReasonCode::kTimeout), 15);
  EXPECT_EQ(static_cast<int>(ReasonCode::kWorkerReported), 25);
}

}  // namespace
}  // namespace fairlead::job
