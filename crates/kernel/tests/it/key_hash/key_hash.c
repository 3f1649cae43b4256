/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Programs that hash a key of a given number of words, read from the packet from byte 16 on, and write the hash
 * over the first word. */
#include "onpath/memory.h"

#include "onpath/keys.h"

struct xdp_md {
    u32 data, data_end;
};

#define PROGRAM(words)                                                                                       \
    SEC("xdp") int hash_##words(struct xdp_md *ctx)                                                          \
    {                                                                                                        \
        u8 *packet = (u8 *)(long)ctx->data;                                                                  \
        any64 *at = (any64 *)(packet + 16);                                                                  \
        u64 key[words];                                                                                      \
                                                                                                             \
        if (packet + 16 + 8 * words > (u8 *)(long)ctx->data_end)                                             \
            return 0;                                                                                        \
        for (u32 i = 0; i < words; i++)                                                                      \
            key[i] = at[i];                                                                                  \
        at[0] = key_hash(key, words);                                                                        \
        return 2;                                                                                            \
    }

PROGRAM(1)
PROGRAM(2)
PROGRAM(3)
PROGRAM(4)
PROGRAM(5)
PROGRAM(16)

char _license[] SEC("license") = "Dual BSD/GPL";
