// SPDX-License-Identifier: Apache-2.0
//
// What the two programs of the measurement share: headers, the state of a flow, and the arithmetic of the
// Performance and Diagnostic Metrics option (RFC 8250).

#ifndef _PDM_P4_
#define _PDM_P4_

#include <core.p4>
#include <tc_model.p4>
#include <flow_state.p4>

const bit<16> TYPE_CUSTOMER_VLAN = 0x8100;
const bit<16> TYPE_SERVICE_VLAN = 0x88a8;
const bit<16> TYPE_IPV6 = 0x86dd;

const bit<8> NEXT_HOP_BY_HOP = 0;
const bit<8> NEXT_TCP = 6;
const bit<8> NEXT_UDP = 17;
const bit<8> NEXT_ROUTING = 43;
const bit<8> NEXT_FRAGMENT = 44;
const bit<8> NEXT_ESP = 50;
const bit<8> NEXT_AUTHENTICATION = 51;
const bit<8> NEXT_ICMPV6 = 58;
const bit<8> NEXT_DESTINATION = 60;

const bit<8> OPTION_PAD1 = 0;
const bit<8> OPTION_PADN = 1;
const bit<8> OPTION_PDM = 0x0f;
const bit<8> PDM_LENGTH = 10;

// What one option adds to a packet, with the header around it or the padding behind it.
const bit<16> GROWTH = 16;

// Every link carries this much (RFC 8200, 5), and no path is narrower (RFC 8201, 4).
const bit<32> LEAST_MTU = 1280;

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header vlan_t {
    bit<16> tci;
    bit<16> type;
}

header ipv6_t {
    bit<32>  version_class_label;
    bit<16>  payload_length;
    bit<8>   next;
    bit<8>   hop_limit;
    bit<128> src;
    bit<128> dst;
}

// Hop-by-Hop Options, Routing, Fragment, and Destination Options in front of a Routing header.
header extension_t {
    bit<8>       next;
    bit<8>       length;   // in units of 8 bytes behind the first 8
    varbit<2032> rest;
}

// A whole Destination Options header with nothing but PDM: what egress makes.
header pdm_t {
    bit<8>  next;
    bit<8>  length;
    bit<8>  type;
    bit<8>  option_length;
    bit<8>  scale_dtlr;
    bit<8>  scale_dtls;
    bit<16> psntp;
    bit<16> psnlr;
    bit<16> dtlr;
    bit<16> dtls;
    bit<16> padding;
}

// How a Destination Options header with more in it begins; its options follow as headers of their own.
header destination_t {
    bit<8> next;
    bit<8> length;
}

// An option; `rest` is its length and data. Pad1 has neither.
header option_t {
    bit<8>       type;
    varbit<2040> rest;
}

// PDM among other options.
header pdm_option_t {
    bit<8>  type;
    bit<8>  option_length;
    bit<8>  scale_dtlr;
    bit<8>  scale_dtls;
    bit<16> psntp;
    bit<16> psnlr;
    bit<16> dtlr;
    bit<16> dtls;
}

header padding4_t {
    bit<32> padding;
}

header options_rest_t {
    varbit<2032> bytes;
}

// The beginning of TCP and of UDP.
header ports_t {
    bit<16> src;
    bit<16> dst;
}

// TCP behind the ports.
header tcp_t {
    bit<32> seq;
    bit<32> ack;
    bit<4>  data_offset;
    bit<4>  reserved;
    bit<8>  flags;
    bit<16> window;
    bit<16> checksum;
    bit<16> urgent;
}

const bit<8> TCP_SYN = 0x02;

// A TCP option in front of the maximum segment size.
header tcp_option_t {
    bit<8>      kind;
    varbit<304> rest;
}

header mss_t {
    bit<8>  kind;
    bit<8>  length;
    bit<16> value;
}

header icmpv6_t {
    bit<8>  type;
    bit<8>  code;
    bit<16> checksum;
    bit<32> body;   // Packet Too Big: the next link's MTU
}

// A measured flow, as this host sees it: the 5-tuple of RFC 8250, 3.2, the same for both directions.
struct flow_key_t {
    bit<128> local;
    bit<128> remote;
    bit<16>  local_port;    // 0 where the protocol has no ports
    bit<16>  remote_port;
    bit<8>   protocol;
}

// Times are nanoseconds of the monotonic clock, 0 before there was one; delays are nanoseconds.
struct flow_t {
    // What the option is made of.
    bit<64> time_sent;        // of the last packet sent with the option
    bit<64> time_received;    // of the last packet received with the option
    bit<64> last_sent_delta;  // receive time of that packet less send time of the one sent before it
    bit<16> psn_next;         // the number of the next packet to send
    bit<16> psn_received;     // of the last packet received

