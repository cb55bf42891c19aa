#include "tools/sim/from_mesh.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <utility>

#include "proto/control.hpp"
#include "proto/json.hpp"
#include "proto/toml.hpp"
#include "tools/sim/outcome.hpp"

namespace p2p::sim {

using core::Error;
using core::ErrorCode;
using core::Result;
using core::Status;
using proto::Json;
using proto::json_member;
using proto::toml_quoted;

namespace {

constexpr std::size_t document_bytes_max = 64 * core::mib;
constexpr double speed_least = 0.001;
constexpr const char* default_step = "10ms";
constexpr const char* default_across = "50ms";
constexpr const char* default_inside = "1ms";
constexpr const char* site_unnamed = "unnamed";

struct SeenNode {
    std::string name;
    std::string site;
    std::optional<double> step_seconds;
};

std::string short_text(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", value);
    return text;
}

std::string microseconds(double seconds) {
    char text[40];
    std::snprintf(text, sizeof text, "%.0fus", std::max(seconds * 1e6, 1.0));
    return text;
}

/// Gathers what each document says, then writes it down.
class Survey {
  public:
    Survey(std::string job_file, const core::JobSpec& spec)
        : job_file_(std::move(job_file)),
          batch_size_(spec.train.batch_size) {}

    Status read(const MeshDocument& document) {
        const auto json = proto::parse_json(document.text, document_bytes_max);
        if (!json) {
            return Error{
                json.error().code,
                document.name,
                json.error().why,
                "give what p2pctl prints with -o json"};
        }
        const auto schema = json_member<std::string>(*json, "schema").value_or("");
        if (schema == proto::schema::peers) {
            read_peers(*json);
        } else if (schema == proto::schema::job) {
            read_members(*json);
        } else if (schema == proto::schema::status) {
            read_self(*json);
        } else {
            return Error{
                ErrorCode::unsupported,
                document.name,
                schema.empty() ? "it has no schema" : "its schema is " + schema,
                "give what p2pctl peer list, job show or status prints with -o json"};
        }
        return {};
    }

    [[nodiscard]] Result<std::string> write() const {
        if (nodes_.empty()) {
            return Error{
                ErrorCode::not_found,
                "no node is named in the documents",
                "a status names one node, a peer list all",
                "give p2pctl peer list -o json of a node that is joined"};
        }
        std::string text =
            "# Made of what a live mesh said of itself; what was not measured is marked.\n"
            "schema = \"p2psim.stage/1\"\n\n[stage]\ndescription = \"a live mesh of "
            + std::to_string(nodes_.size()) + " nodes\"\njob = " + toml_quoted(job_file_) + "\n";
        const auto step = fastest_step();
        text += step ? "step = \"" + microseconds(*step) + "\"  # of the fastest\n"
                     : std::string("step = \"") + default_step + "\"  # not measured: a default\n";
        for (const auto& [site, nodes] : by_site())
            write_site(text, site, nodes, step);
        write_wires(text);
        return text;
    }

  private:
    using Sites = std::pair<std::string, std::string>;  // in order

    static Sites sites_of(const std::string& a, const std::string& b) {
        return {std::min(a, b), std::max(a, b)};
    }

    static std::string site_in(const Json& json) {
        const auto site = json_member<std::string>(json, "site").value_or("");
        return site.empty() ? site_unnamed : site;
    }

    SeenNode& node(const Json& json) {
        const auto name = json_member<std::string>(json, "name").value_or("");
        SeenNode& seen = nodes_[json_member<std::string>(json, "id").value_or(name)];
        if (seen.name.empty()) seen.name = name;
        if (seen.site.empty()) seen.site = site_unnamed;
        return seen;
    }

    void read_self(const Json& document) {
        const auto self = document.find("node");
        if (self != document.end() && self->is_object()) node(*self).site = site_in(*self);
    }

