#include "cli/command_line.h"

#include <algorithm>

#include <fmt/core.h>

namespace fairlead::cli {

namespace {

std::unexpected<Error> wrong(std::string message) {
  return fail(ErrorCode::kInvalid, std::move(message));
}

const Flag* find_flag(const Dialect& dialect, const Verb* verb, std::string_view name) {
  auto find = [name](std::span<const Flag> flags) -> const Flag* {
    auto found = std::ranges::find(flags, name, &Flag::name);
    return found == flags.end() ? nullptr : &*found;
  };
  if (verb) {
    if (const Flag* found = find(verb->flags)) return found;
  }
  return find(common_flags(dialect));
}

// Flags may stand before the verb: then any verb's may be meant.
const Flag* find_any_flag(const Dialect& dialect, std::string_view name) {
  if (const Flag* found = find_flag(dialect, nullptr, name)) return found;
  for (const Verb& verb : dialect.verbs) {
    if (const Flag* found = find_flag(dialect, &verb, name)) return found;
  }
  return nullptr;
}

std::string near(const Dialect& dialect, std::string_view word) {
  std::string names;
  for (const Verb& verb : dialect.verbs) {
    if (verb.name.starts_with(word) && verb.name.size() > word.size() &&
        verb.name[word.size()] == ' ') {
      names += (names.empty() ? "" : ", ") + std::string(verb.name.substr(word.size() + 1));
    }
  }
  return names;
}

struct Split {
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::string>> flags;
};

Result<Split> split_words(const Dialect& dialect, std::span<const std::string_view> args) {
  Split split;
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string_view word = args[i];
    if (word == "--") {
      for (++i; i < args.size(); ++i) split.words.emplace_back(args[i]);
      break;
    }
    const bool is_flag =
        word.starts_with("--") ||
        (word.starts_with('-') && word.size() > 1 &&
         (dialect.cordumctl || word == "-o" || word.starts_with("-o=") || word == "-h"));
    if (!is_flag) {
      split.words.emplace_back(word);
      continue;
    }
    std::string_view name = word.substr(word.starts_with("--") ? 2 : 1);
    std::optional<std::string_view> value;
    if (size_t equals = name.find('='); equals != name.npos) {
      value = name.substr(equals + 1);
      name = name.substr(0, equals);
    }
    if (name == "o") name = "output";
    if (name == "h") name = "help";
    const Flag* flag = find_any_flag(dialect, name);
    if (!flag) return wrong(fmt::format("there is no flag --{}", name));
    if (!flag->value.empty() && !value) {
      if (++i == args.size())
        return wrong(fmt::format("--{} needs a value: {}", name, flag->value));
      value = args[i];
    }
    if (flag->value.empty() && value && *value == "false") continue;
    if (flag->value.empty() && value && *value != "true") {
      return wrong(fmt::format("--{} takes no value", name));
    }
    split.flags.emplace_back(name, value.value_or("true"));
  }
  return split;
}

}  // namespace

Result<CommandLine> parse_command_line(const Dialect& dialect,
                                       std::span<const std::string_view> args) {
  auto split = split_words(dialect, args);
  if (!split) return std::unexpected(split.error());
  CommandLine line;
  for (auto& [name, value] : split->flags) line.flags[name].push_back(std::move(value));
  line.help = line.flags.contains("help");
  std::vector<std::string>& words = split->words;
  if (!words.empty() && words[0] == "help") {
    line.help = true;
    words.erase(words.begin());
  }
  if (words.empty()) {
    if (!line.help && !line.flags.empty()) return wrong("there is no verb");
    line.help = true;
    return line;
  }

  // The longest name that the words begin with.
  size_t used = 0;
  std::string name;
  for (size_t count = 1; count <= std::min<size_t>(words.size(), 3); ++count) {
    name += (count > 1 ? " " : "") + words[count - 1];
    auto found = std::ranges::find(dialect.verbs, name, &Verb::name);
    if (found == dialect.verbs.end()) continue;
    line.verb = &*found;
    used = count;
  }
  if (!line.verb) {
    if (std::string names = near(dialect, words[0]); !names.empty()) {
      if (line.help) {
        line.group = words[0];
        return line;
      }
      return wrong(words.size() > 1 ? fmt::format("there is no verb '{} {}'; {}: {}", words[0],
                                                  words[1], words[0], names)
                                    : fmt::format("{} what? {}", words[0], names));
    }
    return wrong(fmt::format("there is no verb '{}'; see {} --help", words[0], dialect.program));
  }
  line.words.assign(words.begin() + static_cast<ptrdiff_t>(used), words.end());
  if (line.help) return line;
  for (const auto& [flag, values] : line.flags) {
    if (!find_flag(dialect, line.verb, flag)) {
      return wrong(fmt::format("{} has no flag --{}; see {} {} --help", line.verb->name, flag,
                               dialect.program, line.verb->name));
    }
  }
  const size_t count = line.words.size();
  if (count < line.verb->words_min || count > line.verb->words_max) {
    return wrong(fmt::format("usage: {} {}{}{}", dialect.program, line.verb->name,
                             line.verb->words.empty() ? "" : " ", line.verb->words));
  }
  return line;
}

}  // namespace fairlead::cli
