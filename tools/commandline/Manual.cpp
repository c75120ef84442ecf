//===- Manual.cpp - manual pages and completion of command lines ----------------===//
#include "tools/commandline/Manual.h"
#include <algorithm>
#include <cstdio>
#include <functional>

namespace hybrid::tools {
namespace {

std::string replaced(std::string text, const std::string &what, const std::string &by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

/// Calls with each option that --help shows, those of its groups too.
void forOptions(const CLI::App &app, const std::function<void(const CLI::Option &)> &use) {
  for (const CLI::Option *option : app.get_options())
    if (!option->get_group().empty())
      use(*option);
  for (const CLI::App *group : app.get_subcommands([](const CLI::App *) { return true; }))
    if (group->get_name().empty())
      forOptions(*group, use);
}

/// Calls with the app and each of its verbs, with the words that lead to it: "", " data", " data
/// prepare".
void forVerbs(const CLI::App &app, const std::string &words,
              const std::function<void(const CLI::App &, const std::string &)> &use) {
  use(app, words);
  for (const CLI::App *verb : app.get_subcommands([](const CLI::App *) { return true; }))
    if (!verb->get_name().empty() && !verb->get_group().empty())
      forVerbs(*verb, words + " " + verb->get_name(), use);
}

/// The program's name, which the library takes from the command line.
std::string programOf(const CLI::App &app) {
  const std::string name = app.get_name();
  return name.substr(name.rfind('/') + 1);
}

std::vector<std::string> namesOf(const CLI::Option &option) {
  std::vector<std::string> names;
  for (const std::string &name : option.get_snames())
    names.push_back("-" + name);
  for (const std::string &name : option.get_lnames())
    names.push_back("--" + name);
  return names;
}

// ---- man ----

/// Text of a page: no character of it is a command.
std::string roff(const std::string &text) {
  std::string result = replaced(replaced(text, "\\", "\\e"), "-", "\\-");
  result = replaced(replaced(result, "\n.", "\n\\&."), "\n'", "\n\\&'");
  return result.starts_with(".") || result.starts_with("'") ? "\\&" + result : result;
}

void describeOption(const CLI::Option &option, std::string &page) {
  std::string names;
  for (const std::string &name : namesOf(option))
    names += (names.empty() ? "" : ", ") + roff(name);
  const bool isPositional = names.empty();
  if (isPositional)
    names = roff(option.get_name(true));
  page += ".TP\n\\fB" + names + "\\fR";
  if (!isPositional && option.get_expected_max() > 0 && !option.get_type_name().empty())
    page += " \\fI" + roff(option.get_type_name()) + "\\fR";
  page += "\n" + roff(option.get_description());
  if (!option.get_default_str().empty())
    page += " [" + roff(option.get_default_str()) + "]";
  page += '\n';
}

// ---- shells ----

/// What can follow a verb's words: name and description.
std::vector<std::pair<std::string, std::string>> wordsOf(const CLI::App &app) {
  std::vector<std::pair<std::string, std::string>> words;
  for (const CLI::App *verb : app.get_subcommands([](const CLI::App *) { return true; }))
    if (!verb->get_name().empty() && !verb->get_group().empty())
      words.emplace_back(verb->get_name(), verb->get_description());
  forOptions(app, [&](const CLI::Option &option) {
    for (const std::string &name : namesOf(option))
      words.emplace_back(name, option.get_description());
  });
  return words;
}

/// In single quotes of a shell.
std::string inQuotes(const std::string &text) { return "'" + replaced(text, "'", "'\\''") + "'"; }

std::string functionName(const CLI::App &app) { return "_" + replaced(programOf(app), "-", "_"); }

/// The lines that put the words of the verb before the cursor in `verb`.
std::string findVerb(const CLI::App &app, const std::string &first, const std::string &word,
                     const std::string &cursor) {
  std::string verbs;
  forVerbs(app, "", [&](const CLI::App &, const std::string &words) {
    if (!words.empty())
      verbs += (verbs.empty() ? "" : " | ") + inQuotes(words);
  });
  std::string script = "  local verb='' i\n";
  if (!verbs.empty())
    script += "  for ((i = " + first + "; i < " + cursor + "; i++)); do\n    case \"$verb " + word +
              "\" in\n      " + verbs + ") verb=\"$verb " + word + "\" ;;\n    esac\n  done\n";
  return script;
}

} // namespace

std::string manualPage(const CLI::App &app) {
  const std::string program = programOf(app);
  std::string title = program;
  std::transform(title.begin(), title.end(), title.begin(), ::toupper);
  const std::string about = app.get_description();
  std::string summary = about.substr(0, about.find('\n'));
  if (summary.starts_with(program + " "))
    summary = summary.substr(program.size() + 1);
  std::string page = ".TH " + roff(title) + " 1\n.SH NAME\n" + roff(program) + " \\- " +
                     roff(summary) + "\n.SH DESCRIPTION\n.nf\n" + roff(about) + "\n.fi\n";
  forVerbs(app, "", [&](const CLI::App &verb, const std::string &words) {
    if (words.empty())
      page += ".SH OPTIONS\n";
    else
      page += ".SH " + roff(program + words) + "\n" + roff(verb.get_description()) + "\n";
    forOptions(verb, [&](const CLI::Option &option) { describeOption(option, page); });
  });
  return page;
}

std::string bashCompletion(const CLI::App &app) {
  const std::string name = functionName(app);
  std::string script = "# Completion of " + programOf(app) + " for bash.\n" + name + "() {\n" +
                       findVerb(app, "1", "${COMP_WORDS[i]}", "COMP_CWORD") +
                       "  local words=''\n  case \"$verb\" in\n";
  forVerbs(app, "", [&](const CLI::App &verb, const std::string &words) {
    std::string names;
    for (const auto &[each, description] : wordsOf(verb))
      names += (names.empty() ? "" : " ") + each;
    script += "    " + inQuotes(words) + ") words=" + inQuotes(names) + " ;;\n";
  });
  return script +
         "  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n}\n" +
         "complete -o default -F " + name + " " + programOf(app) + "\n";
}

std::string zshCompletion(const CLI::App &app) {
  const std::string name = functionName(app);
  std::string script = "#compdef " + programOf(app) + "\n" + name + "() {\n" +
                       findVerb(app, "2", "${words[i]}", "CURRENT") +
                       "  local -a known\n  case \"$verb\" in\n";
  forVerbs(app, "", [&](const CLI::App &verb, const std::string &words) {
    script += "    " + inQuotes(words) + ") known=(\n";
    for (const auto &[each, description] : wordsOf(verb))
      script += "      " +
                inQuotes(replaced(each, ":", "\\:") + ":" + replaced(description, "\n", " ")) +
                "\n";
    script += "    ) ;;\n";
  });
  return script + "  esac\n  _describe " + inQuotes(programOf(app)) + " known\n  _files\n}\n" +
         name + " \"$@\"\n";
}

void addManual(CLI::App &app) {
  app.add_option_function<std::string>(
         "--manual",
         [&app](const std::string &kind) {
           const std::string text = kind == "man"    ? manualPage(app)
                                    : kind == "bash" ? bashCompletion(app)
                                                     : zshCompletion(app);
           std::fputs(text.c_str(), stdout);
           throw CLI::RuntimeError(0);
         },
         "man, bash or zsh")
      ->group("")
      ->check(CLI::IsMember({"man", "bash", "zsh"}))
      ->trigger_on_parse();
}

} // namespace hybrid::tools
