// SPDX-License-Identifier: Apache-2.0
//
// A user plane function of a mobile network (3GPP TS 29.281, TS 38.415): what subscribers send comes from base stations in
// GTP-U tunnels and leaves plain; what is for subscribers gets a tunnel to their base station, with the session's
// container, which carries the flow's quality of service. Rules classify traffic by its ports; sessions are accounted.

#include <core.p4>
#include <xdp_model.p4>
#include "headers.p4h"

header gtpu_t {
    bit<3>  version;
    bit<1>  protocol_type;
    bit<1>  reserved;
    bit<1>  has_extension;
    bit<1>  has_sequence;
    bit<1>  has_npdu;
    bit<8>  message;
    bit<16> length;
    bit<32> teid;
}

// Present with any of the three flags.
header gtpu_options_t {
    bit<16> sequence;
    bit<8>  npdu;
    bit<8>  next_extension;
}

// The PDU session container; its length is in units of 4 bytes.
header session_container_t {
    bit<8> length;
    bit<4> pdu_type;
    bit<4> qmp_snp_spare;
    bit<2> ppp_rqi;
    bit<6> qfi;
    bit<8> next_extension;
}

// The ports of what is within, of TCP and of UDP alike.
header ports_t {
    bit<16> src;
    bit<16> dst;
}

struct packet_t {
    bit<16> length;   // of the whole frame, as it came in
}

struct headers_t {
    ethernet_t          eth;
    ipv4_t              outer_ipv4;
    udp_t               outer_udp;
    gtpu_t              gtpu;
    gtpu_options_t      options;
    session_container_t container;
    ipv4_t              ipv4;
    ipv6_t              ipv6;
    ports_t             ports;
    packet_t            packet;
}

// An IPv4 header without options, and what follows it if that is UDP.
header front_t {
    bit<4>  version;
    bit<4>  ihl;
    bit<40> to_flags;
    bit<3>  flags;
    bit<13> frag_offset;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<80> rest;
}

header udp_front_t {
    bit<160> ipv4;
    bit<16>  src_port;
    bit<16>  dst_port;
}

const bit<16> GTPU_PORT = 2152;
const bit<8>  G_PDU = 255;
const bit<8>  SESSION_CONTAINER = 0x85;

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        hdr.packet.length = (bit<16>)packet.length();
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            TYPE_IPV4: maybe_udp;
            TYPE_IPV6: ipv6;
            default:   accept;
        }
    }
    state maybe_udp {
        front_t front = packet.lookahead<front_t>();
        transition select(front.ihl, front.flags, front.frag_offset, front.protocol) {
            (5, 0 &&& 1, 0, PROTOCOL_UDP): maybe_gtpu;
            default:                       ipv4;
        }
    }
    state maybe_gtpu {
        transition select(packet.lookahead<udp_front_t>().dst_port) {
            GTPU_PORT: gtpu;
            default:   ipv4;
        }
    }
    state gtpu {
        packet.extract(hdr.outer_ipv4);
        packet.extract(hdr.outer_udp);
        packet.extract(hdr.gtpu);
        transition select(hdr.gtpu.version, hdr.gtpu.protocol_type, hdr.gtpu.message,
                          hdr.gtpu.has_extension, hdr.gtpu.has_sequence, hdr.gtpu.has_npdu) {
            (1, 1, G_PDU, 0, 0, 0): user_packet;
            (1, 1, G_PDU, _, _, _): options;
            // Echoes and the like are the host's.
            default:                accept;
        }
    }
    state options {
        packet.extract(hdr.options);
        transition select(hdr.gtpu.has_extension, hdr.options.next_extension) {
            (0, _):                 user_packet;
            (1, 0):                 user_packet;
            (1, SESSION_CONTAINER): container;
            default:                accept;
        }
    }
    state container {
        packet.extract(hdr.container);
        transition select(hdr.container.length, hdr.container.next_extension) {
            (1, 0):  user_packet;
            default: accept;
        }
    }
    state user_packet {
        transition select(packet.lookahead<bit<4>>()) {
            4:       ipv4;
            6:       ipv6;
            default: reject;
        }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (5, 0, PROTOCOL_TCP): ports;
            (5, 0, PROTOCOL_UDP): ports;
            default:              accept;
        }
    }
    state ipv6 {
        packet.extract(hdr.ipv6);
        transition select(hdr.ipv6.next_header) {
            PROTOCOL_TCP: ports;
            PROTOCOL_UDP: ports;
            default:      accept;
        }
    }
    state ports {
        packet.extract(hdr.ports);
        transition accept;
    }
}

