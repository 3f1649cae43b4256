// SPDX-License-Identifier: Apache-2.0
//
// A load balancer: packets for a service's address go to one of its servers, which an action selector chooses by a hash of the
// flow. A flow keeps its server as long as the group has the same members. Answers get the service's address back.

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

header udp_t {
    bit<16> src_port;
    bit<16> dst_port;
    bit<16> length;
    bit<16> checksum;
}

struct headers_t {
    ethernet_t eth;
    ipv4_t     ipv4;
    udp_t      udp;
}

struct metadata_t {
    bool rewritten;
}

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            0x0800:  ipv4;
            default: accept;
        }
    }

    // Fragments have no ports, and options would stand where the ports are looked for.
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl, hdr.ipv4.flags[0:0], hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (5, 0, 0, 17): udp;
            default:       accept;
        }
    }

    state udp {
        packet.extract(hdr.udp);
        transition accept;
    }
}

control verify_header(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid() && hdr.ipv4.ihl == 5,
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp_ecn, hdr.ipv4.total_len, hdr.ipv4.id, hdr.ipv4.flags,
              hdr.ipv4.frag_offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    // At most 64 servers, and as many services.
    action_selector(HashAlgorithm.crc32, 64, 32) servers;
    direct_counter(CounterType.packets_and_bytes) per_service;
    direct_meter<bit<2>>(MeterType.packets) limits;

    bit<2> color = V1MODEL_METER_COLOR_GREEN;

    action drop() {
        mark_to_drop(std);
    }

    action to_server(bit<9> port, bit<48> mac, bit<32> address) {
        limits.read(color);
        std.egress_spec = port;
        hdr.eth.dst = mac;
        hdr.ipv4.dst = address;
        meta.rewritten = true;
    }

    table services {
        key = {
            hdr.ipv4.dst       : exact @name("address");
            hdr.udp.dst_port   : exact @name("port");
            hdr.ipv4.src       : selector;
            hdr.ipv4.dst       : selector;
            hdr.ipv4.protocol  : selector;
            hdr.udp.src_port   : selector;
            hdr.udp.dst_port   : selector;
        }
        actions = { to_server; drop; }
        default_action = drop();
        implementation = servers;
        counters = per_service;
        meters = limits;
        size = 64;
    }

    action to_client(bit<9> port, bit<48> mac, bit<32> address) {
        std.egress_spec = port;
        hdr.eth.dst = mac;
        hdr.ipv4.src = address;
        meta.rewritten = true;
    }

    table answers {
        key = {
            hdr.ipv4.src     : exact @name("server");
            hdr.udp.src_port : exact @name("port");
        }
        actions = { to_client; }
        size = 64;
    }

    apply {
        if (std.parser_error != error.NoError || std.checksum_error == 1 || !hdr.udp.isValid() || hdr.ipv4.ttl < 2) {
            drop();
        } else {
            if (!answers.apply().hit) {
                services.apply();
                // More than the service's peak rate.
                if (color == V1MODEL_METER_COLOR_RED) {
                    drop();
                }
            }
            hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply { }
}

control compute(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(meta.rewritten,
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp_ecn, hdr.ipv4.total_len, hdr.ipv4.id, hdr.ipv4.flags,
              hdr.ipv4.frag_offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
        // The addresses are part of what it covers. 0 says that there is none (RFC 768).
        update_checksum_with_payload(meta.rewritten && hdr.udp.checksum != 0,
            { hdr.ipv4.src, hdr.ipv4.dst, 8w0, hdr.ipv4.protocol, hdr.udp.length,
              hdr.udp.src_port, hdr.udp.dst_port, hdr.udp.length },
            hdr.udp.checksum, HashAlgorithm.csum16);
    }
}

control dprs(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.udp);
    }
}

V1Switch(prs(), verify_header(), ingress(), egress(), compute(), dprs()) main;
