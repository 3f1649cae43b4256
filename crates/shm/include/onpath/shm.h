/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Operations of packets on maps in shared memory. The crate `shm` describes their layout. Requires the C library. */
#ifndef ONPATH_SHM_H
#define ONPATH_SHM_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SHM_VERSION 1
#define SHM_SEEDS 72
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

/* Returns the time of the program's clock in nanoseconds: a test's clock if it is set, else the machine's. */
static inline uint64_t shm_now(const uint8_t *base) {
    struct timespec now;
    uint64_t set = shm_u64(base, 96);

    if (set)
        return set;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* Returns the index of a map; -1 if none has this name. */
static inline int shm_map_number(const uint8_t *base, const char *name) {
    const struct shm_map *maps = (const struct shm_map *)(base + SHM_MAPS);
    uint32_t count = shm_u32(base, 20);
    for (uint32_t number = 0; number < count; number++) {
        if (strncmp(maps[number].name, name, sizeof maps[number].name) == 0)
            return (int)number;
    }
    return -1;
}

/* Begins a batch of packets on a core. Memory that they find is not reused until its end. */
static inline void shm_begin(uint8_t *base, uint32_t core) {
    uint64_t *word = (uint64_t *)(base + shm_u64(base, 56) + 64 * (uint64_t)core);
    __atomic_store_n(word, shm_u64(base, 32), __ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static inline void shm_end(uint8_t *base, uint32_t core) {
    uint64_t *word = (uint64_t *)(base + shm_u64(base, 56) + 64 * (uint64_t)core);
    __atomic_store_n(word, 0, __ATOMIC_RELEASE);
}

/* Returns the directory through which a batch of packets finds maps. */
static inline uint64_t shm_directory(const uint8_t *base) {
    return shm_u64(base, 40 + 8 * (uint64_t)(shm_u32(base, 24) & 1));
}

/* Returns the value of exactly this key in a hash table or a prefix trie; NULL if there is none. A per-core map returns
 * the core's copy. */
static inline void *shm_exactly(const uint8_t *base, const struct shm_map *map, uint8_t *at, const void *key, uint32_t core) {
    uint64_t copies = map->kind == SHM_CORE_HASH ? shm_u32(base, 16) : 1, value = shm_room(map->value_size);
    uint64_t lengths = map->kind == SHM_TRIE ? (map->key_size * 8ull / 64 + 1) * 8 : 0;
    uint64_t heads = 4, heads_at = (64 + lengths + 63) & ~(uint64_t)63, hash = shm_u64(base, 88);

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
    uint64_t nodes_at = (heads_at + 4 * heads + 63) & ~(uint64_t)63;

    for (;;) {
        uint64_t before = shm_u64(at, offsetof(struct shm_hash, changes));
        uint32_t next = shm_u32(at, heads_at + 4 * (hash & (heads - 1)));
        for (uint64_t steps = 0; next && steps <= map->max_entries + 16ull; steps++) {
            uint64_t element = nodes_at + (next - 1) * node;
            uint32_t version = shm_u32(at, element + 4);
            if (version % 2 == 0 && memcmp(at + element + 8, key, map->key_size) == 0) {
                __atomic_thread_fence(__ATOMIC_ACQUIRE);
                if (shm_u32(at, element + 4) == version)
                    return at + element + value_at + (copies > 1 ? core * value : 0);
                break;
            }
            next = shm_u32(at, element);
        }
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (next == 0 && shm_u64(at, offsetof(struct shm_hash, changes)) == before)
            return NULL;
    }
}

/* Returns the value of the longest prefix of a key in a trie. The key begins with its own length in bits. */
static inline void *shm_prefix(const uint8_t *base, const struct shm_map *map, uint8_t *at, const void *key, uint32_t core) {
    uint32_t length, most = map->key_size * 8 - 32;
    uint8_t prefix[map->key_size];

    memcpy(prefix, key, map->key_size);
    memcpy(&length, key, sizeof length);
    if (length > most)
        length = most;
    for (uint32_t bits = most; ; bits--) {
        if (bits < most)
            prefix[4 + bits / 8] &= ~(0x80u >> bits % 8);
        if (bits <= length && shm_u64(at, 64 + bits / 64 * 8ull) >> bits % 64 & 1) {
            memcpy(prefix, &bits, sizeof bits);
            void *found = shm_exactly(base, map, at, prefix, core);
            if (found)
                return found;
        }
        if (!bits)
            return NULL;
    }
}

/* Returns the memory of a map. The batch must have begun. */
static inline uint8_t *shm_place(uint8_t *base, uint64_t directory, uint32_t number) {
    return base + shm_u64(base, directory + 8 * (uint64_t)number);
}

/* Returns an element of a map that is no ring buffer; NULL if there is none. A per-core map returns the core's copy.
 * The batch must have begun. */
static inline void *shm_find(uint8_t *base, uint64_t directory, uint32_t number, const void *key, uint32_t core) {
    const struct shm_map *map = (const struct shm_map *)(base + SHM_MAPS) + number;
    uint8_t *at = shm_place(base, directory, number);
    uint64_t value = shm_room(map->value_size);
    uint32_t index;

    switch (map->kind) {
    case SHM_ARRAY:
        memcpy(&index, key, sizeof index);
        return index < map->max_entries ? at + index * value : NULL;
    case SHM_CORE_ARRAY:
        memcpy(&index, key, sizeof index);
        return index < map->max_entries ? at + (index * (uint64_t)shm_u32(base, 16) + core) * value : NULL;
    case SHM_HASH:
    case SHM_CORE_HASH:
        return shm_exactly(base, map, at, key, core);
    case SHM_TRIE:
        return shm_prefix(base, map, at, key, core);
    default:
        return NULL;
    }
}

struct shm_lock {
    uint32_t taken;
};

/* Returns the number of this thread as the holder of locks: never 0. */
static inline uint32_t shm_holder(void) {
    static __thread uint32_t holder;

    if (!holder)
        holder = (uint32_t)syscall(SYS_gettid) << 1 | 1;
    return holder;
}

/* Takes a lock. A holder that has had it for a second must be dead, so that the lock is taken from it. */
static inline void shm_take(struct shm_lock *lock) {
    struct timespec begun = {0}, now;
    uint32_t met = 0, before = 0;

    while (!__atomic_compare_exchange_n(&lock->taken, &met, shm_holder(), 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (met != before) {
            before = met;
            begun = now;
        }
        /* The next exchange expects a free lock, or the dead holder after a second. */
        if ((now.tv_sec - begun.tv_sec) * 1000000000ll + now.tv_nsec - begun.tv_nsec < 1000000000ll)
            met = 0;
        sched_yield();
    }
}

/* Releases a lock, unless another process has taken it away. */
static inline void shm_give_back(struct shm_lock *lock) {
    uint32_t holder = shm_holder();

    __atomic_compare_exchange_n(&lock->taken, &holder, 0, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

/* Returns 1 if a ring buffer has room for a record now. */
static inline int shm_fits(uint8_t *base, uint64_t directory, uint32_t number, uint32_t length) {
    const struct shm_map *map = (const struct shm_map *)(base + SHM_MAPS) + number;
    uint8_t *at = shm_place(base, directory, number);
    uint64_t consumed = shm_u64(at, 64);

    return shm_u64(at, 0) - consumed + 8 + shm_room(length) <= (map->max_entries & ~7u);
}

/* Adds a record to a ring buffer. Returns 0 if there is no room. */
static inline int shm_add(uint8_t *base, uint64_t directory, uint32_t number, const void *record, uint32_t length) {
    const struct shm_map *map = (const struct shm_map *)(base + SHM_MAPS) + number;
    uint8_t *at = shm_place(base, directory, number);
    uint64_t size = map->max_entries & ~7u, whole = 8 + shm_room(length), produced;
    struct shm_lock *lock = (struct shm_lock *)(at + 16);
    int fits;

    shm_take(lock);
    produced = shm_u64(at, 0);
    fits = produced - shm_u64(at, 64) + whole <= size;
    if (fits) {
        for (uint64_t from = 0; from < whole; from += 8) {
            uint64_t word = 0, left = from ? length - (from - 8) : 0;
            if (from)
                memcpy(&word, (const uint8_t *)record + from - 8, left < 8 ? left : 8);
            else
                memcpy(&word, &length, sizeof length);
            memcpy(at + 128 + (produced + from) % size, &word, 8);
        }
        __atomic_store_n((uint64_t *)at, produced + whole, __ATOMIC_RELEASE);
    }
    shm_give_back(lock);
    return fits;
}

/* Record that is not submitted yet. A thread has one at a time. */
static __thread struct {
    uint32_t ring, length;
    uint64_t words[8192];
} shm_record;

/* Returns memory for a record of a ring buffer; NULL if there is no room. */
static inline void *shm_reserve(uint8_t *base, uint64_t directory, uint32_t ring, uint64_t length) {
    if (length > sizeof shm_record.words || !shm_fits(base, directory, ring, (uint32_t)length))
        return NULL;
    shm_record.ring = ring;
    shm_record.length = (uint32_t)length;
    return shm_record.words;
}

static inline int shm_submit(uint8_t *base, uint64_t directory) {
    return shm_add(base, directory, shm_record.ring, shm_record.words, shm_record.length);
}

#endif
