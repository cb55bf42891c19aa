#pragma once

// The only caller of the Node in this daemon: events in, effects out.
//
// It stamps events with the time, turns bytes into messages and back, and carries effects out in
// order. It decides nothing: what to do is the Node's, how links and trainers do it is theirs. On
// the loop thread only, which every entry checks.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <thread>

#include "core/node/node.hpp"
#include "daemon/asio.hpp"
#include "daemon/links.hpp"
#include "daemon/log.hpp"
#include "daemon/workshop.hpp"
#include "proto/keys.hpp"

namespace p2p::daemon {

/// What the driver joins; all of it must outlive the driver.
struct DriverParts {
    core::Node& node;
    Links& links;
    Workshop& workshop;
    const proto::Identity& identity;
    Log& log;
};

class Driver {
  public:
    using Answer = std::function<void(core::Result<core::CommandDone>)>;

    Driver(asio::io_context& loop, const DriverParts& parts);
    ~Driver();
    Driver(const Driver&) = delete;
    Driver& operator=(const Driver&) = delete;

    /// The Node's first event, after which links come up and jobs go on.
    void start();

    /// `answer` is called once, on the loop thread: when the Node replies, or with `interrupted`
    /// when the driver goes before that.
    void command(core::Command command, Answer answer);

    [[nodiscard]] core::NodeStatus status() const;

    /// To be given to Links::start().
    [[nodiscard]] LinksEvents links_events();

    /// To be given to the Workshop.
    void on_worked(core::Ticket ticket, const core::WorkResult& result);
    void on_stepped(core::JobId job, const core::SteppedReport& report);
    void on_trainer(const core::TrainerReady& ready);
    void on_saved(core::JobId job, const core::Status& result);

  private:
    template <typename Event>
    void tell(Event event);

    void on_bytes(core::PeerId from, core::Result<core::Message> message);

    void carry_out(const core::Send& effect);
    void carry_out(const core::SendChunk& effect);
    void carry_out(const core::SendBlob& effect);
    void carry_out(const core::Connect& effect);
    void carry_out(const core::Disconnect& effect);
    void carry_out(const core::StartTraining& effect);
    void carry_out(const core::Pace& effect);
    void carry_out(const core::EndTraining& effect);
    void carry_out(const core::DropTraining& effect);
    void carry_out(const core::Save& effect);
    void carry_out(const core::Work& effect);
    void carry_out(const core::Say& effect);
    void carry_out(const core::Reply& effect);

    void arm_wakeup();
    void check_thread() const;

    DriverParts parts_;
    asio::steady_timer wakeup_;
    std::optional<core::TimePoint> armed_for_;
    core::CommandId next_command_ = 1;
    std::map<core::CommandId, Answer> answers_;
    std::thread::id thread_ = std::this_thread::get_id();
    bool is_telling_ = false;
};

}  // namespace p2p::daemon
