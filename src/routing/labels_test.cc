#include "routing/labels.h"

#include <gtest/gtest.h>

namespace fairlead::routing {

TEST(Labels, OnlyThreePrefixesConstrainPlacement) {
  Labels job = {{"placement.tier", "gold"}, {"constraint.os", "linux"}, {"node.zone", "eu"},
                {"node_id", "step-1"},      {"workflow_id", "wf"},      {"amount", "12"},
                {"nodes.zone", "eu"},       {"preferred_pool", "gpu"},  {"Node.zone", "eu"}};
  Labels expected = {{"placement.tier", "gold"}, {"constraint.os", "linux"}, {"node.zone", "eu"}};
  EXPECT_EQ(placement_labels(job), expected);
}

TEST(Labels, NoneOfThePrefixesMeansNoConstraint) {
  EXPECT_EQ(placement_labels({{"team", "a"}}), Labels{});
  EXPECT_EQ(placement_labels({}), Labels{});
}

TEST(Labels, EachRequiredLabelMustBeCarriedWithItsValue) {
  Labels required = {{"node.os", "linux"}, {"node.zone", "eu"}};
  EXPECT_EQ(first_mismatch({{"node.os", "linux"}, {"node.zone", "eu"}, {"x", "y"}}, required),
            nullptr);
  EXPECT_EQ(first_mismatch({{"node.os", "linux"}}, required)->first, "node.zone");
  EXPECT_EQ(first_mismatch({{"node.os", "linux"}, {"node.zone", "us"}}, required)->first,
            "node.zone");
  EXPECT_EQ(first_mismatch({}, required)->first, "node.os");
  EXPECT_EQ(first_mismatch({}, {}), nullptr);
}

TEST(Labels, AnEmptyRequiredValueIsNotMetByAMissingLabel) {
  EXPECT_NE(first_mismatch({}, {{"node.zone", ""}}), nullptr);
  EXPECT_EQ(first_mismatch({{"node.zone", ""}}, {{"node.zone", ""}}), nullptr);
}

}  // namespace fairlead::routing
