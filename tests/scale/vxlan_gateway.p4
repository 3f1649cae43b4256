// SPDX-License-Identifier: Apache-2.0
//
// A VXLAN tunnel endpoint (RFC 7348): frames that come in on a tenant's port go to the endpoint behind which their
// destination is, with 50 bytes of outer headers in front; frames from known endpoints lose them and go to the tenant's
// port. DSCP and congestion marks follow RFC 2983 (uniform) and RFC 6040.

#include <core.p4>
#include <xdp_model.p4>
#include "headers.p4h"

header vxlan_t {
    bit<8>  flags;
    bit<24> reserved;
    bit<24> vni;
    bit<8>  reserved_too;
}

struct packet_t {
    bit<16> length;   // of the whole frame, as it came in
}

struct headers_t {
    ethernet_t outer_eth;
    ipv4_t     outer_ipv4;
    udp_t      outer_udp;
    vxlan_t    vxlan;
    ethernet_t eth;
    ipv4_t     ipv4;
    ipv6_t     ipv6;
    packet_t   packet;
}

// The front of a packet that may be VXLAN: read ahead, since only its end decides whether these are outer headers.
header front_t {
    bit<112> eth;
    bit<4>   version;
    bit<4>   ihl;
    bit<40>  to_flags;
    bit<3>   flags;
    bit<13>  frag_offset;
    bit<8>   ttl;
    bit<8>   protocol;
    bit<80>  rest;
}

header udp_front_t {
    bit<272> eth_ipv4;
    bit<16>  src_port;
    bit<16>  dst_port;
}