    // What came in, by sequence numbers: lost = expected - (received - duplicates).
    bit<16> psn_highest;      // the foremost number received
    bit<64> window;           // which of the 64 numbers up to it were received; bit 0 is the foremost
    bit<64> expected;         // numbers from the first one received to the foremost
    bit<64> received;         // packets with the option
    bit<64> sent;             // packets with the option
    bit<32> reordered;        // came behind a later one
    bit<32> duplicates;       // came again

    // Samples: packets whose PSNLR is the number sent last, so that both ends mean the same exchange.
    bit<64> first_seen;
    bit<64> samples;
    bit<64> round_trip_last;  // from sending a packet to receiving the answer to it
    bit<64> round_trip_min;
    bit<64> round_trip_max;
    bit<64> round_trip_sum;
    bit<64> server_last;      // how much of it the other host took: its DTLR
    bit<64> server_min;
    bit<64> server_max;
    bit<64> server_sum;
    bit<64> network_last;     // the rest
    bit<64> network_min;
    bit<64> network_max;
    bit<64> network_sum;
}

// Where a Packet Too Big came from the way to.
struct path_key_t {
    bit<128> remote;
}

struct path_t {
    bit<32> mtu;
}

// A flow that was silent for ten minutes is gone, and so is what was learnt of a path (RFC 8201, 4). Egress and
// ingress of an interface share both.
const bit<64> TEN_MINUTES = 600000000000;
flow_state<flow_key_t, flow_t>(65536, TEN_MINUTES) flows;
flow_state<path_key_t, path_t>(1024, TEN_MINUTES) paths;

// A time difference as the option has it: the 16 most significant bits of its attoseconds, and by how many bits
// they were shifted (RFC 8250, 4.3).
struct scaled_t {
    bit<16> value;
    bit<8>  scale;
}

// Exact, that is cut off behind the 16th bit, below 2^34 ns (17 s). Above, the nanoseconds lose bits first so that
// the product has room: less than one unit of the last place.
scaled_t to_scaled(in bit<64> nanoseconds) {
    bit<64> left = nanoseconds;
    bit<8> scale = 0;
    if (left >= 1 << 49) { left = left >> 15; scale = 15; }
    if (left >= 1 << 34) { left = left >> 15; scale = scale + 15; }
    left = left * 1000000000;
    if (left >= 1 << 48) { left = left >> 32; scale = scale + 32; }
    if (left >= 1 << 32) { left = left >> 16; scale = scale + 16; }
    if (left >= 1 << 24) { left = left >> 8; scale = scale + 8; }
    if (left >= 1 << 20) { left = left >> 4; scale = scale + 4; }
    if (left >= 1 << 18) { left = left >> 2; scale = scale + 2; }
    if (left >= 1 << 17) { left = left >> 1; scale = scale + 1; }
    if (left >= 1 << 16) { left = left >> 1; scale = scale + 1; }
    return { (bit<16>)left, scale };
}

// The nearest nanosecond. An attosecond is 2^-30 * (2^30 / 10^9) ns, and the factor in brackets is
// 4611686018 / 2^32. What does not fit (above 500 years) is the largest number.
bit<64> to_nanoseconds(in scaled_t delay) {
    bit<64> product = (bit<64>)delay.value * 4611686018;
    if (delay.scale <= 61) {
        return ((product >> (61 - delay.scale)) + 1) >> 1;
    }
    if (delay.scale <= 76) {
        return product << (delay.scale - 62);
    }
    return delay.value == 0 ? 64w0 : 64w0xffffffffffffffff;
}

// The bucket of a delay, four to the octave. Bucket b begins at b ns below 8, then at (4 + b % 4) << (b / 4 - 1) ns;
// the last one, 159, takes everything from 32 minutes on.
const bit<32> BUCKETS = 160;

bit<32> bucket(in bit<64> nanoseconds) {
    bit<64> left = nanoseconds;
    bit<32> base = 0;
    if (left >= 7 << 38) { return BUCKETS - 1; }
    if (left >= 1 << 34) { left = left >> 32; base = 128; }
    if (left >= 1 << 18) { left = left >> 16; base = base + 64; }
    if (left >= 1 << 10) { left = left >> 8; base = base + 32; }
    if (left >= 1 << 6) { left = left >> 4; base = base + 16; }
    if (left >= 1 << 4) { left = left >> 2; base = base + 8; }
    if (left >= 1 << 3) { left = left >> 1; base = base + 4; }
    return base + (bit<32>)left;
}

#endif
