#include "routing/yaml_reader.h"

#include <charconv>
#include <sstream>

#include <yaml-cpp/eventhandler.h>

#include "base/limits.h"
#include "base/text.h"

namespace fairlead::routing {

namespace {

constexpr size_t kFileBytesMax = 1 << 20;
constexpr size_t kNameBytesMax = limits::kTopicBytesMax;
// All names in the file, and in the lists that aliases repeat.
constexpr size_t kNamesMax = 100'000;

// Hears a document and keeps nothing of it.
class Deaf final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

// YAML::LoadAll would tell too, but where the parser stands still (as at a comma that opens the
// file) it reads documents for ever.
bool is_one_document(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  Deaf deaf;
  int documents = 0;
  while (documents < 2 && parser.HandleNextDocument(deaf)) ++documents;
  return documents == 1;
}

}  // namespace

void refuse(const YAML::Node& node, std::string_view message) {
  throw MalformedYaml{fmt::format("line {}: {}", node.Mark().line + 1, message)};
}

std::string text_of(const YAML::Node& node, std::string_view what) {
  if (!node.IsScalar()) refuse(node, fmt::format("{} must be a text", what));
  return node.Scalar();
}

uint32_t seconds_of(const YAML::Node& node, std::string_view what) {
  std::string text = text_of(node, what);
  uint32_t seconds = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size()) {
    refuse(node, fmt::format("{} \"{}\" must be a whole number of seconds", what, text));
  }
  return seconds;
}

std::vector<std::string> YamlReader::names(const YAML::Node& list, std::string_view what) {
  if (!list.IsSequence()) refuse(list, fmt::format("{} must be a list", what));
  std::vector<std::string> all;
  for (const YAML::Node& item : list) all.push_back(name(item, what));
  return all;
}

std::string YamlReader::name(const YAML::Node& node, std::string_view what) {
  if (++names_ > kNamesMax) refuse(node, fmt::format("there are more than {} names", kNamesMax));
  std::string text(trim(text_of(node, what)));
  if (text.empty()) refuse(node, fmt::format("{} must not be empty", what));
  if (text.size() > kNameBytesMax) {
    refuse(node, fmt::format("{} must not be longer than {} bytes", what, kNameBytesMax));
  }
  return text;
}

YAML::Node one_document(std::string_view text) {
  if (text.size() > kFileBytesMax) {
    throw MalformedYaml{
        fmt::format("it has {} bytes, at most {} are allowed", text.size(), kFileBytesMax)};
  }
  std::string copy(text);
  if (!is_one_document(copy)) throw MalformedYaml{"it must be one YAML document"};
  return YAML::Load(copy);
}

}  // namespace fairlead::routing