    void read_peers(const Json& document) {
        const auto peers = document.find("peers");
        if (peers == document.end() || !peers->is_array()) return;
        std::string own_site = site_unnamed;
        for (const Json& peer : *peers) {
            if (json_member<std::string>(peer, "state") == "self") own_site = site_in(peer);
        }
        for (const Json& peer : *peers) {
            node(peer).site = site_in(peer);
            const auto round_trip = json_member<double>(peer, "rtt_seconds");
            if (round_trip && *round_trip > 0)
                round_trips_[sites_of(own_site, site_in(peer))].push_back(*round_trip);
        }
    }

    /// Time in steps is utilization over rate: waiting is the mixing's and not the machine's.
    void read_members(const Json& document) {
        const auto job = document.find("job");
        if (job == document.end() || !job->is_object()) return;
        const auto members = job->find("members");
        if (members == job->end() || !members->is_array()) return;
        for (const Json& member : *members) {
            SeenNode& seen = node(member);
            const auto rate = json_member<double>(member, "samples_per_second");
            if (!rate || !(*rate > 0)) continue;
            const double busy = json_member<double>(member, "utilization").value_or(1);
            seen.step_seconds = batch_size_ * (busy > 0 && busy <= 1 ? busy : 1) / *rate;
        }
    }

    [[nodiscard]] std::optional<double> fastest_step() const {
        std::optional<double> fastest;
        for (const auto& [id, node] : nodes_) {
            if (node.step_seconds && (!fastest || *node.step_seconds < *fastest))
                fastest = node.step_seconds;
        }
        return fastest;
    }

    [[nodiscard]] std::map<std::string, std::vector<const SeenNode*>> by_site() const {
        std::map<std::string, std::vector<const SeenNode*>> sites;
        for (const auto& [id, node] : nodes_)
            sites[node.site].push_back(&node);
        for (auto& [site, nodes] : sites) {
            std::sort(nodes.begin(), nodes.end(), [](const SeenNode* a, const SeenNode* b) {
                return a->name < b->name;
            });
        }
        return sites;
    }

    void write_site(
        std::string& text,
        const std::string& site,
        const std::vector<const SeenNode*>& nodes,
        std::optional<double> step) const {
        text += "\n[[site]]\nname = " + toml_quoted(site) + "\nspeeds = [\n";
        for (const SeenNode* node : nodes) {
            const bool is_known = step && node->step_seconds;
            const double speed = is_known ? std::max(*step / *node->step_seconds, speed_least) : 1;
            text += "  " + short_text(speed) + ",  # " + toml_quoted(node->name)
                    + (is_known ? "\n" : ": not measured, a default\n");
        }
        text += "]\n";
        write_round_trip(text, "inside_round_trip", {site, site}, default_inside);
        text +=
            "inside_megabits = 1000  # not measured: a default\n"
            "up_megabits = 100  # not measured: a default\n"
            "down_megabits = 100  # not measured: a default\n";
    }

    void write_round_trip(
        std::string& text, const std::string& key, const Sites& sites, const char* fallback) const {
        const auto seen = round_trips_.find(sites);
        if (seen == round_trips_.end()) {
            text += key + " = \"" + fallback + "\"  # not measured: a default\n";
        } else {
            text += key + " = \"" + microseconds(middle_of(seen->second)) + "\"  # median of "
                    + std::to_string(seen->second.size()) + "\n";
        }
    }

    void write_wires(std::string& text) const {
        const auto sites = by_site();
        for (auto a = sites.begin(); a != sites.end(); ++a) {
            for (auto b = std::next(a); b != sites.end(); ++b) {
                text += "\n[[between]]\nsites = [" + toml_quoted(a->first) + ", "
                        + toml_quoted(b->first) + "]\n";
                write_round_trip(text, "round_trip", sites_of(a->first, b->first), default_across);
            }
        }
    }

    std::string job_file_;
    double batch_size_;
    std::map<std::string, SeenNode> nodes_;  // by id
    std::map<Sites, std::vector<double>> round_trips_;
};

}  // namespace

Result<std::string> stage_from_mesh(
    const std::vector<MeshDocument>& documents,
    const std::string& job_file,
    const core::JobSpec& spec) {
    Survey survey(job_file, spec);
    for (const MeshDocument& document : documents) {
        if (auto status = survey.read(document); !status) return status.error();
    }
    return survey.write();
}

}  // namespace p2p::sim
