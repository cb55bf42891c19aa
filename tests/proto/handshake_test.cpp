#include "proto/handshake.hpp"

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "proto/cipher.hpp"
#include "tests/golden/noise/vectors.hpp"

namespace p2p::proto {
namespace {

using core::Bytes;
using core::from_hex;
using core::to_hex;
using golden::NoiseVector;

SecretKey secret_of(std::string_view hex) {
    const Bytes bytes = from_hex(hex).value();
    SecretKey secret;
    std::copy(bytes.begin(), bytes.end(), secret.data());
    return secret;
}

Pattern pattern_of(const NoiseVector& vector) {
    return vector.protocol_name.substr(6, 2) == "IK" ? Pattern::ik : Pattern::xx;
}

Handshake make(const NoiseVector& vector, Role role) {
    const bool is_initiator = role == Role::initiator;
    HandshakeKeys keys;
    keys.own_static =
        x25519_from_secret(secret_of(is_initiator ? vector.init_static : vector.resp_static));
    keys.ephemeral_seed = secret_of(is_initiator ? vector.init_ephemeral : vector.resp_ephemeral);
    if (is_initiator && pattern_of(vector) == Pattern::ik) {
        keys.remote_static = x25519_from_secret(secret_of(vector.resp_static)).public_key;
    }
    return Handshake(pattern_of(vector), role, from_hex(vector.prologue).value(), keys);
}

struct Pair {
    Handshake initiator;
    Handshake responder;

    explicit Pair(const NoiseVector& vector)
        : initiator(make(vector, Role::initiator)),
          responder(make(vector, Role::responder)) {}

    Handshake& writer() { return initiator.is_our_turn() ? initiator : responder; }

    Handshake& reader() { return initiator.is_our_turn() ? responder : initiator; }
};

/// Runs the handshake part of a vector and holds both ends to its bytes.
void run_handshake(Pair& pair, const NoiseVector& vector) {
    for (std::size_t i = 0; !pair.initiator.is_finished(); ++i) {
        Handshake& writer = pair.writer();
        Handshake& reader = pair.reader();
        const Bytes payload = from_hex(vector.messages[i].payload).value();
        const Bytes message = writer.write_message(payload).value();
        EXPECT_EQ(vector.messages[i].ciphertext, to_hex(message));
        EXPECT_EQ(handshake_message_bytes(pattern_of(vector), i, payload.size()), message.size());
        EXPECT_EQ(payload, reader.read_message(message).value());
    }
}

TEST(Noise, AgreesWithThePublishedVectorsByteForByteInBothRoles) {
    ASSERT_EQ(4U, golden::noise_vectors.size());
    for (const NoiseVector& vector : golden::noise_vectors) {
        Pair pair(vector);
        run_handshake(pair, vector);
        ASSERT_TRUE(pair.initiator.is_finished() && pair.responder.is_finished());
        EXPECT_EQ(pair.initiator.handshake_hash(), pair.responder.handshake_hash());
        if (!vector.handshake_hash.empty()) {
            EXPECT_EQ(vector.handshake_hash, to_hex(pair.initiator.handshake_hash()));
        }
    }
}

TEST(Noise, SplitsIntoTheKeysThatSealThePublishedTransportMessages) {
    for (const NoiseVector& vector : golden::noise_vectors) {
        Pair pair(vector);
        run_handshake(pair, vector);
        const TransportKeys keys[2] = {pair.initiator.split(), pair.responder.split()};
        Sealer sealers[2] = {Sealer(keys[0].sending), Sealer(keys[1].sending)};
        Opener openers[2] = {Opener(keys[1].receiving), Opener(keys[0].receiving)};
        const std::size_t first = handshake_message_count(pattern_of(vector));
        for (std::size_t i = first; i < vector.messages.size(); ++i) {
            const Bytes plain = from_hex(vector.messages[i].payload).value();
            const core::ByteView pieces[] = {plain};
            Bytes sealed(plain.size() + aead_tag_bytes);
            ASSERT_TRUE(sealers[i % 2].seal(pieces, sealed));
            EXPECT_EQ(vector.messages[i].ciphertext, to_hex(sealed));
            Bytes opened(plain.size());
            EXPECT_TRUE(openers[i % 2].open(sealed, opened));
            EXPECT_EQ(plain, opened);
        }
    }
}

/// Every string of the published file, in order: enough to compare without a JSON parser.
std::vector<std::string> strings_of(const std::string& json) {
    std::vector<std::string> strings;
    for (std::size_t at = json.find('"'); at != std::string::npos; at = json.find('"', at + 1)) {
        const std::size_t end = json.find('"', at + 1);
        strings.push_back(json.substr(at + 1, end - at - 1));
        at = end;
    }
    return strings;
}

TEST(Noise, CarriesThePublishedFileUnchangedWhereThatIsPresent) {
    std::ifstream file(P2P_SOURCE_ROOT "/../shared/vectors/noise.json");
    if (!file) GTEST_SKIP() << "shared/vectors/noise.json is not here; its data is in golden/";
    std::ostringstream json;
    json << file.rdbuf();
    std::vector<std::string> published;
    const auto strings = strings_of(json.str());
    for (std::size_t i = 0; i + 1 < strings.size(); ++i) {
        if (strings[i] == "payload" || strings[i] == "ciphertext")
            published.push_back(strings[i + 1]);
    }
    std::vector<std::string> carried;
    for (const NoiseVector& vector : golden::noise_vectors) {
        for (const auto& message : vector.messages) {
            carried.emplace_back(message.payload);
            carried.emplace_back(message.ciphertext);
        }
    }
    EXPECT_EQ(published, carried);
}

TEST(Noise, ReadsNothingFromAMessageWithAFlippedBitAndStillReadsTheTrueOne) {
    for (const NoiseVector& vector : golden::noise_vectors) {
        if (pattern_of(vector) != Pattern::ik) continue;  // XX's first message is in the clear
        Pair pair(vector);
        const Bytes payload = from_hex(vector.messages[0].payload).value();
        const Bytes message = pair.initiator.write_message(payload).value();
        for (std::size_t bit = 0; bit < message.size() * 8; bit += 3) {
            if (bit == 255) continue;  // X25519 ignores the top bit of e; MixHash does not
            Bytes flipped = message;
            flipped[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
            EXPECT_FALSE(pair.responder.read_message(flipped)) << bit;
        }
        EXPECT_EQ(payload, pair.responder.read_message(message).value());
    }
}

TEST(Noise, RefusesAMessageOfAnyShorterLength) {
    for (const NoiseVector& vector : golden::noise_vectors) {
        Pair pair(vector);
        const Bytes message = pair.initiator.write_message({}).value();
        for (std::size_t length = 0; length < message.size(); ++length) {
            EXPECT_FALSE(pair.responder.read_message(core::ByteView(message).first(length)));
        }
    }
}

TEST(Noise, RefusesAnEphemeralKeyOfSmallOrder) {
    const NoiseVector& ik = golden::noise_vectors[0];
    Pair pair(ik);
    Bytes message = from_hex(ik.messages[0].ciphertext).value();
    std::fill_n(message.begin(), 32, std::uint8_t{0});
    EXPECT_EQ(core::ErrorCode::forged, pair.responder.read_message(message).error().code);
}

TEST(Noise, FailsWhereTheProloguesDiffer) {
    NoiseVector vector = golden::noise_vectors[0];
    Pair pair(vector);
    vector.prologue = "00";
    Handshake other = make(vector, Role::responder);
    EXPECT_FALSE(other.read_message(pair.initiator.write_message({}).value()));
}

}  // namespace
}  // namespace p2p::proto
