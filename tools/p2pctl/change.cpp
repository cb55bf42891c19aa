// The commands that change something, or send and fetch a file: init, jobs, checkpoints. See
// commands.hpp.

#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include "core/base/limits.hpp"
#include "proto/control.hpp"
#include "proto/json.hpp"
#include "tools/p2pctl/commands.hpp"
#include "tools/p2pctl/document.hpp"
#include "tools/p2pctl/human.hpp"
#include "tools/p2pctl/render.hpp"
#include "tools/p2pctl/terminal.hpp"

namespace p2p::tools {

namespace {

using core::Error;
using core::ErrorCode;
using core::Result;

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

using File = std::unique_ptr<std::FILE, CloseFile>;

std::string last_error() {
    return std::generic_category().message(errno);
}

Result<std::string> read_whole(std::FILE* file, const std::string& name) {
    std::string text;
    char piece[16 * core::kib];
    while (const std::size_t got = std::fread(piece, 1, sizeof(piece), file)) {
        text.append(piece, got);
        if (text.size() > core::limits::job_spec_bytes_max) {
            const std::string limit = std::to_string(core::limits::job_spec_bytes_max);
            return Error{
                ErrorCode::too_large, name + " is larger than a job may be", limit + " bytes", ""};
        }
    }
    if (std::ferror(file) != 0) {
        return Error{ErrorCode::unreadable, "cannot read " + name, last_error(), ""};
    }
    return text;
}

/// A file, or stdin for "-".
Result<std::string> read_job_file(const std::string& name) {
    if (name == "-") return read_whole(stdin, "the standard input");
    const File file(std::fopen(name.c_str(), "rbe"));
    if (!file) return Error{ErrorCode::unreadable, "cannot read " + name, last_error(), ""};
    return read_whole(file.get(), name);
}

/// "mnist-mlp   k7f3q2...   running", then the line for a person.
std::string done_text(const Json& document) {
    const Json& job = value_at(document, "job");
    std::string text;
    if (job.is_object()) {
        text = printable(text_at(job, "name")) + "   " + printable(text_at(job, "id")) + "   "
               + printable(text_at(job, "state"));
        const std::string reason = printable(text_at(job, "reason"));
        if (!reason.empty()) text += "   " + reason;
        text += "\n";
    }
    const std::string line = printable(text_at(document, "text"));
    return line.empty() ? text : text + line + "\n";
}

std::string done_in_format(const Invocation& invocation, const Json& document) {
    switch (invocation.format) {
        case Format::json: return proto::json_pretty_text(document) + "\n";
        case Format::jsonl: return proto::json_text(document) + "\n";
        case Format::name: return printable(text_at(document, "job.id")) + "\n";
        case Format::table:
        case Format::wide:
        case Format::csv: break;
    }
    return invocation.is_quiet ? "" : done_text(document);
}

/// Asks for a change; its document is printed and handed back.
Result<Json> change(
    const Invocation& invocation, const Request& request, std::string_view schema, Client& client) {
    const auto answer = client.ask(request);
    if (!answer) return answer.error();
    auto document = read_document(*answer, schema);
    if (!document) return document.error();
    const auto written = write_answer(done_in_format(invocation, *document));
    if (!written) return written.error();
    return document;
}

Result<ExitCode> change_simply(
    const Invocation& invocation, std::string method, std::string path, Client& client) {
    const Request request{std::move(method), std::move(path), "", nullptr};
    const auto document = change(invocation, request, proto::schema::done, client);
    if (!document) return document.error();
    return ExitCode::done;
}

Result<ExitCode> send_job(const Invocation& invocation, bool only_validate, Client& client) {
    auto text = read_job_file(invocation.subject());
    if (!text) return text.error();
    const std::string path = only_validate ? "/v1/jobs?validate=1" : "/v1/jobs";
    const Request request{"POST", path, std::move(*text), nullptr};
    const auto document = change(invocation, request, proto::schema::done, client);
    if (!document) return document.error();
    if (only_validate || !invocation.waits) return ExitCode::done;
    auto ended = wait_for_end(invocation, text_at(*document, "job.id"), client);
    if (!ended) return ended.error();
    if (!invocation.is_quiet && invocation.format == Format::table) {
        const auto written = write_answer(printable(text_at(*document, "job.name")) + " is done\n");
        if (!written) return written.error();
    }
    return ended;
}

std::string checkpoint_path(const Invocation& invocation, const char* verb) {
    const std::string which =
        invocation.arguments.size() > 1 ? invocation.arguments[1] : std::string("latest");
    return "/v1/checkpoints/" + escaped(invocation.subject()) + "/" + escaped(which) + "/" + verb;
}

Result<ExitCode> verify_checkpoint(const Invocation& invocation, Client& client) {
    const Request request{"POST", checkpoint_path(invocation, "verify"), "", nullptr};
    const auto answer = client.ask(request);
    if (!answer) return answer.error();
    const auto document = read_document(*answer, proto::schema::checkpoint);
    if (!document) return document.error();
    const Json& checkpoint = value_at(*document, "checkpoint");
    std::string text;
    if (invocation.format == Format::json || invocation.format == Format::jsonl) {
        text = done_in_format(invocation, *document);
    } else if (!invocation.is_quiet) {
        const auto bytes = number_at(checkpoint, "size_bytes").value_or(0);
        text = printable(text_at(checkpoint, "job")) + " " + printable(text_at(checkpoint, "name"))
               + ": whole, " + human_bytes(bytes) + "\n";
    }
    const auto written = write_answer(text);
    if (!written) return written.error();
    return ExitCode::done;
}

/// Into FILE.part and then renamed: a FILE that is there is whole.
Result<ExitCode> export_to_file(const Request& asked, const std::string& name, Client& client) {
    const std::string part = name + ".part";
    remove_when_interrupted(part);
    File file(std::fopen(part.c_str(), "wbe"));
    if (!file) return Error{ErrorCode::unwritable, "cannot write " + part, last_error(), ""};
    Request request = asked;
    request.sink = [&](std::string_view piece) {
        return std::fwrite(piece.data(), 1, piece.size(), file.get()) == piece.size();
    };
    const auto answer = client.ask(request);
    const bool is_closed = std::fclose(file.release()) == 0;
    const bool is_whole = answer && is_closed && std::rename(part.c_str(), name.c_str()) == 0;
    const std::string why = is_whole ? "" : last_error();
    if (!is_whole) std::remove(part.c_str());
    remove_when_interrupted("");
    if (!answer) return answer.error();
    if (!is_whole) return Error{ErrorCode::unwritable, "cannot write " + name, why, ""};
    return ExitCode::done;
}

Result<ExitCode> export_checkpoint(const Invocation& invocation, Client& client) {
    Request request{"POST", checkpoint_path(invocation, "export"), "", nullptr};
    if (invocation.to != "-") {
        auto exported = export_to_file(request, invocation.to, client);
        if (exported && !invocation.is_quiet) say("wrote " + printable(invocation.to));
        return exported;
    }
    if (is_answer_on_terminal()) {
        return Error{ErrorCode::invalid, "the model is no text for a terminal", "", "--to FILE"};
    }
    request.sink = [](std::string_view piece) {
        return write_answer(piece).is_ok();
    };
    const auto answer = client.ask(request);
    if (!answer) return answer.error();
    return ExitCode::done;
}

}  // namespace

Result<ExitCode> run_change(const Invocation& invocation, Client& client) {
    const std::string command = invocation.command();
    if (command == "init") return change_simply(invocation, "POST", "/v1/init", client);
    if (command == "job submit") return send_job(invocation, /*only_validate=*/false, client);
    if (command == "job validate") return send_job(invocation, /*only_validate=*/true, client);
    if (command == "checkpoint verify") return verify_checkpoint(invocation, client);
    if (command == "checkpoint export") return export_checkpoint(invocation, client);
    const std::string path = "/v1/jobs/" + escaped(invocation.subject());
    if (command == "job remove") return change_simply(invocation, "DELETE", path, client);
    // The verbs of a job are the last part of their paths: join, pause, resume, stop.
    return change_simply(invocation, "POST", path + "/" + invocation.words.back(), client);
}

}  // namespace p2p::tools
