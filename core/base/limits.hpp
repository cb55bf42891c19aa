#pragma once

// Every limit of the product, named in one place.
//
// What comes from outside is compared with one of these before anything is allocated for it.
// Relations between limits are asserted below.

#include <cstddef>
#include <cstdint>

#include "core/base/bytes.hpp"
#include "core/base/time.hpp"

namespace p2p::core::limits {

// Frames and messages.
inline constexpr std::size_t noise_message_bytes_max = 65'535;
inline constexpr std::size_t control_message_bytes_max = 32 * kib;
inline constexpr std::size_t chunk_bytes_max = 65'000;
inline constexpr std::size_t handshake_message_bytes_max = 512;
inline constexpr std::size_t unacknowledged_bulk_bytes_max = 8 * mib;
inline constexpr std::size_t control_queue_bytes_max = 8 * mib;
inline constexpr std::uint64_t rekey_messages = std::uint64_t{1} << 20U;
inline constexpr Duration rekey_interval = std::chrono::hours{1};
inline constexpr std::uint64_t messages_a_key_max = std::uint64_t{1} << 48U;

// Before authentication.
inline constexpr std::size_t half_open_total_max = 64;
inline constexpr std::size_t half_open_address_max = 4;
inline constexpr double handshakes_a_second_address = 20;
inline constexpr double handshakes_burst_address = 5;
inline constexpr Duration handshake_time_max = std::chrono::seconds{5};

// Gossip and the mesh.
inline constexpr std::size_t record_bytes_max = 1024;
inline constexpr std::size_t records_bytes_max = 30 * kib;
inline constexpr std::size_t peers_known_max = 65'536;
inline constexpr std::size_t addresses_a_peer_max = 8;
inline constexpr std::size_t address_bytes_max = 255;
inline constexpr std::size_t name_bytes_max = 63;
inline constexpr std::size_t job_members_max = 4096;
inline constexpr std::size_t wish_authors_max = 900;  // a control message is full

// What a message between nodes may claim. Counts of 4,096 members add up without overflow.
inline constexpr std::size_t signed_bytes_max = record_bytes_max - 128;  // author, signature, heads
inline constexpr std::size_t records_a_message_max = 256;
inline constexpr std::uint64_t count_node_max = std::uint64_t{1} << 50U;
inline constexpr std::uint64_t count_mesh_max = std::uint64_t{1} << 62U;
inline constexpr std::uint64_t blob_bytes_max = std::uint64_t{1} << 44U;
inline constexpr Duration busy_max = std::chrono::hours{24};
inline constexpr Duration training_time_max = std::chrono::hours{24 * 365 * 100};

// Jobs and models.
inline constexpr std::size_t description_bytes_max = 1024;
inline constexpr std::size_t layers_max = 64;
inline constexpr std::size_t mixing_axes_max = 16;
inline constexpr std::size_t job_spec_bytes_max = 256 * kib;
inline constexpr std::size_t jobs_known_max = 1024;
inline constexpr std::size_t tensors_max = 65'536;
inline constexpr std::size_t tensor_name_bytes_max = 256;
inline constexpr std::size_t tensor_dimensions_max = 8;
inline constexpr std::uint64_t parameters_max = std::uint64_t{1} << 40U;
inline constexpr std::size_t shard_bytes_max = 16 * mib;
inline constexpr std::size_t shard_floats_max = shard_bytes_max / sizeof(float);
inline constexpr std::size_t swap_value_bytes_max = 2 * shard_bytes_max;  // encoded, any codec
inline constexpr std::size_t chunk_bitmap_bytes_max =
    swap_value_bytes_max / chunk_bytes_max / 8 + 1;
inline constexpr std::size_t safetensors_header_bytes_max = 8 * mib;
inline constexpr std::size_t config_bytes_max = 1024 * kib;
inline constexpr std::size_t idx_bytes_max = 4096 * mib;

// Control sockets.
inline constexpr std::size_t http_header_bytes_max = 16 * kib;
inline constexpr std::size_t http_body_bytes_max = 1024 * kib;
inline constexpr std::size_t http_connections_max = 64;
inline constexpr Duration http_request_time_max = std::chrono::seconds{10};
inline constexpr std::size_t tensor_line_bytes_max = 256 * kib;

static_assert(control_message_bytes_max < noise_message_bytes_max);
static_assert(chunk_bytes_max + 64 < noise_message_bytes_max);
static_assert(records_bytes_max < control_message_bytes_max);
static_assert(record_bytes_max < records_bytes_max);
static_assert(count_mesh_max / count_node_max >= job_members_max);
static_assert(shard_bytes_max % sizeof(float) == 0);
static_assert(job_spec_bytes_max <= http_body_bytes_max);

}  // namespace p2p::core::limits
