#pragma once

// A run on record, and the same run held against the record: JSON lines, first all that the run is
// made of (the stage by its text, not by its name), then digests as it goes, last that of what came
// out.
//
// A record of this program at the same kernel level replays to the bit; where it does not, the
// first digests that differ say between which events the cause lies. Running is run.hpp's.

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "tools/sim/run.hpp"

namespace p2p::sim {

/// What a trace begins with. The data set is too large to stand in it: its folder and a hash do.
struct TraceHead {
    std::string release;       ///< of the program that wrote it
    std::string kernel_level;  ///< of the processor
    std::string data_folder;
    std::string data_hash;
    RunRequest request;  ///< without data where it was read back
};

struct Trace {
    TraceHead head;
    std::vector<DigestPoint> points;
    std::uint64_t outcome_digest = 0;
};

/// Of this program and processor. @pre the request's stage was read from texts, and it has data
[[nodiscard]] TraceHead trace_head(const RunRequest& request, const std::string& data_folder);

/// Two hexadecimal words over all images and labels.
[[nodiscard]] std::string hash_of_data(const core::Dataset& data);

/// Of all that does not depend on the machine that ran it.
[[nodiscard]] std::uint64_t outcome_digest(const Outcome& outcome);

/// Writes as the run goes, so that a run that dies leaves its digests.
class TraceWriter {
  public:
    /// `unwritable` where the file cannot be made.
    [[nodiscard]] static core::Result<TraceWriter> create(
        const std::string& path, const TraceHead& head);

    void write(const DigestPoint& point);

    /// The last line. `unwritable` where anything did not get there.
    [[nodiscard]] core::Status finish(const Outcome& outcome);

  private:
    TraceWriter(std::string path, std::ofstream file)
        : path_(std::move(path)),
          file_(std::move(file)) {}

    std::string path_;
    std::ofstream file_;
};

/// `malformed` for what is no trace or is torn, naming the line; `unsupported` for another version.
[[nodiscard]] core::Result<Trace> read_trace(const std::string& path);

/// Told each point of a run, says the first one at which it is no longer the recorded run.
class Comparison {
  public:
    /// `trace` must outlive this.
    explicit Comparison(const Trace& trace)
        : trace_(trace) {}

    void on_point(const DigestPoint& point);

    /// A sentence on where the two part; nothing where they are the same to the end.
    [[nodiscard]] std::optional<std::string> difference(const Outcome& outcome) const;

  private:
    const Trace& trace_;
    std::size_t matched_ = 0;
    std::optional<DigestPoint> parted_;
};

}  // namespace p2p::sim
