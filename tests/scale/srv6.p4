// SPDX-License-Identifier: Apache-2.0
//
// A segment routing node (RFC 8754, RFC 8986): it steers packets into policies of up to three segments (H.Encaps), and
// carries out the behaviours End, End.X, End.DT4 and End.DT6 for the identifiers that it owns, the first two with
// the flavour that takes the segment routing header off at the penultimate node (PSP).

#include <core.p4>
#include <xdp_model.p4>
#include "headers.p4h"

header routing_t {
    bit<8>  next_header;
    bit<8>  length;          // in units of 8 bytes, without the first
    bit<8>  type;
    bit<8>  segments_left;
    bit<8>  last_entry;
    bit<8>  flags;
    bit<16> tag;
}

header segment_t {
    bit<128> sid;
}

// What follows the segments: type, length and value one after the other.
header tlvs_t {
    varbit<2048> bytes;
}

struct packet_t {
    bit<16> length;   // of the whole frame, as it came in
}

struct headers_t {
    ethernet_t   eth;
    ipv6_t       outer;
    routing_t    srh;
    segment_t[6] segments;
    tlvs_t       tlvs;
    ipv4_t       ipv4;
    ipv6_t       ipv6;
    packet_t     packet;
}

const bit<8> SEGMENT_ROUTING = 4;

parser prs(packet_in packet, out headers_t hdr) {
    bit<8> left = 0;
    bit<8> tlv_units = 0;

    state start {
        hdr.packet.length = (bit<16>)packet.length();
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            TYPE_IPV4: ipv4;
            TYPE_IPV6: maybe_segments;
            default:   accept;
        }
    }
    // An IPv6 header is an outer one if it carries a routing header or a packet; any other is what a policy would carry.
    state maybe_segments {
        transition select(packet.lookahead<ipv6_t>().next_header) {
            PROTOCOL_ROUTING: routing;
            PROTOCOL_IPV4:    tunnel;
            PROTOCOL_IPV6:    tunnel;
            default:          ipv6;
        }
    }
    state tunnel {
        packet.extract(hdr.outer);
        transition select(hdr.outer.next_header) {
            PROTOCOL_IPV4: ipv4;
            default:       ipv6;
        }
    }
    state routing {
        packet.extract(hdr.outer);
        packet.extract(hdr.srh);
        transition select(hdr.srh.type) {
            SEGMENT_ROUTING: segments;
            default:         accept;
        }
    }
    // The header has to have all segments that it claims, and a segment left has to be one of them.
    state segments {
        verify(hdr.srh.last_entry < 6, error.StackOutOfBounds);
        left = hdr.srh.last_entry + 1;
        verify(hdr.srh.length >= left << 1 && hdr.srh.segments_left <= left, error.HeaderTooShort);
        tlv_units = hdr.srh.length - (left << 1);
        verify(tlv_units <= 32, error.HeaderTooShort);
        transition segment;
    }
    state segment {
        packet.extract(hdr.segments.next);
        left = left - 1;
        transition select(left) {
            0:       tlvs;
            default: segment;
        }
    }
    state tlvs {
        packet.extract(hdr.tlvs, (bit<32>)tlv_units << 6);
        transition select(hdr.srh.next_header) {
            PROTOCOL_IPV4: ipv4;
            PROTOCOL_IPV6: ipv6;
            default:       accept;
        }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition accept;
    }
    state ipv6 {
        packet.extract(hdr.ipv6);
        transition accept;
    }
}

