// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// List of names for hand-written programs: buckets of eight slots and records with the names in wire form. A rest of a name
// begins at each label, and its hash is that of its labels from the last one on. BUCKETS and RECORDS are macros in front.
#pragma once

#include "../xdp/packet.h"

enum { MASK = 511, SLOTS = 8, FRONT = 24 };

// The number of a record in the lower half, or 0, and half of a hash.
struct bucket {
	__u64 slot[SLOTS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct bucket);
	__uint(max_entries, BUCKETS);
} buckets SEC(".maps");

// A name's first bytes; others are in the records behind it, filled with zeros.
struct record {
	__u32 blocks;
	__u32 length;
	__u64 name[FRONT / 8];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct record);
	__uint(max_entries, RECORDS);
} records SEC(".maps");

struct query {
	__u8 name[MASK + 1 + 64];
	__u8 start[128];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, struct query);
	__uint(max_entries, 1);
} queries SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, 1);
} dropped SEC(".maps");

#define may_goto(label) asm volatile goto("may_goto %l[" #label "]" : : : : label)
// The verifier forgets a number's bounds, which would be others in each iteration.
#define forget(number) asm volatile("%0 = be32 %0; %0 = be32 %0" : "+r"(number))

volatile const __u64 seed = 0x5851f42d4c957f2d;

static __always_inline __u64 mixed(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 32;
}

static __always_inline __u64 lower(__u64 word)
{
	__u64 ones = 0x0101010101010101, low = word & 0x7f * ones;

	return word | (~word & 0x80 * ones & ((low + 63 * ones) ^ (low + 37 * ones))) >> 2;
}

// Whether a record has the name from `from` on, which has `bytes` bytes.
__attribute__((noinline)) __u32 same(struct query *query, __u32 from, __u32 bytes, __u32 number)
{
	struct record *record = bpf_map_lookup_elem(&records, &number);
	__u64 *name, *more;
	__u32 at;

	if (!query || !record || record->length != bytes)
		return 0;
	name = (void *)(query->name + (from & MASK));
	if (record->name[0] != name[0] || record->name[1] != name[1] || record->name[2] != name[2])
		return 0;
	bytes += from;
	for (at = from + FRONT; at < bytes; at += 32) {
		number++;
		more = bpf_map_lookup_elem(&records, &number);
		name = (void *)(query->name + (at & MASK));
		if (!more || more[0] != name[0] || more[1] != name[1] || more[2] != name[2] || more[3] != name[3])
			return 0;
		forget(at);
		may_goto(give_up);
	}
	return record->blocks;
give_up:
	return 0;
}

// Whether the rest of a name is on the list.
__attribute__((noinline)) __u32 listed(struct query *query, __u32 from, __u32 bytes, __u64 hash)
{
	__u32 tag = hash >> 32, number = (__u64)(__u32)hash * BUCKETS >> 32;
	struct bucket *bucket;

	for (;;) {
		bucket = bpf_map_lookup_elem(&buckets, &number);
		if (!bucket)
			return 0;
#pragma unroll
		for (int at = 0; at < SLOTS; at++) {
			__u64 slot = bucket->slot[at];

			if (!slot)
				return 0;
			if (slot >> 32 == tag && same(query, from, bytes, slot))
				return 1;
		}
		number++;
		if (number == BUCKETS)
			number = 0;
		may_goto(give_up);
	}
give_up:
	return 0;
}

// Makes letters small.
static __always_inline int fold(struct query *query, __u32 bytes)
{
	__u32 left;

	for (left = bytes;;) {
		__u64 *words = (void *)(query->name + ((left - 1) & (MASK & ~7u)));

		*words = lower(*words);
		if (left <= 8)
			return 1;
		left -= 8;
		forget(left);
		may_goto(give_up);
	}
give_up:
	return 0;
}

// Whether a name or a name above it is on the list. It ends before `end`, and its `count` labels begin at `start`, each
// behind a byte for its length.
__attribute__((noinline)) __u32 look_up(struct query *query, __u32 end, __u32 count)
{
	__u32 left, from, size, next = end, found = 0;
	__u64 hash = seed, word;

	if (!query)
		return 0;
#pragma unroll
	for (int i = 0; i < 40; i += 8)
		*(__u64 *)(query->name + (end & MASK) + i) = 0;
	while (count) {
		count--;
		from = query->start[count & 127];
		left = next - from;
		next = from;
		query->name[from & MASK] = left - 1;
		for (size = from;;) {
			word = *(__u64 *)(query->name + (size & MASK));
			if (left < 8)
				word &= (1ull << (8 * left & 63)) - 1;
			hash = mixed(hash, word);
			if (left <= 8)
				break;
			left -= 8;
			size += 8;
			forget(left);
			forget(size);
			may_goto(give_up);
		}
		found |= listed(query, from, end - from, hash);
		forget(count);
		forget(next);
		may_goto(give_up);
	}
	return found;
give_up:
	return 0;
}

// Looks up a name in wire form.
__attribute__((noinline)) __u32 wire_is_blocked(struct query *query, __u32 bytes)
{
	__u32 at, count = 0, size;

	if (!query || !fold(query, bytes))
		return 0;
	for (at = 0;;) {
		size = query->name[at & MASK];
		if (!size)
			break;
		if (size > 63 || count >= 127)
			return 0;
		query->start[count & 127] = at;
		count++;
		at += size + 1;
		if (at >= bytes || at > 254)
			return 0;
		forget(at);
		forget(count);
		may_goto(give_up);
	}
	return look_up(query, at, count);
give_up:
	return 0;
}

// Marks in each byte of a word that is `byte`, and perhaps in those above the first one.
static __always_inline __u64 equal(__u64 word, __u64 byte)
{
	__u64 ones = 0x0101010101010101;

	word ^= byte * ones;
	return (word - ones) & ~word & 0x80 * ones;
}

// Returns the index of the first byte that is marked.
static __always_inline __u32 first(__u64 marks)
{
	__u64 below = ((marks & -marks) - 1) >> 7 & 0x0101010101010101;

	return below * 0x0101010101010101 >> 56;
}

// Returns the number of bytes before the next dot, or before a byte that is of no name, but no more than 64.
__attribute__((noinline)) __u32 label_bytes(struct query *query, __u32 from)
{
	__u64 ones = 0x0101010101010101;

	if (!query)
		return 64;
#pragma unroll
	for (__u32 at = 0; at < 64; at += 8) {
		__u64 word = *(__u64 *)(query->name + ((from + at) & MASK));
		__u64 marks = equal(word, '.') | equal(word, ':') | ((word - 0x21 * ones) & ~word & 0x80 * ones);

		if (marks)
			return at + first(marks);
	}
	return 64;
}

// Looks up a name in text, which begins at the second byte, up to a byte that is of no name.
__attribute__((noinline)) __u32 text_is_blocked(struct query *query, __u32 bytes)
{
	__u32 at, count = 0, size;

	if (!query || bytes > 256 || !fold(query, bytes + 1))
		return 0;
	query->name[(bytes + 1) & MASK] = 0;
	for (at = 0;;) {
		size = label_bytes(query, at + 1);
		// A final dot is no label.
		if (!size)
			break;
		if (size > 63 || count >= 127)
			return 0;
		query->start[count & 127] = at;
		count++;
		at += size + 1;
		if (at > 254)
			return 0;
		if (query->name[at & MASK] != '.')
			break;
		forget(at);
		forget(count);
		may_goto(give_up);
	}
	return look_up(query, at, count);
give_up:
	return 0;
}
