// SPDX-License-Identifier: Apache-2.0
//
// A carrier's NAT (RFC 6888) between subscribers with private addresses and the Internet: each subscriber has a block of
// ports of a public address, and each of its own ports gets one of them for as long as it is used, whatever it talks
// to (endpoint-independent mapping, RFC 4787). Pings have identifiers in place of ports. Packets of blocks that
// are used up are dropped and counted; nothing from outside gets in without a mapping.

#include <core.p4>
#include <xdp_model.p4>
#include "headers.p4h"

struct headers_t {
    ethernet_t eth;
    ipv4_t     ipv4;
    tcp_t      tcp;
    udp_t      udp;
    icmp_t     icmp;
}

// A port of a machine, on either side.
struct endpoint_t {
    bit<32> address;
    bit<16> port;
    bit<8>  protocol;
}

struct mapping_t {
    bit<32> address;
    bit<16> port;
}

struct subscriber_t {
    bit<16> next;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            TYPE_IPV4: ipv4;
            default:   accept;
        }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (5, 0 &&& 1, 0, PROTOCOL_TCP):  tcp;
            (5, 0 &&& 1, 0, PROTOCOL_UDP):  udp;
            (5, 0 &&& 1, 0, PROTOCOL_ICMP): icmp;
            default:                        accept;
        }
    }
    state tcp {
        packet.extract(hdr.tcp);
        transition accept;
    }
    state udp {
        packet.extract(hdr.udp);
        transition accept;
    }
    state icmp {
        packet.extract(hdr.icmp);
        transition accept;
    }
}

// The checksum of a TCP or UDP header after an address and a port that it covers have changed.
bit<16> corrected(in bit<16> checksum, in bit<32> old_address, in bit<32> new_address,
                  in bit<16> old_port, in bit<16> new_port) {
    return csum_replace2(csum_replace4(checksum, old_address, new_address), old_port, new_port);
}

