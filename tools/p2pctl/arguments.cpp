// The command line of p2pctl: the one file that includes CLI11. See invocation.hpp.

#include <cstdlib>
#include <functional>
#include <map>
#include <sstream>
#include <string_view>

// GCC 12 sees a null pointer where it inlines CLI11's vectors of strings into this file.
#pragma GCC diagnostic ignored "-Wnull-dereference"

#include <CLI/CLI.hpp>

#include "core/base/duration_text.hpp"
#include "core/base/nearest.hpp"
#include "tools/p2pctl/invocation.hpp"

namespace p2p::tools {

namespace {

using core::Error;
using core::ErrorCode;

template <typename Value>
using Choices = std::map<std::string, Value>;

const Choices<Format> formats{
    {"table", Format::table},
    {"wide", Format::wide},
    {"json", Format::json},
    {"jsonl", Format::jsonl},
    {"csv", Format::csv},
    {"name", Format::name}};

const Choices<ColorWish> color_wishes{
    {"auto", ColorWish::automatic}, {"always", ColorWish::always}, {"never", ColorWish::never}};

/// A duration, or a plain number of seconds.
std::optional<core::Duration> read_duration(const std::string& text) {
    const bool is_number = text.find_first_not_of("0123456789") == std::string::npos;
    return core::duration_from_text(is_number && !text.empty() ? text + "s" : text);
}

/// The texts that CLI11 fills in before they mean anything.
struct RawOptions {
    std::string format = "table";
    std::string color = "auto";
    std::string timeout;
    std::string watch;
    bool is_json = false;
    bool has_no_header = false;
};

/// Adds commands with one line each; every one notes its words when it is chosen.
class Commands {
  public:
    Commands(CLI::App& app, Invocation& invocation)
        : app_(app),
          invocation_(invocation) {}

    CLI::App* add_group(const std::string& name, const std::string& about) {
        CLI::App* group = app_.add_subcommand(name, about);
        group->require_subcommand(1)->fallthrough();
        return group;
    }

    CLI::App* add(CLI::App* group, const std::string& name, const std::string& about) {
        CLI::App* parent = group == nullptr ? &app_ : group;
        CLI::App* command = parent->add_subcommand(name, about);
        std::vector<std::string> words;
        if (group != nullptr) words.push_back(group->get_name());
        words.push_back(name);
        command->fallthrough()->final_callback([this, words] { invocation_.words = words; });
        return command;
    }

    /// With one argument, which must be given unless it is `optional`.
    CLI::App* add_about(
        CLI::App* group,
        const std::string& name,
        const std::string& argument,
        const std::string& about) {
        CLI::App* command = add(group, name, about);
        command->add_option(argument, invocation_.arguments, "")->expected(1)->required();
        return command;
    }