control node(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    const bit<8>  OUTER_HOPS = 64;
    const bit<16> ETHERNET_BYTES = 14;

    // The indices of `packets`.
    const bit<32> ENDED = 0;
    const bit<32> DECAPSULATED = 1;
    const bit<32> ENCAPSULATED = 2;
    const bit<32> ROUTED = 3;
    const bit<32> REFUSED = 4;

    CounterArray(5, false) packets;

    bit<128> own = 0;
    bit<128> destination = 0;
    bool     has_adjacency = false;
    bool     removes_header = false;
    bit<16>  table_id = 0;
    bit<2>   decapsulates = 0;

    action to_host() {
        xout.output_action = xdp_action.XDP_PASS;
    }

    action drop() {
        xout.output_action = xdp_action.XDP_DROP;
        packets.increment(REFUSED);
    }

    action identify(bit<128> source) {
        own = source;
    }

    table identity {
        actions = { identify; }
        default_action = identify(0);
    }

    bool ends = false;

    action end(bool psp) {
        ends = true;
        removes_header = psp;
    }

    action forward(bit<32> port, bit<48> src, bit<48> dst) {
        hdr.eth.src = src;
        hdr.eth.dst = dst;
        xout.output_action = xdp_action.XDP_REDIRECT;
        xout.output_port = port;
    }

    action end_x(bool psp, bit<32> port, bit<48> src, bit<48> dst) {
        ends = true;
        removes_header = psp;
        has_adjacency = true;
        forward(port, src, dst);
    }

    action end_dt4(bit<16> vrf) {
        decapsulates = 1;
        table_id = vrf;
    }

    action end_dt6(bit<16> vrf) {
        decapsulates = 2;
        table_id = vrf;
    }

    // The identifiers of this node.
    table my_sids {
        key = { hdr.outer.dst : exact @name("sid"); }
        actions = { end; end_x; end_dt4; end_dt6; NoAction; }
        default_action = NoAction();
        size = 1024;
    }

    // The next segment becomes the destination.
    action next_segment() {
        hdr.srh.segments_left = hdr.srh.segments_left - 1;
        hdr.outer.hop_limit = hdr.outer.hop_limit - 1;
        hdr.outer.dst = hdr.segments[hdr.srh.segments_left].sid;
        destination = hdr.outer.dst;
        if (removes_header && hdr.srh.segments_left == 0) {
            hdr.outer.next_header = hdr.srh.next_header;
            hdr.outer.payload_len = hdr.outer.payload_len - ((bit<16>)hdr.srh.length << 3) - 8;
            hdr.srh.setInvalid();
            hdr.segments.pop_front(6);
            hdr.tlvs.setInvalid();
        }
        packets.increment(ENDED);
    }

    action decapsulate() {
        hdr.eth.type = decapsulates == 1 ? TYPE_IPV4 : TYPE_IPV6;
        hdr.outer.setInvalid();
        hdr.srh.setInvalid();
        hdr.segments.pop_front(6);
        hdr.tlvs.setInvalid();
        packets.increment(DECAPSULATED);
    }

    table vrf_ipv4 {
        key = {
            table_id     : exact @name("vrf");
            hdr.ipv4.dst : lpm @name("dst");
        }
        actions = { forward; drop; }
        default_action = drop();
        size = 4096;
    }

    table vrf_ipv6 {
        key = {
            table_id     : exact @name("vrf");
            hdr.ipv6.dst : lpm @name("dst");
        }
        actions = { forward; drop; }
        default_action = drop();
        size = 4096;
    }

    // The outer header of a policy, without its segments.
    action outer_header(bit<16> srh_bytes, bit<128> first) {
        bit<8> inner = hdr.ipv4.isValid() ? PROTOCOL_IPV4 : PROTOCOL_IPV6;
        hdr.outer = {
            version = 6,
            dscp = hdr.ipv4.isValid() ? hdr.ipv4.dscp : hdr.ipv6.dscp,
            ecn = hdr.ipv4.isValid() ? hdr.ipv4.ecn : hdr.ipv6.ecn,
            flow_label = hdr.ipv4.isValid() ? (hdr.ipv4.src ^ hdr.ipv4.dst)[19:0] : hdr.ipv6.flow_label,
            payload_len = hdr.packet.length - ETHERNET_BYTES + srh_bytes,
            next_header = srh_bytes == 0 ? inner : PROTOCOL_ROUTING,
            hop_limit = OUTER_HOPS,
            src = own,
            dst = first
        };
        hdr.eth.type = TYPE_IPV6;
        destination = first;
        packets.increment(ENCAPSULATED);
    }

    action routing_header(bit<8> units, bit<8> last) {
        hdr.srh = { hdr.ipv4.isValid() ? PROTOCOL_IPV4 : PROTOCOL_IPV6, units, SEGMENT_ROUTING, last, last, 0, 0 };
    }

    // One segment needs no routing header.
    action encapsulate_1(bit<128> s1) {
        outer_header(0, s1);
    }

    action encapsulate_2(bit<128> s1, bit<128> s2) {
        outer_header(40, s1);
        routing_header(4, 1);
        hdr.segments[0] = { s2 };
        hdr.segments[1] = { s1 };
    }

    action encapsulate_3(bit<128> s1, bit<128> s2, bit<128> s3) {
        outer_header(56, s1);
        routing_header(6, 2);
        hdr.segments[0] = { s3 };
        hdr.segments[1] = { s2 };
        hdr.segments[2] = { s1 };
    }

    table policies_ipv4 {
        key = { hdr.ipv4.dst : lpm @name("dst"); }
        actions = { encapsulate_1; encapsulate_2; encapsulate_3; to_host; }
        default_action = to_host();
        size = 1024;
    }

    table policies_ipv6 {
        key = { hdr.ipv6.dst : lpm @name("dst"); }
        actions = { encapsulate_1; encapsulate_2; encapsulate_3; to_host; }
        default_action = to_host();
        size = 1024;
    }

    table routes {
        key = { destination : lpm @name("dst"); }
        actions = { forward; drop; to_host; }
        default_action = to_host();
        size = 4096;
    }

    apply {
        xout.output_port = 0;
        to_host();
        identity.apply();

        if (hdr.outer.isValid()) {
            if (my_sids.apply().hit) {
                if (ends) {
                    // RFC 8986, section 4.1: without segments left, and at the last hop, it is not for forwarding.
                    if (!hdr.segments[0].isValid() || hdr.srh.segments_left == 0) {
                        to_host();
                        return;
                    }
                    if (hdr.outer.hop_limit <= 1) {
                        drop();
                        return;
                    }
                    next_segment();
                    if (!has_adjacency) {
                        routes.apply();
                    }
                } else {
                    // Section 4.6 and 4.7: the last segment, with a packet of the right kind within.
                    if (hdr.srh.isValid() && hdr.srh.segments_left != 0) {
                        drop();
                    } else if (decapsulates == 1 && hdr.ipv4.isValid()) {
                        decapsulate();
                        vrf_ipv4.apply();
                    } else if (decapsulates == 2 && hdr.ipv6.isValid()) {
                        decapsulate();
                        vrf_ipv6.apply();
                    } else {
                        drop();
                    }
                }
            } else if (hdr.outer.hop_limit <= 1) {
                drop();
            } else {
                // A node on the way between segments.
                destination = hdr.outer.dst;
                if (routes.apply().hit) {
                    hdr.outer.hop_limit = hdr.outer.hop_limit - 1;
                    packets.increment(ROUTED);
                }
            }
        } else {
            if (hdr.ipv4.isValid()) {
                policies_ipv4.apply();
            } else if (hdr.ipv6.isValid()) {
                policies_ipv6.apply();
            }
            if (hdr.outer.isValid()) {
                routes.apply();
            }
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.outer);
        packet.emit(hdr.srh);
        packet.emit(hdr.segments);
        packet.emit(hdr.tlvs);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ipv6);
    }
}

xdp(prs(), node(), dprs()) main;