control cgnat(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    const bit<64> SECONDS = 1000000000;
    const bit<8>  ECHO_REPLY = 0;
    const bit<8>  ECHO = 8;

    // The indices of `packets`.
    const bit<32> OUT = 0;
    const bit<32> IN = 1;
    const bit<32> MAPPED = 2;
    const bit<32> USED_UP = 3;
    const bit<32> NO_MAPPING = 4;
    const bit<32> NO_SUBSCRIBER = 5;
    const bit<32> UNTRANSLATABLE = 6;
    const bit<32> EXPIRED = 7;

    CounterArray(8, false) packets;
    flow_state<endpoint_t, mapping_t>(131072, 300 * SECONDS) outside_of;
    flow_state<endpoint_t, mapping_t>(131072, 300 * SECONDS) inside_of;
    flow_state<bit<32>, subscriber_t>(16384) subscribers_state;

    bool    from_inside = false;
    bool    forward = false;
    bit<32> public = 0;
    bit<16> first_port = 0;
    bit<16> mask = 0;
    bit<16> src_port = 0;
    bit<16> dst_port = 0;

    action drop(bit<32> why) {
        xout.output_action = xdp_action.XDP_DROP;
        packets.increment(why);
    }

    action to_host() {
        xout.output_action = xdp_action.XDP_PASS;
    }

    action inside() {
        from_inside = true;
        forward = true;
    }

    action outside() {
        forward = true;
    }

    table sides {
        key = { xin.input_port : exact @name("port"); }
        actions = { inside; outside; to_host; }
        default_action = to_host();
        size = 64;
    }

    // The size of a block is a power of two, here less one, and its first port is a multiple of it.
    action block(bit<32> address, bit<16> first, bit<16> size_less_one) {
        public = address;
        first_port = first;
        mask = size_less_one;
    }

    table subscribers {
        key = { hdr.ipv4.src : exact @name("address"); }
        actions = { block; drop; }
        default_action = drop(NO_SUBSCRIBER);
        size = 16384;
    }

    action send(bit<32> port, bit<48> src, bit<48> dst) {
        hdr.eth.src = src;
        hdr.eth.dst = dst;
        xout.output_action = xdp_action.XDP_REDIRECT;
        xout.output_port = port;
    }

    table inside_routes {
        key = { hdr.ipv4.dst : lpm @name("dst"); }
        actions = { send; to_host; }
        default_action = to_host();
        size = 1024;
    }

    table upstream {
        actions = { send; to_host; }
        default_action = to_host();
    }

    action one_hop_less() {
        hdr.ipv4.checksum = csum_replace2(hdr.ipv4.checksum, hdr.ipv4.ttl ++ 8w0, (hdr.ipv4.ttl - 1) ++ 8w0);
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }

    action translate_source(bit<32> address, bit<16> port) {
        hdr.ipv4.checksum = csum_replace4(hdr.ipv4.checksum, hdr.ipv4.src, address);
        if (hdr.tcp.isValid()) {
            hdr.tcp.checksum = corrected(hdr.tcp.checksum, hdr.ipv4.src, address, src_port, port);
            hdr.tcp.src_port = port;
        } else if (hdr.udp.isValid()) {
            if (hdr.udp.checksum != 0) {
                hdr.udp.checksum = corrected(hdr.udp.checksum, hdr.ipv4.src, address, src_port, port);
                if (hdr.udp.checksum == 0) {
                    hdr.udp.checksum = 0xffff;
                }
            }
            hdr.udp.src_port = port;
        } else {
            hdr.icmp.checksum = csum_replace2(hdr.icmp.checksum, hdr.icmp.id, port);
            hdr.icmp.id = port;
        }
        hdr.ipv4.src = address;
    }

    action translate_destination(bit<32> address, bit<16> port) {
        hdr.ipv4.checksum = csum_replace4(hdr.ipv4.checksum, hdr.ipv4.dst, address);
        if (hdr.tcp.isValid()) {
            hdr.tcp.checksum = corrected(hdr.tcp.checksum, hdr.ipv4.dst, address, dst_port, port);
            hdr.tcp.dst_port = port;
        } else if (hdr.udp.isValid()) {
            if (hdr.udp.checksum != 0) {
                hdr.udp.checksum = corrected(hdr.udp.checksum, hdr.ipv4.dst, address, dst_port, port);
                if (hdr.udp.checksum == 0) {
                    hdr.udp.checksum = 0xffff;
                }
            }
            hdr.udp.dst_port = port;
        } else {
            hdr.icmp.checksum = csum_replace2(hdr.icmp.checksum, hdr.icmp.id, port);
            hdr.icmp.id = port;
        }
        hdr.ipv4.dst = address;
    }

    apply {
        xout.output_port = 0;
        to_host();
        sides.apply();
        if (!forward || !hdr.ipv4.isValid()) {
            return;
        }

        bool translatable = false;
        if (hdr.tcp.isValid()) {
            src_port = hdr.tcp.src_port;
            dst_port = hdr.tcp.dst_port;
            translatable = true;
        } else if (hdr.udp.isValid()) {
            src_port = hdr.udp.src_port;
            dst_port = hdr.udp.dst_port;
            translatable = true;
        } else if (hdr.icmp.isValid()) {
            src_port = hdr.icmp.id;
            dst_port = hdr.icmp.id;
            translatable = hdr.icmp.type == (from_inside ? ECHO : ECHO_REPLY);
        }
        // Fragments without ports, options, protocols without ports: the host may know what to do.
        if (!translatable) {
            packets.increment(UNTRANSLATABLE);
            return;
        }
        if (hdr.ipv4.ttl <= 1) {
            packets.increment(EXPIRED);
            return;
        }

        mapping_t mapping = { 0, 0 };
        if (from_inside) {
            if (!subscribers.apply().hit) {
                return;
            }
            endpoint_t source = { hdr.ipv4.src, src_port, hdr.ipv4.protocol };
            bool known = outside_of.lookup(source, mapping);
            if (!known) {
                // The next port of the block; one that is still in use is skipped, four times at most.
                mapping.address = public;
                for (bit<8> i in 0 .. 3) {
                    if (!known) {
                        subscriber_t state = { 0 };
                        @atomic {
                            if (subscribers_state.lookup(hdr.ipv4.src, state)) {
                                state.next = state.next + 1;
                            }
                            subscribers_state.update(hdr.ipv4.src, state);
                        }
                        mapping.port = first_port | (state.next & mask);
                        mapping_t user = { 0, 0 };
                        known = !inside_of.lookup({ public, mapping.port, hdr.ipv4.protocol }, user);
                    }
                }
                if (!known) {
                    drop(USED_UP);
                    return;
                }
                outside_of.update(source, mapping);
                packets.increment(MAPPED);
            }
            // Written with every packet, so that both directions stay in use together.
            inside_of.update({ mapping.address, mapping.port, hdr.ipv4.protocol }, { hdr.ipv4.src, src_port });
            translate_source(mapping.address, mapping.port);
            one_hop_less();
            packets.increment(OUT);
            upstream.apply();
        } else {
            if (!inside_of.lookup({ hdr.ipv4.dst, dst_port, hdr.ipv4.protocol }, mapping)) {
                drop(NO_MAPPING);
                return;
            }
            translate_destination(mapping.address, mapping.port);
            one_hop_less();
            packets.increment(IN);
            inside_routes.apply();
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.tcp);
        packet.emit(hdr.udp);
        packet.emit(hdr.icmp);
    }
}

xdp(prs(), cgnat(), dprs()) main;
