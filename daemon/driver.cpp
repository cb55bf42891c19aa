#include "daemon/driver.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/base/check.hpp"
#include "daemon/clock.hpp"
#include "daemon/notice_log.hpp"
#include "proto/decode.hpp"
#include "proto/encode.hpp"

namespace p2p::daemon {

Driver::Driver(asio::io_context& loop, const DriverParts& parts)
    : parts_(parts),
      wakeup_(loop) {}

Driver::~Driver() {
    const core::Error stopping{
        core::ErrorCode::interrupted, "the command was not carried out", "p2pd is stopping", ""};
    for (const auto& [id, answer] : std::exchange(answers_, {})) {
        answer(stopping);
    }
}

/// One event: the Node is told, then its effects are carried out in order. Whoever carries them out
/// answers by a later event, never from within.
template <typename Event>
void Driver::tell(Event event) {
    check_thread();
    P2P_CHECK(!is_telling_);
    is_telling_ = true;
    core::Effects effects;
    event(parts_.node, steady_now(), effects);
    for (const core::Effect& effect : effects) {
        std::visit([this](const auto& one) { this->carry_out(one); }, effect);
    }
    is_telling_ = false;
    arm_wakeup();
}

void Driver::start() {
    tell([](core::Node& node, core::TimePoint now, core::Effects& effects) {
        node.on_started(now, effects);
    });
}

void Driver::command(core::Command command, Answer answer) {
    check_thread();
    const auto* submit = std::get_if<core::SubmitJob>(&command);
    if (submit != nullptr && !submit->only_validate) {
        // Others fetch the spec as the blob that is named by the job's id.
        answer = [this, job = submit->job, bytes = submit->spec_bytes, answer = std::move(answer)](
                     const core::Result<core::CommandDone>& done) {
            if (done) parts_.workshop.add_blob(core::BlobHash{job.bytes}, bytes);
            answer(done);
        };
    }
    const core::CommandId id = next_command_++;
    answers_.emplace(id, std::move(answer));
    tell([&](core::Node& node, core::TimePoint now, core::Effects& effects) {
        node.on_command(now, id, command, effects);
    });
}

core::NodeStatus Driver::status() const {
    check_thread();
    return parts_.node.status(steady_now());
}

LinksEvents Driver::links_events() {
    return {
        .on_connected =
            [this](const core::ConnectedPeer& peer) {
                tell([&](core::Node& node, core::TimePoint now, core::Effects& effects) {
                    node.on_connected(now, peer, effects);
                });
            },
        .on_disconnected =
            [this](core::PeerId peer, const core::Error& why) {
                tell([&](core::Node& node, core::TimePoint now, core::Effects& effects) {
                    node.on_disconnected(now, peer, why, effects);
                });
            },
        .on_unreachable =
            [this](core::PeerId peer, const core::Error& why) {
                tell([&](core::Node& node, core::TimePoint now, core::Effects& effects) {
                    node.on_unreachable(now, peer, why, effects);
                });
            },
        .on_control =
            [this](core::PeerId peer, const core::Bytes& message) {
                on_bytes(peer, proto::decode_control(message));
            },
        .on_bulk = [this](
                       core::PeerId peer,
                       core::ByteView frame) { on_bytes(peer, proto::decode_bulk(frame)); },
        .on_writable =
            [this](core::PeerId peer, std::size_t room) {
                tell([&](core::Node& node, core::TimePoint now, core::Effects& effects) {
                    node.on_writable(now, peer, room, effects);
                });
            },
        .on_refused =
            [this](const std::string& address, const core::Error& why) {
                std::vector<LogField> fields = log_fields(why);
                // The port differs from one attempt of a flood to the next.
                const auto host_end = std::min(address.rfind(':'), address.size());
                fields.push_back({"host", address.substr(0, host_end)});
                fields.push_back({"address", address, true});
                parts_.log.write(LogLevel::info, "connection_refused", std::move(fields));
            }};
}

void Driver::on_bytes(core::PeerId from, core::Result<core::Message> message) {
    check_thread();
    if (!message) {
        std::vector<LogField> fields = log_fields(message.error());
        fields.push_back({"peer", from.text()});
        parts_.log.write(LogLevel::warn, "message_malformed", std::move(fields));
        parts_.links.disconnect(from, message.error());
        tell([&](core::Node& node, core::TimePoint now, core::Effects& effects) {
            node.on_disconnected(now, from, message.error(), effects);
        });
        return;
    }
    tell([&](core::Node& node, core::TimePoint now, core::Effects& effects) {
        node.on_message(now, from, *message, effects);
    });
}

void Driver::on_worked(core::Ticket ticket, const core::WorkResult& result) {
    tell([&](core::Node& node, core::TimePoint now, core::Effects& effects) {
        node.on_worked(now, ticket, result, effects);
    });
}

void Driver::on_stepped(core::JobId job, const core::SteppedReport& report) {
    tell([&](core::Node& node, core::TimePoint now, core::Effects& effects) {
        node.on_stepped(now, job, report, effects);
    });
}

void Driver::on_trainer(const core::TrainerReady& ready) {
    tell([&](core::Node& node, core::TimePoint now, core::Effects& effects) {
        node.on_trainer(now, ready, effects);
    });
}

void Driver::on_saved(core::JobId job, const core::Status& result) {
    tell([&](core::Node& node, core::TimePoint now, core::Effects& effects) {
        node.on_saved(now, job, result, effects);
    });
}

void Driver::carry_out(const core::Send& effect) {
    parts_.links.send_control(effect.to, proto::encode_control(effect.message, parts_.identity));
}

void Driver::carry_out(const core::SendChunk& effect) {
    auto bytes = parts_.workshop.encoded(effect.edge, effect.n);
    if (bytes == nullptr) return;  // The swap was dropped since; the other end will hear so.
    P2P_CHECK(effect.total == bytes->size());
    P2P_CHECK(effect.offset + effect.length <= effect.total);
    const core::SwapKey key{effect.edge.job, effect.edge.shard, effect.n};
    parts_.links.send_bulk(
        effect.edge.peer,
        {.header = proto::encode_swap_chunk_header(key, effect.offset, effect.total),
         .body = std::move(bytes),
         .offset = static_cast<std::size_t>(effect.offset),
         .length = effect.length});
}

void Driver::carry_out(const core::SendBlob& effect) {
    auto bytes = parts_.workshop.blob(effect.hash);
    const std::uint64_t total = bytes == nullptr ? 0 : bytes->size();
    if (effect.offset >= total) {
        // Not held, or asked for beyond its end: the answer is a piece of nothing.
        parts_.links.send_bulk(
            effect.to,
            {.header = proto::encode_blob_chunk_header(effect.hash, effect.offset, 0),
             .body = std::make_shared<const core::Bytes>()});
        return;
    }
    const std::uint64_t length = std::min<std::uint64_t>(effect.length, total - effect.offset);
    parts_.links.send_bulk(
        effect.to,
        {.header = proto::encode_blob_chunk_header(effect.hash, effect.offset, total),
         .body = std::move(bytes),
         .offset = static_cast<std::size_t>(effect.offset),
         .length = static_cast<std::size_t>(length)});
}

void Driver::carry_out(const core::Connect& effect) {
    parts_.links.connect(effect.peer, effect.addresses);
}

void Driver::carry_out(const core::Disconnect& effect) {
    parts_.links.disconnect(effect.peer, effect.why);
}

void Driver::carry_out(const core::StartTraining& effect) {
    core::Bytes announcement;
    if (effect.announcement) {
        announcement = proto::encode_control(*effect.announcement, parts_.identity);
    }
    parts_.workshop.start_training(effect, std::move(announcement));
}

void Driver::carry_out(const core::Pace& effect) {
    parts_.workshop.set_pace(effect);
}

void Driver::carry_out(const core::EndTraining& effect) {
    parts_.workshop.end_training(effect.job);
}

void Driver::carry_out(const core::DropTraining& effect) {
    parts_.workshop.drop_training(effect);
}

void Driver::carry_out(const core::Save& effect) {
    parts_.workshop.save(effect);
}

void Driver::carry_out(const core::Work& effect) {
    parts_.workshop.work(effect.ticket, effect.order);
}

void Driver::carry_out(const core::Say& effect) {
    LogEvent event = log_event(effect.notice);
    if (parts_.log.is_on(event.level)) parts_.log.write(std::move(event));
}

void Driver::carry_out(const core::Reply& effect) {
    const auto answer = answers_.find(effect.command);
    if (answer == answers_.end()) return;
    const Answer call = std::move(answer->second);
    answers_.erase(answer);
    call(effect.result);
}

void Driver::arm_wakeup() {
    const auto wanted = parts_.node.next_wakeup();
    if (wanted == armed_for_) return;
    armed_for_ = wanted;
    if (!wanted) {
        wakeup_.cancel();
        return;
    }
    wakeup_.expires_at(asio::steady_timer::time_point(wanted->time_since_epoch()));
    wakeup_.async_wait([this](const asio::error_code& error) {
        if (error) return;  // Another time was set.
        armed_for_.reset();
        tell([](core::Node& node, core::TimePoint now, core::Effects& effects) {
            node.on_wakeup(now, effects);
        });
    });
}

void Driver::check_thread() const {
    P2P_CHECK(std::this_thread::get_id() == thread_);
}

}  // namespace p2p::daemon
