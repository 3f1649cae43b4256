// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// Hand-written counterpart of reading QUIC in programs/url_firewall, over IPv4 and for version 1: drops Initials whose ClientHello
// has a name on a list. It reads a ClientHello that is whole in its packet, in any order, and holds nothing of a connection.
#include "../names/names.h"
#include "quic_constants.h"

enum {
	PROTOCOL_UDP = 17,
	PORT_QUIC = 443,
	UDP_BYTES = 8,
	DATAGRAM = 2048,
	SLACK = 64,
	TAG = 16,
};

struct udp {
	__be16 src;
	__be16 dst;
	__be16 length;
	__sum16 checksum;
};

struct quic {
	__u8 packet[DATAGRAM + SLACK];
	__u8 hello[DATAGRAM + SLACK];
	// A block that is hashed, the hash, and the hashes of an HMAC's pads.
	__u32 words[16];
	__u32 hash[8];
	__u32 inner[8];
	__u32 outer[8];
	__u32 keys[2][44];
	__u32 iv[3];
	__u32 block[4];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, struct quic);
	__uint(max_entries, 1);
} quics SEC(".maps");

// A word twice: to shift it is to turn it.
#define TWICE(x) ((__u64)(x) << 32 | (x))
#define TURNED(x, a, b, c) ({ __u64 t_ = TWICE(x); (__u32)(t_ >> (a) ^ t_ >> (b) ^ t_ >> (c)); })
#define MIXED(x, a, b, c) ({ __u64 t_ = TWICE(x); (__u32)(t_ >> (a) ^ t_ >> (b)) ^ (x) >> (c); })
// Words are loaded when they are used.
#define ROUND(a, b, c, d, e, f, g, h, i)                                                     \
	h += TURNED(e, 6, 11, 25) + (g ^ (e & (f ^ g))) + k[i] + w[i];                       \
	d += h;                                                                              \
	h += TURNED(a, 2, 13, 22) + ((a & b) | (c & (a | b)));                               \
	asm volatile("" ::: "memory");
#define EIGHT(i)                            \
	ROUND(a, b, c, d, e, f, g, h, i)     \
	ROUND(h, a, b, c, d, e, f, g, i + 1) \
	ROUND(g, h, a, b, c, d, e, f, i + 2) \
	ROUND(f, g, h, a, b, c, d, e, i + 3) \
	ROUND(e, f, g, h, a, b, c, d, i + 4) \
	ROUND(d, e, f, g, h, a, b, c, i + 5) \
	ROUND(c, d, e, f, g, h, a, b, i + 6) \
	ROUND(b, c, d, e, f, g, h, a, i + 7)

// Hashes a block.
__attribute__((noinline)) int sha(struct quic *q)
{
	__u32 a, b, c, d, e, f, g, h, *w;

	if (!q)
		return 0;
	w = q->words;
	a = q->hash[0], b = q->hash[1], c = q->hash[2], d = q->hash[3];
	e = q->hash[4], f = q->hash[5], g = q->hash[6], h = q->hash[7];
#pragma clang loop unroll(disable)
	for (__u32 round = 0; round < 64; round += 16) {
		const __u32 *k = sha_rounds + round;

		if (round) {
#pragma unroll
			for (int i = 0; i < 16; i++) {
				w[i] += MIXED(w[(i + 1) & 15], 7, 18, 3) + w[(i + 9) & 15] + MIXED(w[(i + 14) & 15], 17, 19, 10);
				asm volatile("" ::: "memory");
			}
		}
		EIGHT(0)
		EIGHT(8)
	}
	q->hash[0] += a, q->hash[1] += b, q->hash[2] += c, q->hash[3] += d;
	q->hash[4] += e, q->hash[5] += f, q->hash[6] += g, q->hash[7] += h;
	return 0;
}

static __always_inline void copy_words(__u32 *to, const __u32 *from, int count)
{
	for (int i = 0; i < count; i++)
		to[i] = from[i];
}