control user_plane(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    const bit<16> OUTER_IPV4_BYTES = 44;   // IPv4, UDP, GTP-U with options and container
    const bit<16> OUTER_UDP_BYTES = 24;
    const bit<16> GTPU_BYTES = 8;          // what the length of GTP-U covers besides the packet
    const bit<16> ETHERNET_BYTES = 14;
    const bit<4>  DOWNLINK = 0;

    // The indices of `dropped`.
    const bit<32> NO_SESSION = 0;
    const bit<32> SPOOFED = 1;
    const bit<32> GATE_CLOSED = 2;
    const bit<32> NO_ROUTE = 3;
    const bit<32> EXPIRED = 4;

    CounterArray(5, false) dropped;
    // Bytes of user packets, by session: what it sent, and what it was sent.
    CounterArray(8192, false) sent;
    CounterArray(8192, false) received;

    bit<32> own_ip = 0;
    bit<32> session = 0;
    bit<8>  protocol = 0;
    bit<6>  qfi = 0;
    bit<32> next_hop = 0;
    bool    forward = false;

    action drop(bit<32> why) {
        xout.output_action = xdp_action.XDP_DROP;
        forward = false;
        dropped.increment(why);
    }

    action to_host() {
        xout.output_action = xdp_action.XDP_PASS;
        forward = false;
    }

    action identify(bit<32> ip) {
        own_ip = ip;
    }

    table identity {
        actions = { identify; }
        default_action = identify(0);
    }

    // A subscriber's address, so that nobody sends with another's: with IPv6 its prefix of 64 bits.
    action uplink(bit<32> number, bit<32> ue_ipv4, bit<64> ue_prefix) {
        session = number;
        forward = true;
        if (hdr.ipv4.isValid() && hdr.ipv4.src != ue_ipv4) {
            drop(SPOOFED);
        }
        if (hdr.ipv6.isValid() && hdr.ipv6.src[127:64] != ue_prefix) {
            drop(SPOOFED);
        }
    }

    table uplink_sessions {
        key = { hdr.gtpu.teid : exact @name("teid"); }
        actions = { uplink; drop; }
        default_action = drop(NO_SESSION);
        size = 8192;
    }

    bit<32> teid = 0;
    bit<32> base_station = 0;

    action downlink(bit<32> number, bit<32> tunnel, bit<32> station, bit<6> default_qfi) {
        session = number;
        teid = tunnel;
        base_station = station;
        qfi = default_qfi;
        forward = true;
    }

    table downlink_ipv4 {
        key = { hdr.ipv4.dst : exact @name("dst"); }
        actions = { downlink; to_host; }
        default_action = to_host();
        size = 8192;
    }

    table downlink_ipv6 {
        key = { hdr.ipv6.dst : lpm @name("dst"); }
        actions = { downlink; to_host; }
        default_action = to_host();
        size = 8192;
    }

    action gate_closed() {
        drop(GATE_CLOSED);
    }

    action use_flow(bit<6> flow) {
        qfi = flow;
    }

    // Service data flows of sessions, in both directions.
    table flows {
        key = {
            session        : ternary @name("session");
            protocol       : ternary @name("protocol");
            hdr.ports.src  : ternary @name("src_port");
            hdr.ports.dst  : ternary @name("dst_port");
        }
        actions = { use_flow; gate_closed; NoAction; }
        default_action = NoAction();
        size = 1024;
    }

    action via(bit<32> port, bit<48> src, bit<48> dst) {
        hdr.eth.src = src;
        hdr.eth.dst = dst;
        xout.output_action = xdp_action.XDP_REDIRECT;
        xout.output_port = port;
    }

    table routes {
        key = { next_hop : lpm @name("dst"); }
        actions = { via; drop; }
        default_action = drop(NO_ROUTE);
        size = 1024;
    }

    // IPv6 beyond the network: one neighbour.
    table ipv6_gateway {
        actions = { via; drop; }
        default_action = drop(NO_ROUTE);
    }

    // What is forwarded has one hop less to go; that does not make tunnels' outer headers.
    action one_hop_less() {
        if (hdr.ipv4.isValid()) {
            if (hdr.ipv4.ttl <= 1) {
                drop(EXPIRED);
            } else {
                hdr.ipv4.checksum = csum_replace2(hdr.ipv4.checksum, hdr.ipv4.ttl ++ 8w0, (hdr.ipv4.ttl - 1) ++ 8w0);
                hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
            }
        } else {
            if (hdr.ipv6.hop_limit <= 1) {
                drop(EXPIRED);
            } else {
                hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
            }
        }
    }

    action encapsulate() {
        bit<16> bytes = hdr.packet.length - ETHERNET_BYTES;
        hdr.outer_ipv4 = {
            version = 4, ihl = 5, dscp = qfi, ecn = 0, total_len = bytes + OUTER_IPV4_BYTES, id = 0, flags = 0b010,
            frag_offset = 0, ttl = 64, protocol = PROTOCOL_UDP, checksum = 0, src = own_ip, dst = base_station
        };
        hdr.outer_ipv4.checksum = ebpf_ipv4_checksum(
            4, 5, qfi ++ 2w0, bytes + OUTER_IPV4_BYTES, 0, 0b010, 0, 64, PROTOCOL_UDP, own_ip, base_station);
        hdr.outer_udp = { GTPU_PORT, GTPU_PORT, bytes + OUTER_UDP_BYTES, 0 };
        hdr.gtpu = { 1, 1, 0, 1, 0, 0, G_PDU, bytes + GTPU_BYTES, teid };
        hdr.options = { 0, 0, SESSION_CONTAINER };
        hdr.container = { 1, DOWNLINK, 0, 0, qfi, 0 };
        hdr.eth.type = TYPE_IPV4;
    }

    action decapsulate() {
        hdr.outer_ipv4.setInvalid();
        hdr.outer_udp.setInvalid();
        hdr.gtpu.setInvalid();
        hdr.options.setInvalid();
        hdr.container.setInvalid();
        hdr.eth.type = hdr.ipv4.isValid() ? TYPE_IPV4 : TYPE_IPV6;
    }

    apply {
        xout.output_port = 0;
        to_host();
        identity.apply();
        if (!hdr.ipv4.isValid() && !hdr.ipv6.isValid()) {
            return;
        }
        protocol = hdr.ipv4.isValid() ? hdr.ipv4.protocol : hdr.ipv6.next_header;
        bit<32> bytes = hdr.ipv4.isValid() ? (bit<32>)hdr.ipv4.total_len : (bit<32>)hdr.ipv6.payload_len + 40;

        if (hdr.gtpu.isValid()) {
            if (hdr.outer_ipv4.dst != own_ip) {
                return;
            }
            uplink_sessions.apply();
        } else if (hdr.ipv4.isValid()) {
            downlink_ipv4.apply();
        } else {
            downlink_ipv6.apply();
        }
        if (!forward) {
            return;
        }
        flows.apply();
        if (forward) {
            one_hop_less();
        }
        if (!forward) {
            return;
        }

        if (hdr.gtpu.isValid()) {
            sent.add(session, bytes);
            decapsulate();
            next_hop = hdr.ipv4.dst;
        } else {
            received.add(session, bytes);
            encapsulate();
            next_hop = base_station;
        }
        if (hdr.outer_ipv4.isValid() || hdr.ipv4.isValid()) {
            routes.apply();
        } else {
            ipv6_gateway.apply();
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.outer_ipv4);
        packet.emit(hdr.outer_udp);
        packet.emit(hdr.gtpu);
        packet.emit(hdr.options);
        packet.emit(hdr.container);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ipv6);
        packet.emit(hdr.ports);
    }
}

xdp(prs(), user_plane(), dprs()) main;
