#pragma once

// tensor.sock: where training processes attach (the lines are in daemon/tensor_line).
//
// One thread and poll(), since a handful of clients say a few hundred bytes a step and the tensors
// themselves lie in shared memory. A client that misbehaves or dies ends its own connection; its
// trainer goes on without parameters, everything else goes on.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "daemon/files.hpp"
#include "daemon/trainer_externals.hpp"
#include "daemon/unix_listener.hpp"

namespace p2p::daemon {

class TensorClient;

/// A job that nobody has submitted, as TOML; `reply` may be called from any thread. Its trainer
/// opens later, by the Node's own decision.
using ProposeJob = std::function<void(std::string toml, std::function<void(core::Status)> reply)>;

class TensorSocket {
  public:
    /// Listens at `place` and starts the thread. `trainers` outlives this; `propose` is called on
    /// the thread. Errors: of listen_unix.
    static core::Result<std::unique_ptr<TensorSocket>> open(
        const UnixPlace& place, ExternalTrainers& trainers, ProposeJob propose);
    TensorSocket(const TensorSocket&) = delete;
    TensorSocket& operator=(const TensorSocket&) = delete;

    /// Detaches all clients, joins the thread, removes the socket's name.
    ~TensorSocket();

  private:
    TensorSocket(Path path, Descriptor listener, ExternalTrainers& trainers, ProposeJob propose);

    /// What other threads may touch: they outlive a socket that is gone.
    struct Wake {
        std::mutex mutex;
        Descriptor event;
        std::map<std::uint64_t, core::Status> replies;  ///< client -> what became of its job

        void ring() const;
    };

    void run();
    void wait();
    void accept_clients();
    void serve(TensorClient& client);
    void propose_for(TensorClient& client);
    void take_replies();

    Path path_;
    Descriptor listener_;
    ExternalTrainers& trainers_;
    ProposeJob propose_;
    std::shared_ptr<Wake> wake_ = std::make_shared<Wake>();
    std::atomic<bool> is_stopping_ = false;
    std::map<std::uint64_t, std::unique_ptr<TensorClient>> clients_;
    std::uint64_t next_client_ = 1;
    std::thread thread_;
};

}  // namespace p2p::daemon