// Hashes an HMAC's pads, for the key in the hash.
__attribute__((noinline)) int pads(struct quic *q)
{
	if (!q)
		return 0;
	for (int i = 0; i < 8; i++) {
		q->words[i] = q->hash[i] ^ 0x36363636;
		q->words[i + 8] = 0x36363636;
		q->outer[i] = q->hash[i];
	}
	copy_words(q->hash, sha_start, 8);
	sha(q);
	copy_words(q->inner, q->hash, 8);
	for (int i = 0; i < 8; i++) {
		q->words[i] = q->outer[i] ^ 0x5c5c5c5c;
		q->words[i + 8] = 0x5c5c5c5c;
	}
	copy_words(q->hash, sha_start, 8);
	sha(q);
	copy_words(q->outer, q->hash, 8);
	return 0;
}

// Ends an HMAC, of whose text the last block is in `words`.
__attribute__((noinline)) int hmac(struct quic *q)
{
	if (!q)
		return 0;
	copy_words(q->hash, q->inner, 8);
	sha(q);
	copy_words(q->words, q->hash, 8);
	q->words[8] = 0x80000000;
	for (int i = 9; i < 15; i++)
		q->words[i] = 0;
	q->words[15] = 96 * 8;
	copy_words(q->hash, q->outer, 8);
	sha(q);
	return 0;
}

#define AES(table, word, shift) (*(__u32 *)((__u8 *)&aes_table[(word) >> (shift) & 0xff] + (table)))
#define AES_ROUND(a, b, c, d) (AES(0, a, 24) ^ AES(1, b, 16) ^ AES(2, c, 8) ^ AES(3, d, 0))
#define AES_LAST(a, b, c, d)                                            \
	((AES(2, a, 24) & 0xff000000) | (AES(3, b, 16) & 0x00ff0000) |   \
	 (AES(0, c, 8) & 0x0000ff00) | (AES(1, d, 0) & 0x000000ff))

// Expands the key in the hash.
__attribute__((noinline)) int expand(struct quic *q, __u32 which)
{
	__u32 a, b, c, d, round = 1, *key;

	if (!q)
		return 0;
	key = q->keys[which & 1];
	key[0] = a = q->hash[0], key[1] = b = q->hash[1], key[2] = c = q->hash[2], key[3] = d = q->hash[3];
#pragma unroll
	for (int i = 4; i < 44; i += 4) {
		a ^= AES_LAST(d << 8, d << 8, d << 8, d >> 24) ^ round << 24;
		b ^= a;
		c ^= b;
		d ^= c;
		key[i] = a, key[i + 1] = b, key[i + 2] = c, key[i + 3] = d;
		round = round << 1 ^ (round >> 7) * 0x11b;
	}
	return 0;
}

// Encrypts the block.
__attribute__((noinline)) int encrypt(struct quic *q, __u32 which)
{
	__u32 a, b, c, d, *key;

	if (!q)
		return 0;
	key = q->keys[which & 1];
	a = q->block[0] ^ key[0], b = q->block[1] ^ key[1], c = q->block[2] ^ key[2], d = q->block[3] ^ key[3];
#pragma unroll
	for (int i = 4; i < 40; i += 4) {
		__u32 p = AES_ROUND(a, b, c, d) ^ key[i], r = AES_ROUND(b, c, d, a) ^ key[i + 1];
		__u32 s = AES_ROUND(c, d, a, b) ^ key[i + 2], t = AES_ROUND(d, a, b, c) ^ key[i + 3];

		a = p, b = r, c = s, d = t;
	}
	q->block[0] = AES_LAST(a, b, c, d) ^ key[40];
	q->block[1] = AES_LAST(b, c, d, a) ^ key[41];
	q->block[2] = AES_LAST(c, d, a, b) ^ key[42];
	q->block[3] = AES_LAST(d, a, b, c) ^ key[43];
	return 0;
}

#define BYTES(q, at) ((q)->packet + ((at) & (DATAGRAM - 1)))
#define BE64(q, at) __builtin_bswap64(*(__u64 *)BYTES(q, at))
#define BE32(q, at) __builtin_bswap32(*(__u32 *)BYTES(q, at))

