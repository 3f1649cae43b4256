// The near stage removes VLAN tags, so that the far one finds IPv4 at one place.

#include <relay_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header tag_t {
    bit<3>  priority;
    bit<1>  drop;
    bit<12> vid;
    bit<16> type;
}

header ipv4_t {
    bit<8>  version_ihl;
    bit<8>  tos;
    bit<16> length;
    bit<32> rest;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> src;
    bit<32> dst;
}

struct near_t {
    ethernet_t ethernet;
    tag_t[2]   tags;
}

struct far_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
}

struct meta_t {
    bit<12> vid;
    bit<2>  tags;
}

parser near_parser(packet_in packet, out near_t hdr, inout meta_t meta) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            0x8100: tag;
            0x88a8: tag;
            default: accept;
        }
    }
    state tag {
        packet.extract(hdr.tags.next);
        meta.tags = meta.tags + 1;
        transition select(hdr.tags.last.type) {
            0x8100: tag;
            default: accept;
        }
    }
}

control near_control(inout near_t hdr, inout meta_t meta, in relay_input input, inout relay_output output) {
    apply {
        if (hdr.tags[1].isValid()) {
            meta.vid = hdr.tags[1].vid;
            hdr.ethernet.type = hdr.tags[1].type;
        } else if (hdr.tags[0].isValid()) {
            meta.vid = hdr.tags[0].vid;
            hdr.ethernet.type = hdr.tags[0].type;
            output.dropped = hdr.tags[0].drop == 1;
        }
        hdr.tags[0].setInvalid();
        hdr.tags[1].setInvalid();
        output.output_port = (bit<32>) meta.vid & 3;
    }
}

control near_deparser(in near_t hdr, packet_out packet) {
    apply { packet.emit(hdr); }
}

parser far_parser(packet_in packet, out far_t hdr, inout meta_t meta) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type, meta.tags) {
            (0x0800, _): ipv4;
            (_, 0): accept;
        }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        verify(hdr.ipv4.version_ihl == 0x45, error.ParserInvalidArgument);
        transition accept;
    }
}

control far_control(inout far_t hdr, inout meta_t meta, in relay_input input, inout relay_output output) {
    action mark(bit<8> tos) { hdr.ipv4.tos = tos | (bit<8>) meta.tags; }
    table marks {
        key = { meta.vid: ternary @name("vid"); hdr.ipv4.protocol: exact @name("protocol"); }
        actions = { mark; NoAction; }
        default_action = NoAction;
    }
    apply {
        if (hdr.ipv4.isValid()) {
            marks.apply();
        }
        output.output_action = meta.tags == 0 ? relay_verdict.PASS : relay_verdict.SEND;
    }
}

control far_deparser(in far_t hdr, packet_out packet) {
    apply { packet.emit(hdr); }
}

relay(near_parser(), near_control(), near_deparser(), far_parser(), far_control(), far_deparser()) main;
