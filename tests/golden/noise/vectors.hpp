#pragma once

// Test vectors of Noise for the two patterns that we speak, in hexadecimal.
//
// Data published by the cacophony project and carried by the snow project (tests/vectors); the
// same values stand in shared/vectors/noise.json. They must never change: they are what makes
// our handshake everybody else's.

#include <string_view>
#include <vector>

namespace p2p::proto::golden {

struct NoiseMessage {
    std::string_view payload;
    std::string_view ciphertext;
};

struct NoiseVector {
    std::string_view protocol_name;
    std::string_view prologue;  ///< the same at both ends
    std::string_view init_static;
    std::string_view init_ephemeral;
    std::string_view init_remote_static;  ///< empty for XX
    std::string_view resp_static;
    std::string_view resp_ephemeral;
    std::string_view handshake_hash;     ///< empty where it was not published
    std::vector<NoiseMessage> messages;  ///< the initiator's first, then in turn
};

inline const std::vector<NoiseVector> noise_vectors{
    {
        .protocol_name = "Noise_IK_25519_ChaChaPoly_BLAKE2b",
        .prologue = "4a6f686e2047616c74",
        .init_static = "e61ef9919cde45dd5f82166404bd08e38bceb5dfdfded0a34c8df7ed542214d1",
        .init_ephemeral = "893e28b9dc6ca8d611ab664754b8ceb7bac5117349a4439a6b0569da977c464a",
        .init_remote_static = "31e0303fd6418d2f8c0e78b91f22e8caed0fbe48656dcf4767e4834f701b8f62",
        .resp_static = "4a3acbfdb163dec651dfa3194dece676d437029c62a408b4c5ea9114246e4893",
        .resp_ephemeral = "bbdb4cdbd309f1a1f2e1456967fe288cadd6f712d65dc7b7793d5e63da6b375b",
        .handshake_hash = "1c8fa891cb414fedba6daa7c6f4ae0a6d98e5f9768cc9cecd27e805614943ee9"
                          "c8a1b27fbfb76dc197255c8aa69f6b4285c423840b8bedf45e652ca64f797d81",
        .messages =
            {
                {"4c756477696720766f6e204d69736573",
                 "ca35def5ae56cec33dc2036731ab14896bc4c75dbb07a61f879f8e3afa4c7944"
                 "ba83a447b38c83e327ad936929812f624884847b7831e95e197b2f797088efdd"
                 "2f88f1db7e1fb0e99c64419097af91cee64e470f4b6fcd9298ce0b56fe20f86e"
                 "13bf70439c538e3602a7127af71a29cc"},
                {"4d757272617920526f746862617264",
                 "95ebc60d2b1fa672c1f46a8aa265ef51bfe38e7ccb39ec5be34069f144808843"
                 "9f069b267a06b3de3ecb1043bcb098e9af91d9c64748d998c7b47890871571"},
                {"462e20412e20486179656b",
                 "cd54383060e7a28434cca27fb1cc524cfbabeb18181589df219d07"},
                {"4361726c204d656e676572",
                 "a856d3bf0246bfc476c655009cd1ed677b8dcc5b349ae8ef2a05f2"},
                {"4a65616e2d426170746973746520536179",
                 "49063084b2c51f098337cb8a13739ac848f907e67cfb2cc8a8b60586467aa02f"
                 "c7"},
                {"457567656e2042f6686d20766f6e2042617765726b",
                 "8b9709d23b47e4639df7678d7a21741eba4ef1e9c60383001c7435549c20f9d5"
                 "6f30e935d3"},
            },
    },
    {
        .protocol_name = "Noise_XX_25519_ChaChaPoly_BLAKE2b",
        .prologue = "4a6f686e2047616c74",
        .init_static = "e61ef9919cde45dd5f82166404bd08e38bceb5dfdfded0a34c8df7ed542214d1",
        .init_ephemeral = "893e28b9dc6ca8d611ab664754b8ceb7bac5117349a4439a6b0569da977c464a",
        .init_remote_static = "",
        .resp_static = "4a3acbfdb163dec651dfa3194dece676d437029c62a408b4c5ea9114246e4893",
        .resp_ephemeral = "bbdb4cdbd309f1a1f2e1456967fe288cadd6f712d65dc7b7793d5e63da6b375b",
        .handshake_hash = "8cf47d7b3cb5804c0109d48e8bcdbee2cbb65687d8ea2c92994ca361fb86151a"
                          "d93627b98936cbb32de56e8abb21def3925011ac3e35db9cbeea73ab9a4392c2",
        .messages =
            {
                {"4c756477696720766f6e204d69736573",
                 "ca35def5ae56cec33dc2036731ab14896bc4c75dbb07a61f879f8e3afa4c7944"
                 "4c756477696720766f6e204d69736573"},
                {"4d757272617920526f746862617264",
                 "95ebc60d2b1fa672c1f46a8aa265ef51bfe38e7ccb39ec5be34069f144808843"
                 "0505b6745ce64a5f33f0e8e3b83f11ce8802bca507f4f2d8b564dbe277e19661"
                 "16e132faa2dfd70b8b077b9f94b913df5056ae1319469b824a98d54bbaa82c32"
                 "5595587064f978c4b6d104f7596e6f"},
                {"462e20412e20486179656b",
                 "99579e1c1ee15e422a57ddd6b16d37087b17558e8369c18991b4b2ca3a824abf"
                 "904cdcf5458b5431a75af034ca9e9b982de039eaaf156775e2d580cd4e5ebae8"
                 "9c3f8cb2594b556d8a8169"},
                {"4361726c204d656e676572",
                 "fc56eea290b3f3a21aac0c70cd5787b5ee99be37d2f4d751329b55"},
                {"4a65616e2d426170746973746520536179",
                 "bb31c9da10d5639a4cdb88a12f5c61de41bbc7df09bf75d94f8184fe4157f5c6"
                 "8f"},
                {"457567656e2042f6686d20766f6e2042617765726b",
                 "f6199cadb152fb27f82be0a0891ec76a33598ae92a46cab2fb5a8ed5bf48b7f2"
                 "67f8370af7"},
            },
    },
    {
        .protocol_name = "Noise_XX_25519_ChaChaPoly_BLAKE2b",
        .prologue = "5468657265206973206e6f20726967687420616e642077726f6e672e20546865"
                    "72652773206f6e6c792066756e20616e6420626f72696e672e",
        .init_static = "842752777821bd4c9a6a84c777cb9028ba2446c864e035c8d380632dca3a7702",
        .init_ephemeral = "5dfce6be0b767fc60a51e1d627711c67d63e97115cb3957a64a66919747ea47c",
        .init_remote_static = "",
        .resp_static = "8885e7006b27a44bec4a6e7bfcc37032a3564a73bf9588585bd1166829d80d8a",
        .resp_ephemeral = "9c012e056ed37994a4bfb09f57a7505bf44c07e9784c3c2bcefd8880b2d85e21",
        .handshake_hash = "",
        .messages =
            {
                {"bcb708376354e0dc837fc3f7e0e9c8c59849fd907a129a3c0afde64e79d1ac09",
                 "50a7da541baa50d563e3fd3526f53e9b7e4af8083a4180b5d1f8cd49fbe30518"
                 "bcb708376354e0dc837fc3f7e0e9c8c59849fd907a129a3c0afde64e79d1ac09"},
                {"77783888d07aa30dfeccf96d8da0a293546232bc8a460b5fbca479e3da54d3b2",
                 "6b0ae570deada82b6f3071c87bd361014c34f8d15fee49ed0078f38a9c05bb70"
                 "3c2eb46ccc2734a9c07555b85d6f0b5ae29f24aaa2c351d815acd2e1de777034"
                 "4339d0d854daf5a4468b189caf7ff643d6c5645e9e7fd5edcad6755ea0a01f51"
                 "f552650ab99b7a0eba09f64b9dc0737f5756688682897c0912890a6ec56d72f8"},
                {"420d0154f4e26a4224c201f3ecceddc06eb8896b78386978fb25b21dd276c6fb",
                 "386d9e2549dcb9a016db7e05f45c19d2c4fd4e7a61d1c06dbd01d21012d448b3"
                 "4761826aa7b3fc8d0c5cc73d487c1f19ac29de837b4ccd361603f03d12f8971a"
                 "e0534fbd8096fd5bc2c7bdc77026207623514afa5804d07a3b0c316f9e5a9c12"},
                {"58f929d4d8eda457fb01b3a09bb6391aac0d93477df9e3042355741747744571",
                 "c81ba3d22336cd78d64ff9e2161d339db9fd3a5407a3fb594fb7a59d718e83c6"
                 "054b1002721e63ffb2a2d2d8bfd670bc"},
                {"c86af330a6b59de9d7ead76260204ef7e897a1323bdc0a9c5ea4450556ed0bf6",
                 "1207c87bc8ec9b6d5db3a3d3ed5caab43c98e71492a424b7d7302ea8313d1b0e"
                 "3644c9b3c479a80cdb3da1e92466b8ac"},
            },
    },
    {
        .protocol_name = "Noise_IK_25519_ChaChaPoly_BLAKE2b",
        .prologue = "5468657265206973206e6f20726967687420616e642077726f6e672e20546865"
                    "72652773206f6e6c792066756e20616e6420626f72696e672e",
        .init_static = "7d96e7fbefd508f6d553010ef8b53b9800f30bdd1bc82d141c543cc4afe31bde",
        .init_ephemeral = "3fa848b150e958dad41a3e1e455c65c46b773d806a55f4abdcae3f5e3f80d816",
        .init_remote_static = "c2330a71efe7ad7655ad63ec6ac84e0be70c79b3a9808364741e99abe231b240",
        .resp_static = "f192f565f752e8e706d20bd2a71b22d94b804bfeb499ac84391f1af846d1824d",
        .resp_ephemeral = "3092d9e2e44264afea07fd9b43562177e9ae63d65cbdc471d3539247e2ba1a36",
        .handshake_hash = "",
        .messages =
            {
                {"eab1b0a96295a7f0b29f013bf2baa6d74ab79b2b2f69b79764eb97684ca17e5d",
                 "4b42c759ee133dc6a49aa1b19fc1727ca3d3876d6ed5479b60fe2963fede0f4f"
                 "f9f68f1540f591b16150d98b3f65371da84c2dcfbf18f02295edcd20fdcf315c"
                 "83529bc394387fc22bfc8583e23514c28884729838efe481016f828fefca4f53"
                 "c4e61c7ed5a7b297044e11b90a28d2e264ac2335e254c7b636d1d0406aea1e3e"},
                {"1a1d45c87a116c31f9704d9c599f833e65dbe1fc511a50fc85e07b440806430b",
                 "058e04eada2f87f02ffb22ec049d3d629008eb672976078b61222af7822e9c19"
                 "b04dc83d279b6d418149e3ba99ff887c64a2f9da7a1ad2c83bbea46759a50393"
                 "3f9cfc8c06dbc2b9170a0fb6a5a28740"},
                {"752ce6ebed958e84d2e8ffa89ca929e500bc987d3ba01196f850fe73d7320822",
                 "e4a719610c329661dcc3084484c92025c7fadff6910c6d9e8dcdae29d76cd2d3"
                 "3c74218a3588732db968a282ba4689ec"},
                {"f7496b1a99db7ba96ce16c642662e966b8323aca4e7c8e2ed51d3e764c05a363",
                 "8cdb272f66c39e16182c1b68a45052f97264ca6a337e338dbdd1121005fb268b"
                 "637d94ecc94ded7352c1e22bf7d2a32d"},
            },
    },
};

}  // namespace p2p::proto::golden