// Makes the keys for a connection id of `bytes` bytes at an offset.
__attribute__((noinline)) int derive(struct quic *q, __u32 at, __u32 bytes)
{
	__u8 *to;

	if (!q || bytes > 20)
		return 0;
	copy_words(q->inner, salt_inner, 8);
	copy_words(q->outer, salt_outer, 8);
	// The id, a bit that ends it, and zeros.
	to = q->hello;
	for (int i = 0; i < 24; i += 8)
		*(__u64 *)(to + i) = *(__u64 *)BYTES(q, at + i);
	for (int i = 0; i < 24; i += 8)
		*(__u64 *)(to + (bytes & 31) + i) = 0;
	to[bytes & 31] = 0x80;
	for (int i = 0; i < 16; i++)
		q->words[i] = i < 6 ? __builtin_bswap32(*(__u32 *)(to + 4 * i)) : 0;
	q->words[15] = (64 + bytes) * 8;
	hmac(q);
	pads(q);
	copy_words(q->words, labels[0], 16);
	hmac(q);
	pads(q);
	copy_words(q->words, labels[1], 16);
	hmac(q);
	expand(q, 0);
	copy_words(q->words, labels[2], 16);
	hmac(q);
	copy_words(q->iv, q->hash, 3);
	copy_words(q->words, labels[3], 16);
	hmac(q);
	expand(q, 1);
	return 0;
}

// Takes the protection away from the header, whose number is at an offset, and returns the bytes of the number.
__attribute__((noinline)) __u32 unprotect(struct quic *q, __u32 at)
{
	__u32 bytes, number;

	if (!q)
		return 0;
	for (__u32 i = 0; i < 4; i++)
		q->block[i] = BE32(q, at + 4 + 4 * i);
	encrypt(q, 1);
	bytes = ((q->packet[0] ^ q->block[0] >> 24) & 3) + 1;
	number = (BE32(q, at) ^ (q->block[0] << 8 | q->block[1] >> 24)) >> (32 - 8 * bytes);
	q->iv[2] ^= number;
	return bytes;
}

// Decrypts the bytes between two offsets, and up to 15 behind them.
__attribute__((noinline)) int decrypt(struct quic *q, __u32 at, __u32 end)
{
	__u32 counter = 2;

	if (!q)
		return 0;
	for (; at < end; at += 16) {
		__u64 *bytes = (__u64 *)BYTES(q, at);

		q->block[0] = q->iv[0], q->block[1] = q->iv[1], q->block[2] = q->iv[2], q->block[3] = counter;
		encrypt(q, 0);
		bytes[0] ^= __builtin_bswap64((__u64)q->block[0] << 32 | q->block[1]);
		bytes[1] ^= __builtin_bswap64((__u64)q->block[2] << 32 | q->block[3]);
		counter++;
		forget(at);
		forget(counter);
		may_goto(give_up);
	}
give_up:
	return 0;
}

#define NUMBER(word, at)                                          \
	({                                                        \
		__u64 word_ = (word);                             \
		at += 1u << (word_ >> 62);                        \
		word_ << 2 >> 2 >> (64 - (8u << (word_ >> 62)));  \
	})

// Copies `length` bytes of the datagram to their place in the ClientHello. Words are copied, and the rest of the last one stays.
__attribute__((noinline)) int put(struct quic *q, __u32 offset, __u32 from, __u32 length)
{
	__u64 *to, keep;

	if (!q)
		return 0;
	for (;;) {
		to = (__u64 *)(q->hello + (offset & (DATAGRAM - 1)));
		if (length <= 8)
			break;
		*to = *(__u64 *)BYTES(q, from);
		length -= 8;
		offset += 8;
		from += 8;
		forget(length);
		forget(offset);
		forget(from);
		may_goto(give_up);
	}
	keep = length & 7 ? ~0ull << (8 * length & 63) : length ? 0 : ~0ull;
	*to = (*to & keep) | (*(__u64 *)BYTES(q, from) & ~keep);
give_up:
	return 0;
}

// Puts the CRYPTO frames between two offsets to their places, and returns the number of the bytes without a gap: the frames
// may be in any order, but they do not overlap.
__attribute__((noinline)) __u32 frames(struct quic *q, __u32 at, __u32 end)
{
	__u32 all = 0;

	if (!q)
		return 0;
	while (at < end) {
		__u64 word = BE64(q, at), offset, length;

		if (!word) {
			at += 8;
		} else if (word >> 56 < 2) {
			at++;
		} else if (word >> 56 == 6) {
			at++;
			offset = NUMBER(BE64(q, at), at);
			length = NUMBER(BE64(q, at), at);
			if (at > end || length > end - at || offset > DATAGRAM || length > DATAGRAM - offset)
				return 0;
			put(q, offset, at, length);
			at += length;
			all += length;
		} else {
			return 0;
		}
		forget(at);
		forget(all);
		may_goto(give_up);
	}
	return all;
give_up:
	return 0;
}

