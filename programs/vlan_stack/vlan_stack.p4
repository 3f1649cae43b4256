// SPDX-License-Identifier: Apache-2.0
//
// The edge of a provider network: pushes, swaps and pops VLAN tags (802.1Q and 802.1ad), up to four deep, and
// sends the frame back out of the port that it came in on.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header vlan_t {
    bit<3>  priority;
    bit<1>  drop_eligible;
    bit<12> vid;
    bit<16> type;
}

struct headers_t {
    ethernet_t eth;
    vlan_t[4]  tags;
}

const bit<16> TYPE_CUSTOMER = 0x8100;
const bit<16> TYPE_SERVICE = 0x88a8;

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            TYPE_CUSTOMER: tag;
            TYPE_SERVICE:  tag;
            default:       accept;
        }
    }
    // A fifth tag is one too many: StackOutOfBounds.
    state tag {
        packet.extract(hdr.tags.next);
        transition select(hdr.tags.last.type) {
            TYPE_CUSTOMER: tag;
            TYPE_SERVICE:  tag;
            default:       accept;
        }
    }
}

control vlan_stack(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    CounterArray(4096, true) frames_by_vid;

    bit<12> vid = 0;

    action drop() {
        xout.output_action = xdp_action.XDP_DROP;
    }

    action keep() { }

    action push(bit<12> new_vid, bit<3> priority) {
        hdr.tags.push_front(1);
        hdr.tags[0] = { priority, 0, new_vid, hdr.eth.type };
        // Inside a tag another one stands: then the new one is the provider's.
        hdr.eth.type = hdr.tags[1].isValid() ? TYPE_SERVICE : TYPE_CUSTOMER;
    }

    action swap(bit<12> new_vid) {
        hdr.tags[0].vid = new_vid;
    }

    action pop() {
        hdr.eth.type = hdr.tags[0].type;
        hdr.tags.pop_front(1);
    }

    // A push needs space for one more tag, a swap and a pop need a tag: see `full` and `tagged`.
    table tagging {
        key = {
            hdr.tags[0].isValid() : exact   @name("tagged");
            hdr.tags[3].isValid() : exact   @name("full");
            vid                   : ternary @name("vid");
        }
        actions = { push; swap; pop; keep; drop; }
        default_action = drop();
        size = 256;
    }

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        if (hdr.tags[0].isValid()) {
            vid = hdr.tags[0].vid;
        }
        frames_by_vid.increment((bit<32>)vid);
        tagging.apply();
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.tags);
    }
}

xdp(prs(), vlan_stack(), dprs()) main;
