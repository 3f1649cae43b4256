// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// Exact look-ups of random keys: in the kernel's hash map, or in a table of our own in an array map. Defined in front of this file: KEY, the
// bytes of a key (4, 8 or 16); ENTRIES; CAPACITY of the kernel's map;
// BUCKETS, a power of two; and LOOK_UP: 0 makes the key only, 1 asks the kernel's map, 2 the table.
//
// The table: each key has two buckets by its hash, of four places each. It is in the first one, or, if that was full when it came, in the
// second; `overflowed` says of a bucket whether any of its keys is elsewhere, so that most misses read one bucket. How it is written while
// packets read it (the measurement only fills it):
//   - A place is filled while its bit of `used` is not set; setting it, by one store, makes the entry visible, all of it or nothing.
//   - One store of `used` removes an entry, and one that sets a bit and clears another replaces it in its bucket; across buckets the new entry
//     comes first, and either is right until the old one is removed.
//   - `overflowed` is set before an entry comes to a second bucket, and never cleared while one is there.
//   - Where both buckets of a key are full, an entry of the first one moves to its other bucket: it is copied, and removed after a grace
//     period, for packets that read the buckets in the other order.
//   - A place is filled anew only after a grace period (RCU), for packets that read `used` before. Only one writer, under the program's lock.
//   - `used` is read before the keys: on processors that reorder loads the address of a place has to be made of the bit, so that it depends on it.
#include "../xdp/packet.h"

enum { PLACES = 4 };

struct key {
	__u32 words[KEY / 4];
};

struct bucket {
	__u32 used;
	__u32 overflowed;
	struct key keys[PLACES];
	__u64 values[PLACES];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct key);
	__type(value, __u64);
	__uint(max_entries, CAPACITY);
} entries SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct bucket);
	__uint(max_entries, BUCKETS);
} buckets SEC(".maps");

// The state of the generator of numbers.
__u32 state = 12345;

static __always_inline __u32 mixed(__u32 x)
{
	x ^= x >> 16;
	x *= 0x7feb352d;
	x ^= x >> 15;
	x *= 0x846ca68b;
	return x ^ x >> 16;
}

// The key of a number; no two numbers have the same.
static __always_inline struct key key_of(__u32 number)
{
	struct key key;

	for (int i = 0; i < KEY / 4; i++)
		key.words[i] = mixed(number + i * 0x9e3779b9);
	return key;
}

static __always_inline __u64 hash_of(const struct key *key)
{
	__u64 hash = 0x9e3779b97f4a7c15;

	for (int i = 0; i < KEY / 4; i += 2) {
		__u64 word = key->words[i];

		if (i + 1 < KEY / 4)
			word |= (__u64)key->words[i + 1] << 32;
		hash = (hash ^ word) * 0xff51afd7ed558ccd;
		hash ^= hash >> 32;
	}
	return hash;
}

static __always_inline int same(const struct key *a, const struct key *b)
{
	__u32 difference = 0;

	for (int i = 0; i < KEY / 4; i++)
		difference |= a->words[i] ^ b->words[i];
	return !difference;
}

static __always_inline __u64 *in_bucket(struct bucket *bucket, __u32 used, const struct key *key)
{
	for (int i = 0; i < PLACES; i++)
		if (used >> i & 1 && same(&bucket->keys[i], key))
			return &bucket->values[i];
	return 0;
}

static __always_inline __u64 *in_table(const struct key *key)
{
	__u64 hash = hash_of(key);
	__u32 first = hash & (BUCKETS - 1), second = hash >> 32 & (BUCKETS - 1);
	struct bucket *bucket = bpf_map_lookup_elem(&buckets, &first);
	__u64 *found;

	if (!bucket)
		return 0;
	found = in_bucket(bucket, *(volatile __u32 *)&bucket->used, key);
	if (found || !bucket->overflowed)
		return found;
	bucket = bpf_map_lookup_elem(&buckets, &second);
	return bucket ? in_bucket(bucket, *(volatile __u32 *)&bucket->used, key) : 0;
}

// The packet's first four bytes are added to the number of the entry: 0 hits, and more than there are entries misses.
SEC("xdp")
int exact(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	__u64 *found = 0;
	struct key key;
	__u32 number;

	if (data + 4 > end)
		return XDP_ABORTED;
	state = state * 1664525 + 1013904223;
	number = ((__u64)mixed(state) * ENTRIES >> 32) + *(__u32 *)data;
	key = key_of(number);
	if (LOOK_UP == 1)
		found = bpf_map_lookup_elem(&entries, &key);
	else if (LOOK_UP == 2)
		found = in_table(&key);
	else
		return key.words[0] == 1 ? XDP_DROP : XDP_PASS;
	if (!found)
		return XDP_DROP;
	return *found == number ? XDP_PASS : XDP_ABORTED;
}

char _license[] SEC("license") = "GPL";
