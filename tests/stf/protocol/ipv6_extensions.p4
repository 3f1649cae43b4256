// SPDX-License-Identifier: Apache-2.0
//
// Walks IPv6 extension headers of variable length to the transport header, and counts by what lies there.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header ipv6_t {
    bit<4>   version;
    bit<8>   traffic_class;
    bit<20>  flow_label;
    bit<16>  payload_length;
    bit<8>   next_header;
    bit<8>   hop_limit;
    bit<128> src;
    bit<128> dst;
}

header extension_t {
    bit<8>       next_header;
    bit<8>       length;
    varbit<2048> data;
}

struct headers_t {
    ethernet_t     eth;
    ipv6_t         ipv6;
    extension_t[4] extensions;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            0x86dd:  ipv6;
            default: reject;
        }
    }
    state ipv6 {
        packet.extract(hdr.ipv6);
        verify(hdr.ipv6.version == 6, error.ParserInvalidArgument);
        transition select(hdr.ipv6.next_header) {
            0:       extension;
            43:      extension;
            60:      extension;
            default: accept;
        }
    }
    state extension {
        bit<32> length = (bit<32>)packet.lookahead<bit<16>>()[7:0];
        verify(length < 32, error.HeaderTooShort);
        packet.extract(hdr.extensions.next, 48 + (length << 6));
        transition select(hdr.extensions.last.next_header) {
            0:       extension;
            43:      extension;
            60:      extension;
            default: accept;
        }
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    CounterArray(256, false) packets_by_transport;

    bit<8> transport = 0;

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        transport = hdr.ipv6.next_header;
        for (bit<8> i = 0; i < 4; i = i + 1) {
            if (i == 0 && hdr.extensions[0].isValid()) { transport = hdr.extensions[0].next_header; }
            if (i == 1 && hdr.extensions[1].isValid()) { transport = hdr.extensions[1].next_header; }
            if (i == 2 && hdr.extensions[2].isValid()) { transport = hdr.extensions[2].next_header; }
            if (i == 3 && hdr.extensions[3].isValid()) { transport = hdr.extensions[3].next_header; }
        }
        packets_by_transport.increment((bit<32>)transport);
        hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
        // The first routing header is no longer wanted.
        if (hdr.extensions[0].isValid() && hdr.ipv6.next_header == 43) {
            hdr.ipv6.next_header = hdr.extensions[0].next_header;
            hdr.ipv6.payload_length = hdr.ipv6.payload_length - 8 - ((bit<16>)hdr.extensions[0].length << 3);
            hdr.extensions[0].setInvalid();
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.ipv6);
        packet.emit(hdr.extensions);
    }
}

xdp(prs(), sw(), dprs()) main;
