// SPDX-License-Identifier: Apache-2.0
//
// A stateful firewall: TCP connections are opened from inside only. Those that were are noted in a Bloom filter: two
// registers, each with a hash of its own of the connection. A packet from outside passes if both have its bit.

#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header ipv4_t {
    bit<4>  version;
    bit<4>  ihl;
    bit<8>  dscp_ecn;
    bit<16> total_len;
    bit<16> id;
    bit<3>  flags;
    bit<13> frag_offset;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> src;
    bit<32> dst;
}

header tcp_t {
    bit<16> src_port;
    bit<16> dst_port;
    bit<32> seq;
    bit<32> ack_number;
    bit<4>  data_offset;
    bit<6>  reserved;
    bit<1>  urg;
    bit<1>  ack;
    bit<1>  psh;
    bit<1>  rst;
    bit<1>  syn;
    bit<1>  fin;
}

struct headers_t {
    ethernet_t eth;
    ipv4_t     ipv4;
    tcp_t      tcp;
}

struct metadata_t { }

error { NotIPv4 }

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            0x0800:  ipv4;
            default: accept;
        }
    }
    // Behind options, and in all fragments but a datagram's first, TCP is not looked for.
    state ipv4 {
        packet.extract(hdr.ipv4);
        verify(hdr.ipv4.version == 4 && hdr.ipv4.ihl >= 5, error.NotIPv4);
        transition select(hdr.ipv4.ihl, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (5, 0, 6): tcp;
            default:   accept;
        }
    }
    state tcp {
        packet.extract(hdr.tcp);
        transition accept;
    }
}

control vrfy(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control firewall(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    const bit<32> BITS = 4096;

    // The indices of `packets`.
    const bit<32> OPENED = 0;
    const bit<32> PASSED = 1;
    const bit<32> REFUSED = 2;

    register<bit<1>>(BITS) first;
    register<bit<1>>(BITS) second;
    counter(3, CounterType.packets) packets;

    bool from_inside = false;
    bit<32> first_index;
    bit<32> second_index;

    action drop() {
        mark_to_drop(std);
        packets.count(REFUSED);
    }

    action to_outside(bit<9> port) {
        std.egress_spec = port;
        from_inside = true;
    }

    action to_inside(bit<9> port) {
        std.egress_spec = port;
    }

    // Which side a port is on, and where its packets go.
    table sides {
        key = { std.ingress_port : exact @name("port"); }
        actions = { to_outside; to_inside; drop; }
        default_action = drop();
        size = 16;
    }

    // Both directions of a connection have the same indices: the inside comes first.
    action find(bit<32> inside, bit<16> inside_port, bit<32> outside, bit<16> outside_port) {
        hash(first_index, HashAlgorithm.crc16, 32w0,
            { inside, outside, hdr.ipv4.protocol, inside_port, outside_port }, BITS);
        hash(second_index, HashAlgorithm.crc32, 32w0,
            { inside, outside, hdr.ipv4.protocol, inside_port, outside_port }, BITS);
    }

    apply {
        if (std.parser_error != error.NoError) {
            drop();
            return;
        }
        switch (sides.apply().action_run) {
            drop: { return; }
        }
        if (hdr.tcp.isValid()) {
            if (from_inside) {
                find(hdr.ipv4.src, hdr.tcp.src_port, hdr.ipv4.dst, hdr.tcp.dst_port);
                if (hdr.tcp.syn == 1) {
                    first.write(first_index, 1);
                    second.write(second_index, 1);
                    packets.count(OPENED);
                } else {
                    packets.count(PASSED);
                }
            } else {
                find(hdr.ipv4.dst, hdr.tcp.dst_port, hdr.ipv4.src, hdr.tcp.src_port);
                bit<1> in_first;
                bit<1> in_second;
                first.read(in_first, first_index);
                second.read(in_second, second_index);
                if (in_first == 1 && in_second == 1) {
                    packets.count(PASSED);
                } else {
                    drop();
                }
            }
        } else if (!from_inside && hdr.ipv4.isValid() && hdr.ipv4.protocol == 6) {
            // TCP that cannot be distinguished from any other.
            drop();
        } else {
            packets.count(PASSED);
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply { }
}

control compute(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control dprs(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.tcp);
    }
}

V1Switch(prs(), vrfy(), firewall(), egress(), compute(), dprs()) main;
