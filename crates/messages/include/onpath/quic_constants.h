/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Constants of SHA-256 (FIPS 180-4), AES (FIPS 197), GCM (NIST SP 800-38D) and of the keys of Initial packets (RFC 9001,
 * RFC 9369). Where there are two of a kind, they are those of versions 1 and 2 of QUIC. */
#ifndef ONPATH_QUIC_CONSTANTS_H
#define ONPATH_QUIC_CONSTANTS_H

#include "types.h"

static const u32 quic_sha_start[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

static const u32 quic_sha_rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

/* The first table for the rounds of AES, each word twice: the others begin 1, 2 and 3 bytes further. The key is public,
 * so which words are read tells nothing. */
static const u64 quic_aes_table[256] = {
    0xc66363a5c66363a5ull, 0xf87c7c84f87c7c84ull, 0xee777799ee777799ull, 0xf67b7b8df67b7b8dull,
    0xfff2f20dfff2f20dull, 0xd66b6bbdd66b6bbdull, 0xde6f6fb1de6f6fb1ull, 0x91c5c55491c5c554ull,
    0x6030305060303050ull, 0x0201010302010103ull, 0xce6767a9ce6767a9ull, 0x562b2b7d562b2b7dull,
    0xe7fefe19e7fefe19ull, 0xb5d7d762b5d7d762ull, 0x4dababe64dababe6ull, 0xec76769aec76769aull,
    0x8fcaca458fcaca45ull, 0x1f82829d1f82829dull, 0x89c9c94089c9c940ull, 0xfa7d7d87fa7d7d87ull,
    0xeffafa15effafa15ull, 0xb25959ebb25959ebull, 0x8e4747c98e4747c9ull, 0xfbf0f00bfbf0f00bull,
    0x41adadec41adadecull, 0xb3d4d467b3d4d467ull, 0x5fa2a2fd5fa2a2fdull, 0x45afafea45afafeaull,
    0x239c9cbf239c9cbfull, 0x53a4a4f753a4a4f7ull, 0xe4727296e4727296ull, 0x9bc0c05b9bc0c05bull,
    0x75b7b7c275b7b7c2ull, 0xe1fdfd1ce1fdfd1cull, 0x3d9393ae3d9393aeull, 0x4c26266a4c26266aull,
    0x6c36365a6c36365aull, 0x7e3f3f417e3f3f41ull, 0xf5f7f702f5f7f702ull, 0x83cccc4f83cccc4full,
    0x6834345c6834345cull, 0x51a5a5f451a5a5f4ull, 0xd1e5e534d1e5e534ull, 0xf9f1f108f9f1f108ull,
    0xe2717193e2717193ull, 0xabd8d873abd8d873ull, 0x6231315362313153ull, 0x2a15153f2a15153full,
    0x0804040c0804040cull, 0x95c7c75295c7c752ull, 0x4623236546232365ull, 0x9dc3c35e9dc3c35eull,
    0x3018182830181828ull, 0x379696a1379696a1ull, 0x0a05050f0a05050full, 0x2f9a9ab52f9a9ab5ull,
    0x0e0707090e070709ull, 0x2412123624121236ull, 0x1b80809b1b80809bull, 0xdfe2e23ddfe2e23dull,
    0xcdebeb26cdebeb26ull, 0x4e2727694e272769ull, 0x7fb2b2cd7fb2b2cdull, 0xea75759fea75759full,
    0x1209091b1209091bull, 0x1d83839e1d83839eull, 0x582c2c74582c2c74ull, 0x341a1a2e341a1a2eull,
    0x361b1b2d361b1b2dull, 0xdc6e6eb2dc6e6eb2ull, 0xb45a5aeeb45a5aeeull, 0x5ba0a0fb5ba0a0fbull,
    0xa45252f6a45252f6ull, 0x763b3b4d763b3b4dull, 0xb7d6d661b7d6d661ull, 0x7db3b3ce7db3b3ceull,
    0x5229297b5229297bull, 0xdde3e33edde3e33eull, 0x5e2f2f715e2f2f71ull, 0x1384849713848497ull,
    0xa65353f5a65353f5ull, 0xb9d1d168b9d1d168ull, 0x0000000000000000ull, 0xc1eded2cc1eded2cull,
    0x4020206040202060ull, 0xe3fcfc1fe3fcfc1full, 0x79b1b1c879b1b1c8ull, 0xb65b5bedb65b5bedull,
    0xd46a6abed46a6abeull, 0x8dcbcb468dcbcb46ull, 0x67bebed967bebed9ull, 0x7239394b7239394bull,
    0x944a4ade944a4adeull, 0x984c4cd4984c4cd4ull, 0xb05858e8b05858e8ull, 0x85cfcf4a85cfcf4aull,
    0xbbd0d06bbbd0d06bull, 0xc5efef2ac5efef2aull, 0x4faaaae54faaaae5ull, 0xedfbfb16edfbfb16ull,
    0x864343c5864343c5ull, 0x9a4d4dd79a4d4dd7ull, 0x6633335566333355ull, 0x1185859411858594ull,
    0x8a4545cf8a4545cfull, 0xe9f9f910e9f9f910ull, 0x0402020604020206ull, 0xfe7f7f81fe7f7f81ull,
    0xa05050f0a05050f0ull, 0x783c3c44783c3c44ull, 0x259f9fba259f9fbaull, 0x4ba8a8e34ba8a8e3ull,
    0xa25151f3a25151f3ull, 0x5da3a3fe5da3a3feull, 0x804040c0804040c0ull, 0x058f8f8a058f8f8aull,
    0x3f9292ad3f9292adull, 0x219d9dbc219d9dbcull, 0x7038384870383848ull, 0xf1f5f504f1f5f504ull,
    0x63bcbcdf63bcbcdfull, 0x77b6b6c177b6b6c1ull, 0xafdada75afdada75ull, 0x4221216342212163ull,
    0x2010103020101030ull, 0xe5ffff1ae5ffff1aull, 0xfdf3f30efdf3f30eull, 0xbfd2d26dbfd2d26dull,
    0x81cdcd4c81cdcd4cull, 0x180c0c14180c0c14ull, 0x2613133526131335ull, 0xc3ecec2fc3ecec2full,
    0xbe5f5fe1be5f5fe1ull, 0x359797a2359797a2ull, 0x884444cc884444ccull, 0x2e1717392e171739ull,
    0x93c4c45793c4c457ull, 0x55a7a7f255a7a7f2ull, 0xfc7e7e82fc7e7e82ull, 0x7a3d3d477a3d3d47ull,
    0xc86464acc86464acull, 0xba5d5de7ba5d5de7ull, 0x3219192b3219192bull, 0xe6737395e6737395ull,
    0xc06060a0c06060a0ull, 0x1981819819818198ull, 0x9e4f4fd19e4f4fd1ull, 0xa3dcdc7fa3dcdc7full,
    0x4422226644222266ull, 0x542a2a7e542a2a7eull, 0x3b9090ab3b9090abull, 0x0b8888830b888883ull,
    0x8c4646ca8c4646caull, 0xc7eeee29c7eeee29ull, 0x6bb8b8d36bb8b8d3ull, 0x2814143c2814143cull,
    0xa7dede79a7dede79ull, 0xbc5e5ee2bc5e5ee2ull, 0x160b0b1d160b0b1dull, 0xaddbdb76addbdb76ull,
    0xdbe0e03bdbe0e03bull, 0x6432325664323256ull, 0x743a3a4e743a3a4eull, 0x140a0a1e140a0a1eull,
    0x924949db924949dbull, 0x0c06060a0c06060aull, 0x4824246c4824246cull, 0xb85c5ce4b85c5ce4ull,
    0x9fc2c25d9fc2c25dull, 0xbdd3d36ebdd3d36eull, 0x43acacef43acacefull, 0xc46262a6c46262a6ull,
    0x399191a8399191a8ull, 0x319595a4319595a4ull, 0xd3e4e437d3e4e437ull, 0xf279798bf279798bull,
    0xd5e7e732d5e7e732ull, 0x8bc8c8438bc8c843ull, 0x6e3737596e373759ull, 0xda6d6db7da6d6db7ull,
    0x018d8d8c018d8d8cull, 0xb1d5d564b1d5d564ull, 0x9c4e4ed29c4e4ed2ull, 0x49a9a9e049a9a9e0ull,
    0xd86c6cb4d86c6cb4ull, 0xac5656faac5656faull, 0xf3f4f407f3f4f407ull, 0xcfeaea25cfeaea25ull,
    0xca6565afca6565afull, 0xf47a7a8ef47a7a8eull, 0x47aeaee947aeaee9ull, 0x1008081810080818ull,
    0x6fbabad56fbabad5ull, 0xf0787888f0787888ull, 0x4a25256f4a25256full, 0x5c2e2e725c2e2e72ull,
    0x381c1c24381c1c24ull, 0x57a6a6f157a6a6f1ull, 0x73b4b4c773b4b4c7ull, 0x97c6c65197c6c651ull,
    0xcbe8e823cbe8e823ull, 0xa1dddd7ca1dddd7cull, 0xe874749ce874749cull, 0x3e1f1f213e1f1f21ull,
    0x964b4bdd964b4bddull, 0x61bdbddc61bdbddcull, 0x0d8b8b860d8b8b86ull, 0x0f8a8a850f8a8a85ull,
    0xe0707090e0707090ull, 0x7c3e3e427c3e3e42ull, 0x71b5b5c471b5b5c4ull, 0xcc6666aacc6666aaull,
    0x904848d8904848d8ull, 0x0603030506030305ull, 0xf7f6f601f7f6f601ull, 0x1c0e0e121c0e0e12ull,
    0xc26161a3c26161a3ull, 0x6a35355f6a35355full, 0xae5757f9ae5757f9ull, 0x69b9b9d069b9b9d0ull,
    0x1786869117868691ull, 0x99c1c15899c1c158ull, 0x3a1d1d273a1d1d27ull, 0x279e9eb9279e9eb9ull,
    0xd9e1e138d9e1e138ull, 0xebf8f813ebf8f813ull, 0x2b9898b32b9898b3ull, 0x2211113322111133ull,
    0xd26969bbd26969bbull, 0xa9d9d970a9d9d970ull, 0x078e8e89078e8e89ull, 0x339494a7339494a7ull,
    0x2d9b9bb62d9b9bb6ull, 0x3c1e1e223c1e1e22ull, 0x1587879215878792ull, 0xc9e9e920c9e9e920ull,
    0x87cece4987cece49ull, 0xaa5555ffaa5555ffull, 0x5028287850282878ull, 0xa5dfdf7aa5dfdf7aull,
    0x038c8c8f038c8c8full, 0x59a1a1f859a1a1f8ull, 0x0989898009898980ull, 0x1a0d0d171a0d0d17ull,
    0x65bfbfda65bfbfdaull, 0xd7e6e631d7e6e631ull, 0x844242c6844242c6ull, 0xd06868b8d06868b8ull,
    0x824141c3824141c3ull, 0x299999b0299999b0ull, 0x5a2d2d775a2d2d77ull, 0x1e0f0f111e0f0f11ull,
    0x7bb0b0cb7bb0b0cbull, 0xa85454fca85454fcull, 0x6dbbbbd66dbbbbd6ull, 0x2c16163a2c16163aull,
};

/* Reduction of the four bits that a shift moves out, as the highest 16 bits (GHASH). */
static const u32 quic_ghash_out[16] = {
    0x0000, 0x1c20, 0x3840, 0x2460, 0x7080, 0x6ca0, 0x48c0, 0x54e0, 0xe100, 0xfd20, 0xd940, 0xc560, 0x9180, 0x8da0, 0xa9c0, 0xb5e0,
};

/* State of HMAC after the inner and the outer pad of the salt. */
static const u32 quic_salt_inner[2][8] = {
    {
        0x2d5eed97, 0x70d71abf, 0x4c9b8799, 0xc4eb86b0, 0xe9b16e41, 0xd04322f6, 0xf73a0cb2, 0x9e23a203,
    },
    {
        0x9f201982, 0x7e771bd0, 0x601a8795, 0x5d7ab60d, 0x2ff30d4b, 0x72201a09, 0x6eaa0d12, 0xca4e4d6b,
    },
};
static const u32 quic_salt_outer[2][8] = {
    {
        0x0d3d813d, 0xcffa6f1f, 0x7dbcb03e, 0x923042dc, 0xd15a45f6, 0x55ab0325, 0xf3c23aab, 0x37426939,
    },
    {
        0xbb153200, 0x003bcf3a, 0xf99876d1, 0xf698c9aa, 0x804d4d49, 0x7a379cfe, 0xc1eb346e, 0xadaf299f,
    },
};

/* The block of SHA-256 that expands a label: of the client's secret, the key, the vector and the key of header protection. */
static const u32 quic_labels[2][4][16] = {
    {
        {
            0x00200f74, 0x6c733133, 0x20636c69, 0x656e7420, 0x696e0001, 0x80000000, 0x00000000, 0x00000000,
            0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x000002a0,
        },
        {
            0x00100e74, 0x6c733133, 0x20717569, 0x63206b65, 0x79000180, 0x00000000, 0x00000000, 0x00000000,
            0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000298,
        },
        {
            0x000c0d74, 0x6c733133, 0x20717569, 0x63206976, 0x00018000, 0x00000000, 0x00000000, 0x00000000,
            0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000290,
        },
        {
            0x00100d74, 0x6c733133, 0x20717569, 0x63206870, 0x00018000, 0x00000000, 0x00000000, 0x00000000,
            0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000290,
        },
    },
    {
        {
            0x00200f74, 0x6c733133, 0x20636c69, 0x656e7420, 0x696e0001, 0x80000000, 0x00000000, 0x00000000,
            0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x000002a0,
        },
        {
            0x00101074, 0x6c733133, 0x20717569, 0x63763220, 0x6b657900, 0x01800000, 0x00000000, 0x00000000,
            0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x000002a8,
        },
        {
            0x000c0f74, 0x6c733133, 0x20717569, 0x63763220, 0x69760001, 0x80000000, 0x00000000, 0x00000000,
            0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x000002a0,
        },
        {
            0x00100f74, 0x6c733133, 0x20717569, 0x63763220, 0x68700001, 0x80000000, 0x00000000, 0x00000000,
            0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x000002a0,
        },
    },
};

#endif