  private:
    CLI::App& app_;
    Invocation& invocation_;
};

void add_job_commands(Commands& commands, Invocation& invocation) {
    CLI::App* job = commands.add_group("job", "jobs: what is trained");
    commands.add_about(job, "validate", "FILE", "check a job file (- for stdin), change nothing");
    CLI::App* submit =
        commands.add_about(job, "submit", "FILE", "announce a job to the mesh and join it here");
    submit->add_flag("--wait", invocation.waits, "return when the job has ended");
    commands.add(job, "list", "all jobs that are known here");
    commands.add_about(job, "show", "JOB", "one job, its members and links");
    commands.add_about(job, "join", "JOB", "take part in a job here");
    commands.add_about(job, "pause", "JOB", "take no step here until resumed");
    commands.add_about(job, "resume", "JOB", "go on after a pause");
    commands.add_about(job, "stop", "JOB", "end it for the whole mesh, keeping the model");
    commands.add_about(job, "remove", "JOB", "free its memory and disk here");
}

void add_checkpoint_commands(Commands& commands, Invocation& invocation) {
    const char* which = "the job, then a step, latest (default) or final";
    CLI::App* checkpoint = commands.add_group("checkpoint", "replicas on this node's disk");
    commands.add(checkpoint, "list", "of all jobs, or of one")
        ->add_option("JOB", invocation.arguments, "")
        ->expected(0, 1);
    commands.add(checkpoint, "verify", "read one against its manifest")
        ->add_option("JOB", invocation.arguments, which)
        ->expected(1, 2)
        ->required();
    CLI::App* copy = commands.add(checkpoint, "export", "write the parameters (safetensors)");
    copy->add_option("JOB", invocation.arguments, which)->expected(1, 2)->required();
    copy->add_option("--to", invocation.to, "the file to write, - for stdout")->required();
}

void add_commands(Commands& commands, Invocation& invocation) {
    commands.add(nullptr, "status", "one screen: state, peers, jobs, health");
    commands.add(nullptr, "health", "exit 0 when healthy, 7 when not");
    commands.add_about(nullptr, "wait", "WHAT", "until ready, joined, peers=N or job=NAME:STATE");
    commands.add(nullptr, "init", "found a network with this node as founder");
    commands.add(nullptr, "id", "this node's id");
    commands.add(nullptr, "version", "of p2pctl and of p2pd");
    CLI::App* peer = commands.add_group("peer", "the other nodes");
    commands.add(peer, "list", "all peers that are known here");
    commands.add_about(peer, "show", "PEER", "one peer");
    add_job_commands(commands, invocation);
    add_checkpoint_commands(commands, invocation);
}

void add_options(CLI::App& app, Invocation& invocation, RawOptions& raw) {
    app.add_option("-o,--output", raw.format, "table, wide, json, jsonl, csv, name");
    app.add_flag("--json", raw.is_json, "the same as -o json");
    app.add_option("--watch", raw.watch, "repeat a reading command, --watch or --watch=5s");
    app.add_option("--socket", invocation.socket, "p2pd's control socket")->envname("P2PD_SOCKET");
    app.add_option("--timeout", raw.timeout, "how long to wait (10s; wait: 60s)");
    app.add_option("--color", raw.color, "auto, always, never");
    app.add_flag("--no-header", raw.has_no_header, "tables without their first line");
    app.add_flag("-q,--quiet", invocation.is_quiet, "only the exit code and errors");
    app.add_flag("-v,--verbose", invocation.is_verbose, "say what is asked of p2pd");
}

Error usage(std::string what) {
    return {ErrorCode::invalid, std::move(what), "", "p2pctl --help"};
}

template <typename Value>
core::Result<Value> choose(
    const Choices<Value>& choices, std::string_view option, const std::string& text) {
    const auto found = choices.find(text);
    if (found != choices.end()) return found->second;
    std::string known;
    for (const auto& [name, value] : choices)
        known += (known.empty() ? "" : ", ") + name;
    return usage(std::string(option) + " takes " + known + ", not " + text);
}

/// What CLI11 says of a wrong command line, but for a word that is no command.
Error parse_error(const CLI::App& app, const CLI::Error& wrong) {
    std::vector<std::string> known;
    for (const CLI::App* command : app.get_subcommands(nullptr))
        known.push_back(command->get_name());
    for (const std::string& word : app.remaining(true)) {
        if (word.starts_with("-") || !app.get_subcommands().empty()) continue;
        Error error = usage("'" + word + "' is no command");
        const auto nearest =
            core::nearest_name(word, std::vector<std::string_view>(known.begin(), known.end()));
        if (nearest) error.why = "did you mean " + std::string(*nearest) + "?";
        return error;
    }
    return usage(wrong.what());
}

/// Turns texts into values.
core::Status finish(const CLI::App& app, const RawOptions& raw, Invocation& invocation) {
    const auto format = choose(formats, "--output", raw.is_json ? "json" : raw.format);
    if (!format) return format.error();
    invocation.format = *format;
    const auto color = choose(color_wishes, "--color", raw.color);
    if (!color) return color.error();
    invocation.color = *color;
    invocation.has_header = !raw.has_no_header;
    if (!raw.timeout.empty()) {
        invocation.timeout = read_duration(raw.timeout);
        if (!invocation.timeout) return usage("--timeout " + raw.timeout + " is no duration");
    }
    if (app.count("--watch") > 0) {
        invocation.watch = read_duration(raw.watch);
        if (!invocation.watch || *invocation.watch < std::chrono::milliseconds{100}) {
            return usage("--watch " + raw.watch + " is no duration of 100ms or more");
        }
    }
    return {};
}

/// In CLI11's order, the last first. A bare --watch must not swallow the word after it.
std::vector<std::string> words_of(int count, char** values) {
    std::vector<std::string> words;
    for (int i = count - 1; i > 0; --i) {
        const std::string_view word = values[i];
        words.emplace_back(word == "--watch" ? "--watch=2s" : word);
    }
    return words;
}

}  // namespace

core::Result<ParsedArguments> read_arguments(int count, char** values) {
    ParsedArguments parsed;
    RawOptions raw;
    CLI::App app("p2pctl: look at and steer the p2pd of this machine", "p2pctl");
    app.set_help_all_flag("--help-all", "help of all commands");
    app.require_subcommand(1);
    app.failure_message(CLI::FailureMessage::simple);
    add_options(app, parsed.invocation, raw);
    Commands commands(app, parsed.invocation);
    add_commands(commands, parsed.invocation);
    try {
        app.parse(words_of(count, values));
    } catch (const CLI::Success& asked) {  // --help
        std::ostringstream text;
        parsed.farewell = Farewell{app.exit(asked, text, text), ""};
        parsed.farewell->text = text.str();
        return parsed;
    } catch (const CLI::Error& wrong) {
        return parse_error(app, wrong);
    }
    if (const auto status = finish(app, raw, parsed.invocation); !status) return status.error();
    return parsed;
}

bool asks_for_json(int count, char** values) {
    for (int i = 1; i < count; ++i) {
        const std::string_view word = values[i];
        if (word == "--json" || word == "-ojson" || word == "--output=json") return true;
        const bool is_output = word == "-o" || word == "--output";
        if (is_output && i + 1 < count && std::string_view(values[i + 1]) == "json") return true;
    }
    return false;
}

}  // namespace p2p::tools