const bit<16> VXLAN_PORT = 4789;
const bit<8>  VNI_IS_VALID = 0x08;

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        hdr.packet.length = (bit<16>)packet.length();
        transition select(packet.lookahead<ethernet_t>().type) {
            TYPE_IPV4: maybe_udp;
            default:   frame;
        }
    }
    state maybe_udp {
        front_t front = packet.lookahead<front_t>();
        transition select(front.ihl, front.flags, front.frag_offset, front.protocol) {
            (5, 0 &&& 1, 0, PROTOCOL_UDP): maybe_vxlan;
            default:                       frame;
        }
    }
    state maybe_vxlan {
        transition select(packet.lookahead<udp_front_t>().dst_port) {
            VXLAN_PORT: vxlan;
            default:    frame;
        }
    }
    state vxlan {
        packet.extract(hdr.outer_eth);
        packet.extract(hdr.outer_ipv4);
        packet.extract(hdr.outer_udp);
        packet.extract(hdr.vxlan);
        transition select(hdr.vxlan.flags) {
            VNI_IS_VALID &&& VNI_IS_VALID: frame;
            default:                       reject;
        }
    }
    // The tenant's frame.
    state frame {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            TYPE_IPV4: ipv4;
            TYPE_IPV6: ipv6;
            default:   accept;
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

control gateway(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    const bit<16> OUTER_IPV4_BYTES = 36;   // IPv4, UDP, VXLAN
    const bit<16> OUTER_UDP_BYTES = 16;    // UDP, VXLAN
    const bit<16> DYNAMIC_PORTS = 0xc000;
    const bit<2>  CONGESTION = 3;

    // The indices of `frames`.
    const bit<32> ENCAPSULATED = 0;
    const bit<32> DECAPSULATED = 1;
    const bit<32> UNKNOWN = 2;
    const bit<32> REFUSED = 3;

    CounterArray(4, false) frames;

    bit<24> vni = 0;
    bit<32> own_ip = 0;
    bit<48> own_mac = 0;

    action to_host() {
        xout.output_action = xdp_action.XDP_PASS;
    }

    action drop(bit<32> why) {
        xout.output_action = xdp_action.XDP_DROP;
        frames.increment(why);
    }

    action identify(bit<32> ip, bit<48> mac) {
        own_ip = ip;
        own_mac = mac;
    }

    // This endpoint.
    table identity {
        actions = { identify; }
        default_action = identify(0, 0);
    }

    action join(bit<24> segment) {
        vni = segment;
    }

    // Which segment a tenant's port belongs to.
    table tenants {
        key = { xin.input_port : exact @name("port"); }
        actions = { join; to_host; }
        default_action = to_host();
        size = 1024;
    }

    action encapsulate(bit<32> endpoint, bit<48> next_hop, bit<32> port) {
        // What distinguishes flows goes into the source port, so that routers on the path spread them.
        bit<32> mixed = hdr.eth.src[31:0] ^ hdr.eth.dst[31:0];
        bit<6> dscp = 0;
        bit<2> ecn = 0;
        if (hdr.ipv4.isValid()) {
            dscp = hdr.ipv4.dscp;
            ecn = hdr.ipv4.ecn;
            mixed = mixed ^ hdr.ipv4.src ^ hdr.ipv4.dst;
        } else if (hdr.ipv6.isValid()) {
            dscp = hdr.ipv6.dscp;
            ecn = hdr.ipv6.ecn;
            mixed = mixed ^ hdr.ipv6.src[31:0] ^ hdr.ipv6.dst[31:0] ^ (bit<32>)hdr.ipv6.flow_label;
        }
        hdr.outer_eth = { next_hop, own_mac, TYPE_IPV4 };
        hdr.outer_ipv4 = {
            version = 4, ihl = 5, dscp = dscp, ecn = ecn, total_len = hdr.packet.length + OUTER_IPV4_BYTES,
            id = 0, flags = 0b010, frag_offset = 0, ttl = 64, protocol = PROTOCOL_UDP, checksum = 0,
            src = own_ip, dst = endpoint
        };
        hdr.outer_ipv4.checksum = ebpf_ipv4_checksum(
            4, 5, dscp ++ ecn, hdr.outer_ipv4.total_len, 0, 0b010, 0, 64, PROTOCOL_UDP, own_ip, endpoint);
        // RFC 7348: no checksum over IPv4.
        hdr.outer_udp = {
            src_port = DYNAMIC_PORTS | (mixed[31:16] ^ mixed[15:0]), dst_port = VXLAN_PORT,
            length = hdr.packet.length + OUTER_UDP_BYTES, checksum = 0
        };
        hdr.vxlan = { VNI_IS_VALID, 0, vni, 0 };
        xout.output_action = xdp_action.XDP_REDIRECT;
        xout.output_port = port;
        frames.increment(ENCAPSULATED);
    }

    // Behind which endpoint a destination is, and how to get there.
    table remote {
        key = {
            vni         : exact @name("vni");
            hdr.eth.dst : exact @name("dst");
        }
        actions = { encapsulate; drop; }
        default_action = drop(UNKNOWN);
        size = 65536;
    }

    action admit() { }

    // From which endpoints frames of a segment are taken.
    table endpoints {
        key = {
            hdr.outer_ipv4.src : exact @name("src");
            hdr.vxlan.vni      : exact @name("vni");
        }
        actions = { admit; drop; }
        default_action = drop(REFUSED);
        size = 4096;
    }

    action deliver(bit<32> port) {
        xout.output_action = xdp_action.XDP_REDIRECT;
        xout.output_port = port;
        frames.increment(DECAPSULATED);
    }

    // The tenants' machines behind this endpoint.
    table local {
        key = {
            hdr.vxlan.vni : exact @name("vni");
            hdr.eth.dst   : exact @name("dst");
        }
        actions = { deliver; drop; }
        default_action = drop(UNKNOWN);
        size = 65536;
    }

    // RFC 6040, section 4.2: congestion on the path reaches the frame within, if that understands it.
    action inherit_congestion() {
        if (hdr.outer_ipv4.ecn == CONGESTION) {
            if (hdr.ipv4.isValid()) {
                if (hdr.ipv4.ecn == 0) {
                    drop(REFUSED);
                } else {
                    bit<16> old = hdr.ipv4.version ++ hdr.ipv4.ihl ++ hdr.ipv4.dscp ++ hdr.ipv4.ecn;
                    hdr.ipv4.checksum = csum_replace2(hdr.ipv4.checksum, old, old | 3);
                    hdr.ipv4.ecn = CONGESTION;
                }
            } else if (hdr.ipv6.isValid()) {
                if (hdr.ipv6.ecn == 0) {
                    drop(REFUSED);
                } else {
                    hdr.ipv6.ecn = CONGESTION;
                }
            }
        }
    }

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_PASS;
        identity.apply();
        if (hdr.vxlan.isValid()) {
            if (hdr.outer_ipv4.dst != own_ip || hdr.outer_eth.dst != own_mac) {
                return;
            }
            if (!endpoints.apply().hit || !local.apply().hit) {
                return;
            }
            inherit_congestion();
            hdr.outer_eth.setInvalid();
            hdr.outer_ipv4.setInvalid();
            hdr.outer_udp.setInvalid();
            hdr.vxlan.setInvalid();
        } else if (tenants.apply().hit) {
            remote.apply();
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.outer_eth);
        packet.emit(hdr.outer_ipv4);
        packet.emit(hdr.outer_udp);
        packet.emit(hdr.vxlan);
        packet.emit(hdr.eth);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ipv6);
    }
}

xdp(prs(), gateway(), dprs()) main;
