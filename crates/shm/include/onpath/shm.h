/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Reads of maps in shared memory, by packets: the crate `shm` describes its layout. */
#ifndef ONPATH_SHM_H
#define ONPATH_SHM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SHM_VERSION 1
#define SHM_MAPS 4096

enum shm_kind { SHM_ARRAY, SHM_CORE_ARRAY, SHM_HASH, SHM_CORE_HASH, SHM_TRIE, SHM_RING };

struct shm_map {
    char name[64];
    uint32_t kind, key_size, value_size, max_entries;
    uint64_t place[2], size;
    uint8_t unused[24];
};

struct shm_hash {
    uint64_t changes;
    uint32_t writing, count, free_first, free_last, used;
};

static inline uint64_t shm_room(uint64_t size) { return (size + 7) & ~(uint64_t)7; }

static inline uint32_t shm_u32(const uint8_t *base, uint64_t at) {
    return __atomic_load_n((const uint32_t *)(base + at), __ATOMIC_ACQUIRE);
}

static inline uint64_t shm_u64(const uint8_t *base, uint64_t at) {
    return __atomic_load_n((const uint64_t *)(base + at), __ATOMIC_ACQUIRE);
}

/* The number of a map; -1 if there is none of this name. */
static inline int shm_map_number(const uint8_t *base, const char *name) {
    const struct shm_map *maps = (const struct shm_map *)(base + SHM_MAPS);
    uint32_t count = shm_u32(base, 20);
    for (uint32_t number = 0; number < count; number++) {
        if (strncmp(maps[number].name, name, sizeof maps[number].name) == 0)
            return (int)number;
    }
    return -1;
}

/* Begins a batch of packets on a core: what they find stays until its end. */
static inline void shm_begin(uint8_t *base, uint32_t core) {
    uint64_t *word = (uint64_t *)(base + shm_u64(base, 56) + 64 * (uint64_t)core);
    __atomic_store_n(word, shm_u64(base, 32), __ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static inline void shm_end(uint8_t *base, uint32_t core) {
    uint64_t *word = (uint64_t *)(base + shm_u64(base, 56) + 64 * (uint64_t)core);
    __atomic_store_n(word, 0, __ATOMIC_RELEASE);
}

/* The directory that a batch of packets reads maps by. */
static inline uint64_t shm_directory(const uint8_t *base) {
    return shm_u64(base, 40 + 8 * (uint64_t)(shm_u32(base, 24) & 1));
}

/* An element of an array or a hash table, the copy of a core where each has one; NULL if there is none. The batch has begun. */
static inline void *map_find(uint8_t *base, uint64_t directory, int number, const void *key, uint32_t core) {
    const struct shm_map *map = (const struct shm_map *)(base + SHM_MAPS) + number;
    uint8_t *at = base + shm_u64(base, directory + 8 * (uint64_t)number);
    int many = map->kind == SHM_CORE_ARRAY || map->kind == SHM_CORE_HASH;
    uint64_t copies = many ? shm_u32(base, 16) : 1;
    uint64_t value = shm_room(map->value_size), copy = many ? core * value : 0;

    if (map->kind == SHM_ARRAY || map->kind == SHM_CORE_ARRAY) {
        uint32_t index;
        memcpy(&index, key, sizeof index);
        return index < map->max_entries ? at + index * value * copies + copy : NULL;
    }
    if (map->kind != SHM_HASH && map->kind != SHM_CORE_HASH)
        return NULL;

    uint64_t heads = 4, hash = shm_u64(base, 88);
    while (heads < map->max_entries)
        heads *= 2;
    for (uint32_t from = 0; from < map->key_size; from += 8) {
        uint32_t left = map->key_size - from;
        uint64_t word = 0;
        memcpy(&word, (const uint8_t *)key + from, left < 8 ? left : 8);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15;
        hash ^= hash >> 32;
    }
    uint64_t value_at = 8 + shm_room(map->key_size), node = value_at + value * copies;
    uint64_t nodes_at = (64 + 4 * heads + 63) & ~(uint64_t)63;

    for (;;) {
        uint64_t before = shm_u64(at, offsetof(struct shm_hash, changes));
        uint32_t next = shm_u32(at, 64 + 4 * (hash & (heads - 1)));
        for (uint64_t steps = 0; next && steps <= map->max_entries + 16ull; steps++) {
            uint64_t element = nodes_at + (next - 1) * node;
            uint32_t version = shm_u32(at, element + 4);
            if (version % 2 == 0 && memcmp(at + element + 8, key, map->key_size) == 0) {
                __atomic_thread_fence(__ATOMIC_ACQUIRE);
                if (shm_u32(at, element + 4) == version)
                    return at + element + value_at + copy;
                break;
            }
            next = shm_u32(at, element);
        }
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (next == 0 && shm_u64(at, offsetof(struct shm_hash, changes)) == before)
            return NULL;
    }
}

#endif
