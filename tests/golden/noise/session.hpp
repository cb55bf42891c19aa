#pragma once

// Every byte that two sessions with fixed seeds say to each other, in hexadecimal.
//
// Made by our own handshake after it agreed with the published vectors (vectors.hpp), by
// `Session.SaysTheSameBytesAsEver`: suite, handshake, Hello, confirmation, one control message, one
// frame of bulk, one rekey. They must never change for protocol 1: nodes in the field say them.

#include <string_view>

namespace p2p::proto::golden {

struct SessionStreams {
    std::string_view from_dialler;
    std::string_view from_acceptor;
};

inline constexpr SessionStreams session_ik{
    .from_dialler =
        "01800017d224cc4d780e69a8af7bdf46ef4910a0d3e425af656c345726b448591f1f31f77f3061d4"
        "395f54558945d0eccc5b2b81f9a956587dfff5d6d0d16104aa8d53dcedea395b7005ff166a135997"
        "3eaf06821402e22014cb59efce36fabb370efc07b2cb729880ad0bfb81d582de534c91938570ef8b"
        "9323e0d233e21eb8a9b7bb7d000bd96418c084f074b67d007abf352fb70e74cd4ca9e2185337de71"
        "bb464756b796e6504b540b80d7844c4dc30a523b199878fd43e1fc559689121892d5f570de86651e"
        "3d8d59e3b2f6b0b94f2ba86b2c52e31cf6b77bf9dd4cd5f263bdf15c26af8aa15027801e7aee9bd3"
        "089f99817e48110964cd3ad43ca8f5a48d681600fee8f5214f629ff74763c4bcc69d4401bb5efbf2"
        "ebfb16006b2e54e0057d13d5223d21e11fbab9921b4ba82ec5fa1900838205a235d451d3e76d0957"
        "e40dfc030cdd0f645a0d013ec9",
    .from_acceptor =
        "0150004fa81de0dedc4ff02f8d8cffd486b7d2bd621e01b7813abcf2f4cd683828a54ecb1b073c3c"
        "3c492e3519f39a0bc2d21947ee496e75f2f6593f55884f52cdebbe6c7c98475d2c120e10312f564a"
        "7026d08400b00f9f2c280ca788044e393219f1caf64357f6694a68f9805615ee4b5af89d856c3423"
        "c1eb07de7229ff9af52a7a3c4e3af14deb99133d3f9c0807613ed14293a6ba1f5c4aac4de4e90434"
        "369ba4525d3f608a97b6dc31e1dda8bd147fe14aba6446e559d01e76d7051e86ab429684761ad336"
        "f5eeaf13e78a467ce059b1f570943d404b1f00611edfac044a3998108ec8bbc87fa34c536089b530"
        "eb846fc4b280ee6853b3"};

inline constexpr SessionStreams session_xx{
    .from_dialler =
        "02200017d224cc4d780e69a8af7bdf46ef4910a0d3e425af656c345726b448591f1f316000f04116"
        "96d0a0c8c2da3281512646c6dd27f17fcb701acf1c5a1ba3f53227658f36719210e8b098f474735d"
        "3b10957c0f8e42ed165dd11d4702222c597a37202f2a1f7598b93e389d0c3b29e76ba2830bd03883"
        "0cc9d196de151e08f97f0e02197d00ec83727e07b30c310125f4837f60c673051df636740804fc10"
        "e6c35c6e49661b38ff9d2185f6dcb72aa6a7863284f48c9e77a2250e0108030f3acaeeaeaab2217c"
        "70ffac2c3241e8ce87cd31e6111cc6534ab913e18952e54bda76fcad493c6e2e1819ab54140e8891"
        "53d7ab53593ec0ae50f3b6ab27fa736a338375fb160084a19a1764c136923eff37ddee79ec5caba6"
        "0130cfd316009476425aa6894643e0d9deb4769c231a6a119fb6f0f51900256a3aea099d1a1e2f74"
        "ef4696450759b9d54e3f7047ec1d91",
    .from_acceptor =
        "0280004fa81de0dedc4ff02f8d8cffd486b7d2bd621e01b7813abcf2f4cd683828a54e297f188c85"
        "b08efd179e4264569c52440f7e73c58746f0dead86fd6f907834819989d6511277ff406c2ca61b95"
        "0767534aed8dd41e17f119ac076f8d301b77a2a8bf8e028ced2b9e57af04f9f713b3bea2bcfe895d"
        "e9d9c88db699f9d074a9f38400946801977cf6ba58ad4e19f0d60536b245cb121c762fcb94bfe2df"
        "e0b007399d25683384de2a223c515d75ff16c3bf9646a4ec613ab8165be8b46ebff48a6f55efca8a"
        "eb7460613bd6b18d8ea1e543f8b31c251201f8682525d11d2373f2ff15dcf536a7546b6eb6a5cc4a"
        "0644cb316e49364fb16810dd5153d2970e172678896fa5d2751f0010842143f62fd454ba184ef63f"
        "fae9b5243dde26a888016f37580436c30e91"};

}  // namespace p2p::proto::golden
