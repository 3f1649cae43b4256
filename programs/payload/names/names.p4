// SPDX-License-Identifier: Apache-2.0
//
// Messages on the path: which names are asked for by DNS, and of which hosts by HTTP. A tap: every packet goes on as it came.

#include <core.p4>
#include <tap_model.p4>
#include <payload.p4>

const bit<16> TYPE_IPV4 = 0x0800;
const bit<8> PROTOCOL_TCP = 6;
const bit<8> PROTOCOL_UDP = 17;
const bit<16> PORT_DNS = 53;
const bit<16> PORT_HTTP = 80;
const bit<16> UDP_HEADER_BYTES = 8;

// The first bytes of a name, zeros behind its last.
typedef bit<256> name_t;

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
    bit<16> src;
    bit<16> dst;
    bit<16> length;
    bit<16> checksum;
}

header tcp_t {
    bit<16> src;
    bit<16> dst;
    bit<32> seq;
    bit<32> ack;
    bit<4>  data_offset;
    bit<12> flags;
    bit<16> window;
    bit<16> checksum;
    bit<16> urgent;
}

header options_t {
    varbit<320> bytes;
}

struct headers_t {
    ethernet_t eth;
    ipv4_t     ipv4;
    udp_t      udp;
    tcp_t      tcp;
    options_t  options;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            TYPE_IPV4: ipv4;
            default: accept;
        }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (5, 0, PROTOCOL_UDP): udp;
            (5, 0, PROTOCOL_TCP): tcp;
            default: accept;
        }
    }
    state udp {
        packet.extract(hdr.udp);
        transition accept;
    }
    state tcp {
        packet.extract(hdr.tcp);
        packet.extract(hdr.options, ((bit<32>)hdr.tcp.data_offset |-| 5) << 5);
        transition accept;
    }
}

control watch(in headers_t hdr, in tap_input input) {
    message("dns") dns;
    message("http") http;

    top_keys<name_t>(512) names;
    top_keys<name_t>(512) hosts;
    tally<bit<16>>(64) statuses;
    // By what became of reading a message.
    tally<message_status>(8) dns_messages;
    tally<message_status>(8) http_messages;

    apply {
        name_t name;
        bit<32> length;
        bit<16> status;
        if (hdr.udp.isValid() && (hdr.udp.dst == PORT_DNS || hdr.udp.src == PORT_DNS)) {
            bit<32> bytes = (bit<32>)(hdr.udp.length |-| UDP_HEADER_BYTES);
            dns_messages.add(dns.read(0, bytes), (bit<64>)bytes);
            bit<1> response;
            dns.get_number("response", response);
            if (response == 0 && dns.get_bytes("qname", name, length)) {
                names.add(name, 1);
            }
        } else if (hdr.tcp.isValid() && (hdr.tcp.dst == PORT_HTTP || hdr.tcp.src == PORT_HTTP)) {
            // Segments without a message's beginning are of another one.
            message_status read = http.read(0);
            if (read != message_status.OTHER) {
                http_messages.add(read, (bit<64>)payload_length());
                if (http.get_bytes("host", name, length)) {
                    hosts.add(name, 1);
                }
                if (http.get_number("status", status)) {
                    statuses.add(status, 1);
                }
            }
        }
    }
}

tap(prs(), watch()) main;
