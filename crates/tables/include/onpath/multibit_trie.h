/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Tables with many prefixes: a trie whose nodes consume a byte of the key at first, then half a byte. */
#ifndef ONPATH_MULTIBIT_TRIE_H
#define ONPATH_MULTIBIT_TRIE_H

#include "tables.h"

/* Flag in the lower half of a slot, which then leads to a node. Otherwise it leads to the only route below, whose
 * prefix must still be compared, or to none if it is 0. The upper half is the route of the longest prefix so far, 0 for
 * none. */
#define TRIE_NODE 0x80000000u

/* Returns true if a key begins with a route's prefix. Both have `words` words. */
INLINE int prefix_matches(const u8 *route, const u8 *key, u32 prefix, u32 mask, u32 words)
{
    u32 word, differs = 0;

    for (word = 0; word < words; word++) {
        any32 wanted = *(const any32 *)(route + prefix + 4 * word);
        any32 under = *(const any32 *)(route + mask + 4 * word);

        differs |= (wanted ^ *(const any32 *)(key + 4 * word)) & under;
    }
    return !differs;
}

/* Returns the number of the route with the longest prefix of a key. The key has `words` words, and `halves` half-bytes
 * after its first two bytes. A route has its prefix and its mask at the offsets `prefix` and `mask`. */
INLINE u32 longest_prefix(void *wide, void *narrow, void *routes, const u8 *key, u32 root, u32 halves, u32 words,
                          u32 prefix, u32 mask)
{
    u32 best = NO_ENTRY, next = root, level;
    const u8 *route;

    for (level = 0; level < 2; level++) {
        const u64 *slots = map_find(wide, &next);
        u64 slot;

        if (!slots)
            return NO_ENTRY;
        slot = *(const volatile u64 *)&slots[key[level]];
        if (slot >> 32)
            best = slot >> 32;
        next = slot;
        if (!(next & TRIE_NODE))
            goto compare;
        next ^= TRIE_NODE;
    }
    for (level = 0; level < halves; level++) {
        const u64 *slots = map_find(narrow, &next);
        u8 byte = key[2 + level / 2];
        u64 slot;

        if (!slots)
            return NO_ENTRY;
        slot = *(const volatile u64 *)&slots[level & 1 ? byte & 15 : byte >> 4];
        if (slot >> 32)
            best = slot >> 32;
        next = slot;
        if (!(next & TRIE_NODE))
            goto compare;
        next ^= TRIE_NODE;
    }
    return best;
compare:
    if (!next)
        return best;
    route = map_find(routes, &next);
    if (route && prefix_matches(route, key, prefix, mask, words))
        return next;
    return best;
}

#endif
