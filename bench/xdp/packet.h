// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// What the hand-written programs share: the headers that they touch, in network byte order as they lie in the
// packet, and the arithmetic of Internet checksums.
#pragma once

#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

// A MAC address is read and written as four bytes and two. Packets lie as the driver put them, so that these
// are no more aligned than the addresses; machines that run XDP take them so.
struct mac {
	__be32 high;
	__be16 low;
};

enum { DST = 0, SRC = 6, TYPE = 12, ETHERNET_BYTES = 14 };

static __always_inline struct mac mac_at(void *at)
{
	return (struct mac){ *(__be32 *)at, *(__be16 *)(at + 4) };
}

static __always_inline void put_mac(void *at, struct mac mac)
{
	*(__be32 *)at = mac.high;
	*(__be16 *)(at + 4) = mac.low;
}

static __always_inline __be16 type_of(void *frame)
{
	return *(__be16 *)(frame + TYPE);
}

struct ipv4 {
	__u8 version_ihl;
	__u8 dscp_ecn;
	__be16 total_len;
	__be16 id;
	__be16 fragment;
	__u8 ttl;
	__u8 protocol;
	__sum16 checksum;
	__be32 src;
	__be32 dst;
};

struct ports {
	__be16 src;
	__be16 dst;
};

#define TYPE_IPV4 bpf_htons(0x0800)

// The change of a word that a checksum covers, as what checksum_after adds (RFC 1624, equation 3). Changes add up.
// Byte order does not matter to it, as long as all of them have the same.
static __always_inline __u32 change32(__be32 old, __be32 new)
{
	__u64 sum = (__u64)(__u32)~old + new;

	return (sum & 0xffff) + ((sum >> 16) & 0xffff) + (sum >> 32);
}

static __always_inline __u32 change16(__be16 old, __be16 new)
{
	return (__u32)(__u16)~old + new;
}

static __always_inline __sum16 checksum_after(__sum16 checksum, __u32 change)
{
	__u32 sum = (__u16)~checksum + change;

	sum = (sum & 0xffff) + (sum >> 16);
	return (__sum16)~(sum + (sum >> 16));
}