// Returns the offset of a ClientHello's server name in the lower half, and its length in the upper one, or 0.
__attribute__((noinline)) __u64 server_name(struct quic *q, __u32 bytes)
{
	__u32 at = 38, length;
	__u8 *hello;

	if (!q || q->hello[0] != 1)
		return 0;
	hello = q->hello;
#define BYTE(at) hello[(at) & (DATAGRAM - 1)]
#define WORD(at) (BYTE(at) << 8 | hello[((at) & (DATAGRAM - 1)) + 1])
	at += 1 + BYTE(at);
	at += 2 + WORD(at);
	at += 1 + BYTE(at) + 2;
	forget(at);
	while (at + 9 <= bytes) {
		length = WORD(at + 2);
		if (!WORD(at)) {
			length = WORD(at + 7);
			return at + 9 + length <= bytes ? (__u64)length << 32 | (at + 9) : 0;
		}
		at += 4 + length;
		forget(at);
		may_goto(give_up);
	}
give_up:
	return 0;
}

SEC("xdp.frags")
int quic(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	struct ipv4 *ip = data + ETHERNET_BYTES;
	__u32 zero = 0, header, at, bytes, id, length, number;
	struct query *query;
	struct udp *udp;
	struct quic *q;
	__u64 *count, name;

	if ((void *)(ip + 1) > end || type_of(data) != TYPE_IPV4)
		return XDP_PASS;
	header = (ip->version_ihl & 15) * 4;
	if (header < 20 || ip->fragment & bpf_htons(0x3fff) || ip->protocol != PROTOCOL_UDP)
		return XDP_PASS;
	udp = (void *)ip + header;
	if ((void *)(udp + 1) > end || udp->dst != bpf_htons(PORT_QUIC))
		return XDP_PASS;
	at = ETHERNET_BYTES + header + UDP_BYTES;
	bytes = bpf_ntohs(udp->length) - UDP_BYTES;
	q = bpf_map_lookup_elem(&quics, &zero);
	query = bpf_map_lookup_elem(&queries, &zero);
	if (!q || !query || bytes - 1 > DATAGRAM - 1)
		return XDP_PASS;
	length = bytes - 1;
	asm volatile("" : "+r"(length));
	length &= DATAGRAM - 1;
	if (bpf_xdp_load_bytes(ctx, at, q->packet, length + 1))
		return XDP_PASS;
	// A long header, of an Initial of version 1.
	if ((q->packet[0] & 0xf0) != 0xc0 || BE32(q, 1) != 1)
		return XDP_PASS;
	id = q->packet[5];
	at = 6 + id;
	if (id > 20)
		return XDP_PASS;
	at += 1 + *BYTES(q, at);
	at += NUMBER(BE64(q, at), at);
	length = NUMBER(BE64(q, at), at);
	if (at > bytes || length > bytes - at || length < 4 + TAG)
		return XDP_PASS;
	derive(q, 6, id);
	number = unprotect(q, at);
	bytes = at + length - TAG;
	at += number;
	decrypt(q, at, bytes);
	bytes = frames(q, at, bytes);
	if (!bytes)
		return XDP_PASS;
	name = server_name(q, bytes);
	bytes = name >> 32;
	if (!name || bytes > 255)
		return XDP_PASS;
	for (__u32 i = 0; i < bytes; i += 8) {
		*(__u64 *)(query->name + 1 + (i & 255)) = *(__u64 *)(q->hello + (((__u32)name + i) & (DATAGRAM - 1)));
		forget(i);
		may_goto(look_up);
	}
look_up:
	query->name[(bytes + 1) & MASK] = 0;
	if (!text_is_blocked(query, bytes))
		return XDP_PASS;
	count = bpf_map_lookup_elem(&dropped, &zero);
	if (count)
		*count += 1;
	return XDP_DROP;
}

char _license[] SEC("license") = "Dual BSD/GPL";
