// The commands that only read: one request, one document, one rendering. See commands.hpp.

#include <optional>
#include <string>

#include "proto/control.hpp"
#include "proto/json.hpp"
#include "tools/p2pctl/commands.hpp"
#include "tools/p2pctl/human.hpp"
#include "tools/p2pctl/render.hpp"
#include "tools/p2pctl/terminal.hpp"

namespace p2p::tools {

namespace {

using core::Result;

std::string path_of(const Reading& reading, const Invocation& invocation) {
    std::string path(reading.endpoint);
    const auto place = path.find("{}");
    if (place != std::string::npos) {
        path.replace(place, 2, escaped(invocation.subject()));
    } else if (!invocation.arguments.empty()) {
        path += "?job=" + escaped(invocation.subject());
    }
    return path;
}

Result<Json> fetch(const Reading& reading, const Invocation& invocation, Client& client) {
    Request request;
    request.path = path_of(reading, invocation);
    const auto answer = client.ask(request);
    if (!answer) return answer.error();
    return read_document(*answer, reading.schema);
}

/// Only `health` has an opinion; what is printed does not change it.
ExitCode verdict(const Reading& reading, const Json& document) {
    if (reading.command != "health" || flag_at(document, "healthy")) return ExitCode::done;
    return ExitCode::not_healthy;
}

}  // namespace

Result<ExitCode> run_reading(const Invocation& invocation, const Reading& reading, Client& client) {
    const Look look{invocation.format, invocation.has_header, wants_color(invocation.color)};
    std::optional<LiveScreen> screen;
    bool is_first = true;
    for (;;) {
        const auto document = fetch(reading, invocation, client);
        if (!document) return document.error();
        std::string text = invocation.is_quiet ? "" : render(reading, *document, look);
        if (invocation.watch && is_answer_on_terminal() && !screen) screen.emplace();
        const bool is_tabular = look.format == Format::table || look.format == Format::wide;
        if (!is_first && !screen && is_tabular) text.insert(0, "\n");
        const auto written = screen ? screen->draw(text) : write_answer(text);
        if (!written) return written.error();
        if (!invocation.watch) return verdict(reading, *document);
        is_first = false;
        pause_for(*invocation.watch);
    }
}

Result<ExitCode> run_version(const Invocation& invocation, Client& client) {
    Request request;
    request.path = "/v1/version";
    const auto answer = client.ask(request);
    Json document{{"schema", proto::schema::version}, {"p2pctl", P2PTRAIN_VERSION}};
    std::string text = std::string("p2pctl ") + P2PTRAIN_VERSION + "\n";
    if (answer) {
        const auto p2pd = read_document(*answer, proto::schema::version);
        if (!p2pd) return p2pd.error();
        document["p2pd"] = value_at(*p2pd, "version");
        document["protocol"] = value_at(*p2pd, "protocol");
        text += "p2pd   " + printable(text_at(*p2pd, "version")) + "\n";
    }
    const bool is_json = invocation.format == Format::json || invocation.format == Format::jsonl;
    // Where p2pd does not answer, its error is the JSON answer; a person gets half of it.
    if (answer || !is_json) {
        const auto written = write_answer(is_json ? proto::json_text(document) + "\n" : text);
        if (!written) return written.error();
    }
    if (!answer) return answer.error();
    return ExitCode::done;
}

}  // namespace p2p::tools
