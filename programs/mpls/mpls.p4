// SPDX-License-Identifier: Apache-2.0
//
// A label switching router (RFC 3031): swaps and pops MPLS labels, and removes the last one for the next hop.
// The depth of the label stack is limited to eight.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header mpls_t {
    bit<20> label;
    bit<3>  traffic_class;
    bit<1>  bottom;
    bit<8>  ttl;
}

struct headers_t {
    ethernet_t eth;
    mpls_t[8]  labels;
}

const bit<16> TYPE_MPLS = 0x8847;
const bit<16> TYPE_IPV4 = 0x0800;

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            TYPE_MPLS: label;
            default:   accept;
        }
    }
    state label {
        packet.extract(hdr.labels.next);
        transition select(hdr.labels.last.bottom) {
            0: label;
            1: accept;
        }
    }
}

control mpls(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    action to_host() {
        xout.output_action = xdp_action.XDP_PASS;
    }

    action drop() {
        xout.output_action = xdp_action.XDP_DROP;
    }

    action send(bit<32> port, bit<48> dst_mac) {
        hdr.eth.dst = dst_mac;
        xout.output_port = port;
        xout.output_action = xdp_action.XDP_REDIRECT;
    }

    action swap(bit<20> label, bit<32> port, bit<48> dst_mac) {
        hdr.labels[0].label = label;
        hdr.labels[0].ttl = hdr.labels[0].ttl - 1;
        send(port, dst_mac);
    }

    // The time to live goes down to the label below (RFC 3443, the uniform model); the packet under the last
    // label keeps its own.
    action pop(bit<32> port, bit<48> dst_mac) {
        if (hdr.labels[0].bottom == 1) {
            hdr.eth.type = TYPE_IPV4;
        } else {
            hdr.labels[1].ttl = hdr.labels[0].ttl - 1;
        }
        hdr.labels.pop_front(1);
        send(port, dst_mac);
    }

    table labels {
        key = { hdr.labels[0].label : exact @name("label"); }
        actions = { swap; pop; drop; }
        default_action = drop();
        size = 1024;
    }

    apply {
        xout.output_port = 0;
        if (!hdr.labels[0].isValid()) {
            to_host();
        } else if (hdr.labels[0].ttl <= 1) {
            drop();
        } else {
            labels.apply();
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.labels);
    }
}

xdp(prs(), mpls(), dprs()) main;
