#include "tests/behaviour/story.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/behaviour/runner.h"

namespace fairlead::behaviour {

namespace {

using testing::HasSubstr;

std::optional<Failure> run(std::string_view text) {
  auto stories = parse_stories("a.story", text);
  if (!stories) return Failure{"a.story", 0, stories.error().message};
  return run_story(stories->front(), Mode::kMemory);
}

constexpr std::string_view kSetting = "given topic job.default -> pool default\nstory: One\n";

std::string with_setting(std::string_view lines) {
  return std::string(kSetting) + std::string(lines);
}

}  // namespace

TEST(Story, SettingBelongsToEveryStoryOfTheFile) {
  auto stories = parse_stories("a.story", "# why\ngiven x\n\nstory: One\n a\nstory: Two\n b\n c\n");
  ASSERT_TRUE(stories);
  ASSERT_EQ(stories->size(), 2);
  EXPECT_EQ((*stories)[0].lines.size(), 2);
  EXPECT_EQ((*stories)[1].lines.size(), 3);
  EXPECT_EQ((*stories)[1].lines.back().number, 8);
}

TEST(Story, TitleNamesTheTest) {
  EXPECT_EQ(test_name("A job finds a worker"), "AJobFindsAWorker");
  EXPECT_EQ(test_name("A tenant's next job"), "ATenantsNextJob");
}

TEST(Story, FileWithoutStoriesOrWithTwoOfOneTitleIsAnError) {
  EXPECT_FALSE(parse_stories("a.story", "given x\n"));
  EXPECT_FALSE(parse_stories("a.story", "story: One\n a\nstory: one\n b\n"));
  EXPECT_FALSE(parse_stories("a.story", "story: One\nstory: Two\n b\n"));
}

TEST(Story, WrongExpectationSaysWhatWasExpectedWhatWasThereAndWhere) {
  auto failure =
      run(with_setting("submit job j1 topic job.default\nexpect job j1 RUNNING on w1\n"));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->file, "a.story");
  EXPECT_EQ(failure->line, 4);
  EXPECT_THAT(failure->message, HasSubstr("expect job j1 RUNNING on w1"));
  EXPECT_THAT(failure->message, HasSubstr("expected state RUNNING, not \"PENDING\""));
  EXPECT_THAT(failure->message, HasSubstr("there was: job j1 PENDING"));
}

TEST(Story, LineThatIsNotUnderstoodShowsThoseThatBeginLikeIt) {
  auto failure = run(with_setting("worker w1 explodes\n"));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->line, 3);
  EXPECT_THAT(failure->message, HasSubstr("worker <worker> goes silent"));
  EXPECT_THAT(failure->message, testing::Not(HasSubstr("submit job")));
}

TEST(Story, WordOfTheWrongKindIsNamed) {
  auto failure = run(with_setting("advance soon\n"));
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->message, HasSubstr("\"soon\" is not a duration, such as 250ms"));
  failure = run(with_setting("expect job j1 RUNNING epoch first\n"));
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->message, HasSubstr("\"first\" is not a whole number"));
}

TEST(Story, WordTooManyIsNamed) {
  auto failure = run(with_setting("cancel j1 now\n"));
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->message, HasSubstr("\"now\" does not belong here"));
}

TEST(Story, NothingRunsBeforeEveryLineIsUnderstood) {
  auto failure = run(with_setting("expect job j1 RUNNING\nworker w1 explodes\n"));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->line, 4);
}

TEST(Story, FaultThatNeverStrikesIsAnError) {
  auto failure = run(with_setting("the bus refuses the next dispatch\n"));
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->message, HasSubstr("never struck"));
}

TEST(Story, NothingCanBeAskedOfASchedulerThatIsDown) {
  auto failure = run(with_setting("the scheduler crashes\ncancel j1\n"));
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->message, HasSubstr("the scheduler is down"));
}

}  // namespace fairlead::behaviour
