// SPDX-License-Identifier: Apache-2.0
//
// Static network address and port translation for TCP and UDP: the source of what leaves, the destination of
// what returns. Every checksum is corrected by the difference, never computed anew. Translated packets go on
// to the kernel, which routes them; so does everything without an entry.

#include <core.p4>
#include <xdp_model.p4>

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
    bit<32> ack;
    bit<4>  data_offset;
    bit<4>  reserved;
    bit<8>  flags;
    bit<16> window;
    bit<16> checksum;
    bit<16> urgent;
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
    tcp_t      tcp;
    udp_t      udp;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            0x0800:  ipv4;
            default: accept;
        }
    }
    // No options, no fragments (neither More Fragments nor an offset): the ports are where they are expected.
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (5, 0 &&& 1, 0, 6):  tcp;
            (5, 0 &&& 1, 0, 17): udp;
            default:             accept;
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
}

// The checksum of a TCP or UDP header after an address and a port that it covers have changed.
bit<16> corrected(in bit<16> checksum, in bit<32> old_addr, in bit<32> new_addr,
                  in bit<16> old_port, in bit<16> new_port) {
    return csum_replace2(csum_replace4(checksum, old_addr, new_addr), old_port, new_port);
}

// The same for UDP, where 0 means that the sender computed none.
bit<16> corrected_udp(in bit<16> checksum, in bit<32> old_addr, in bit<32> new_addr,
                      in bit<16> old_port, in bit<16> new_port) {
    if (checksum == 0) {
        return 0;
    }
    bit<16> result = corrected(checksum, old_addr, new_addr, old_port, new_port);
    return result == 0 ? 16w0xffff : result;
}

control nat(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    // The indices of `packets`.
    const bit<32> OUTBOUND = 0;
    const bit<32> INBOUND = 1;
    const bit<32> UNTOUCHED = 2;

    CounterArray(3, false) packets;

    bit<16> src_port = 0;
    bit<16> dst_port = 0;

    action translate_source(bit<32> addr, bit<16> port) {
        hdr.ipv4.checksum = csum_replace4(hdr.ipv4.checksum, hdr.ipv4.src, addr);
        if (hdr.tcp.isValid()) {
            hdr.tcp.checksum = corrected(hdr.tcp.checksum, hdr.ipv4.src, addr, src_port, port);
            hdr.tcp.src_port = port;
        } else {
            hdr.udp.checksum = corrected_udp(hdr.udp.checksum, hdr.ipv4.src, addr, src_port, port);
            hdr.udp.src_port = port;
        }
        hdr.ipv4.src = addr;
    }

    action translate_destination(bit<32> addr, bit<16> port) {
        hdr.ipv4.checksum = csum_replace4(hdr.ipv4.checksum, hdr.ipv4.dst, addr);
        if (hdr.tcp.isValid()) {
            hdr.tcp.checksum = corrected(hdr.tcp.checksum, hdr.ipv4.dst, addr, dst_port, port);
            hdr.tcp.dst_port = port;
        } else {
            hdr.udp.checksum = corrected_udp(hdr.udp.checksum, hdr.ipv4.dst, addr, dst_port, port);
            hdr.udp.dst_port = port;
        }
        hdr.ipv4.dst = addr;
    }

    table outbound {
        key = {
            hdr.ipv4.src      : exact @name("src");
            hdr.ipv4.protocol : exact @name("protocol");
            src_port          : exact @name("src_port");
        }
        actions = { translate_source; NoAction; }
        default_action = NoAction();
        size = 4096;
    }

    table inbound {
        key = {
            hdr.ipv4.dst      : exact @name("dst");
            hdr.ipv4.protocol : exact @name("protocol");
            dst_port          : exact @name("dst_port");
        }
        actions = { translate_destination; NoAction; }
        default_action = NoAction();
        size = 4096;
    }

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_PASS;

        if (hdr.tcp.isValid()) {
            src_port = hdr.tcp.src_port;
            dst_port = hdr.tcp.dst_port;
        } else if (hdr.udp.isValid()) {
            src_port = hdr.udp.src_port;
            dst_port = hdr.udp.dst_port;
        } else {
            packets.increment(UNTOUCHED);
            return;
        }

        if (outbound.apply().hit) {
            packets.increment(OUTBOUND);
        } else if (inbound.apply().hit) {
            packets.increment(INBOUND);
        } else {
            packets.increment(UNTOUCHED);
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.tcp);
        packet.emit(hdr.udp);
    }
}

xdp(prs(), nat(), dprs()) main;
