// p2pd: the flags, and nothing else. The one file of this program that includes CLI11.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

#include <malloc.h>

#include <CLI/CLI.hpp>

#include "daemon/app.hpp"
#include "daemon/identity_file.hpp"
#include "daemon/options.hpp"
#include "proto/version.hpp"

namespace {

using p2p::daemon::OptionSources;
namespace exit_code = p2p::daemon::exit_code;

struct Flags {
    std::string config;
    std::string identity;
    std::string log_format;
    bool check = false;
    bool print_config = false;
    bool print_id = false;
    bool user = false;
};

int complain(int code, const p2p::core::Error& error) {
    std::cerr << "p2pd: " << error.what << "\n";
    if (!error.why.empty()) std::cerr << "  why:  " << error.why << "\n";
    if (!error.next.empty()) std::cerr << "  next: " << error.next << "\n";
    return code;
}

void declare(CLI::App& app, Flags& flags) {
    app.add_option("--config", flags.config, "read this instead of /etc/p2pd/p2pd.toml");
    app.add_flag("--check", flags.check, "read everything, open nothing, exit");
    app.add_flag("--print-config", flags.print_config, "every key with its default");
    app.add_flag("--print-id", flags.print_id, "this node's id; its key is made where missing");
    app.add_option(
        "--make-identity", flags.identity, "make this key file, or read it; print its id");
    app.add_flag("--user", flags.user, "keep everything under the XDG folders, without root");
    app.add_option("--foreground-log", flags.log_format, "text, json or journal")
        ->check(CLI::IsMember({"text", "json", "journal"}));
    app.set_version_flag("--version", "p2pd " + std::string(p2p::proto::release) + ", protocol 1");
}

int print_identity(const std::string& file) {
    const auto identity = p2p::daemon::load_or_create_identity(file);
    if (!identity) return complain(exit_code::no_permission, identity.error());
    std::cout << identity->id().text() << "\n";
    return exit_code::ok;
}

int run(const Flags& flags) {
    if (!flags.identity.empty()) return print_identity(flags.identity);
    OptionSources sources;
    if (!flags.config.empty()) sources.file = flags.config;
    sources.is_user = flags.user;
    sources.environment = [](const char* name) {
        return std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread, nobody sets any
    };
    if (flags.print_config) {
        std::cout << p2p::daemon::default_config_text(
            p2p::daemon::default_options(flags.user, sources.environment));
        return exit_code::ok;
    }
    auto options = p2p::daemon::load_options(sources);
    if (!options) return complain(exit_code::configuration, options.error());
    if (!flags.log_format.empty()) options->log_format = flags.log_format;
    if (flags.print_id) return print_identity(options->key_file);
    if (flags.check) {
        const p2p::core::Status status = p2p::daemon::check_start(*options);
        if (!status) return complain(exit_code::configuration, status.error());
        std::cout << "p2pd: the configuration is sound\n";
        return exit_code::ok;
    }
    return p2p::daemon::run_daemon(*options, sources);
}

}  // namespace

int main(int argc, char** argv) {
    // Buffers of a shard come and go many times a second: keep their pages (measured: codec_bench),
    // in one arena, since a thread's own gives them back (a swap of 16 MiB: half the time).
    mallopt(M_ARENA_MAX, 1);               // NOLINT(concurrency-mt-unsafe)
    mallopt(M_MMAP_THRESHOLD, 64 << 20);   // NOLINT(concurrency-mt-unsafe): before any thread
    mallopt(M_TRIM_THRESHOLD, 256 << 20);  // NOLINT(concurrency-mt-unsafe)
    try {
        CLI::App app{"p2pd: trains a model together with others, without a coordinator"};
        Flags flags;
        declare(app, flags);
        try {
            app.parse(argc, argv);
        } catch (const CLI::ParseError& error) {
            return app.exit(error) == 0 ? exit_code::ok : exit_code::usage;
        }
        return run(flags);
    } catch (const std::exception& error) {
        std::cerr << "p2pd: " << error.what() << "\n";
        return exit_code::failed;
    }
}
