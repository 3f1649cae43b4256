// SPDX-License-Identifier: Apache-2.0
//
// A classifier at the edge of a network: whatever tags, labels, options and tunnels a packet has, its innermost flow decides
// which class it gets, and the outermost IP header is marked with it. The parser has 39 states, one a protocol.

#include <core.p4>
#include <xdp_model.p4>
#include "headers.p4h"

header pppoe_t {
    bit<4>  version;
    bit<4>  type;
    bit<8>  code;
    bit<16> session;
    bit<16> length;
    bit<16> protocol;
}

header options_t {
    varbit<320> bytes;
}

// Hop-by-hop, routing and destination options: a length in units of 8 bytes, without the first.
header extension_t {
    bit<8>       next_header;
    bit<8>       length;
    varbit<1008> rest;
}

header fragment_t {
    bit<8>  next_header;
    bit<8>  reserved;
    bit<13> offset;
    bit<2>  unused;
    bit<1>  more;
    bit<32> id;
}

// The length of an authentication header counts 4 bytes, without the first two.
header ah_t {
    bit<8>       next_header;
    bit<8>       length;
    bit<16>      reserved;
    bit<32>      spi;
    bit<32>      sequence;
    varbit<512>  check;
}

header esp_t {
    bit<32> spi;
    bit<32> sequence;
}

header sctp_t {
    bit<16> src_port;
    bit<16> dst_port;
    bit<32> tag;
    bit<32> checksum;
}

header igmp_t {
    bit<8>  type;
    bit<8>  code;
    bit<16> checksum;
    bit<32> group;
}

header gre_t {
    bit<1>  has_checksum;
    bit<1>  has_routing;
    bit<1>  has_key;
    bit<1>  has_sequence;
    bit<9>  reserved;
    bit<3>  version;
    bit<16> type;
}

header word_t {
    bit<32> value;
}

header vxlan_t {
    bit<8>  flags;
    bit<24> reserved;
    bit<24> vni;
    bit<8>  reserved_too;
}

header geneve_t {
    bit<2>      version;
    bit<6>      length;      // of the options, in units of 4 bytes
    bit<2>      flags;
    bit<6>      reserved;
    bit<16>     type;
    bit<24>     vni;
    bit<8>      reserved_too;
    varbit<512> options;
}

header gtpu_t {
    bit<3>  version;
    bit<1>  protocol_type;
    bit<1>  reserved;
    bit<3>  flags;
    bit<8>  message;
    bit<16> length;
    bit<32> teid;
}

struct headers_t {
    ethernet_t  eth;
    vlan_t      outer_vlan;
    vlan_t      inner_vlan;
    pppoe_t     pppoe;
    mpls_t[3]   mpls;
    ipv4_t      ipv4;
    options_t   ipv4_options;
    ipv6_t      ipv6;
    extension_t hop_by_hop;
    extension_t routing;
    fragment_t  fragment;
    extension_t destination;
    ah_t        ah;
    tcp_t       tcp;
    udp_t       udp;
    icmp_t      icmp;
    igmp_t      igmp;
    sctp_t      sctp;
    esp_t       esp;
    gre_t       gre;
    word_t      gre_checksum;
    word_t      gre_key;
    word_t      gre_sequence;
    vxlan_t     vxlan;
    geneve_t    geneve;
    gtpu_t      gtpu;
    word_t      gtpu_options;
    ethernet_t  tenant_eth;
    vlan_t      tenant_vlan;
    ipv4_t      tenant_ipv4;
    ipv6_t      tenant_ipv6;
    tcp_t       tenant_tcp;
    udp_t       tenant_udp;
    icmp_t      tenant_icmp;
}

const bit<16> TYPE_PPPOE = 0x8864;
const bit<16> TYPE_BRIDGED = 0x6558;
const bit<16> PPP_IPV4 = 0x0021;
const bit<16> PPP_IPV6 = 0x0057;
const bit<8>  PROTOCOL_HOP_BY_HOP = 0;
const bit<8>  PROTOCOL_IGMP = 2;
const bit<8>  PROTOCOL_FRAGMENT = 44;
const bit<8>  PROTOCOL_ESP = 50;
const bit<8>  PROTOCOL_AH = 51;
const bit<8>  PROTOCOL_DESTINATION = 60;
const bit<8>  PROTOCOL_SCTP = 132;
const bit<16> PORT_VXLAN = 4789;
const bit<16> PORT_GENEVE = 6081;
const bit<16> PORT_GTPU = 2152;

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            TYPE_VLAN:  outer_vlan;
            TYPE_QINQ:  outer_vlan;
            TYPE_PPPOE: pppoe;
            TYPE_MPLS:  mpls;
            TYPE_IPV4:  ipv4;
            TYPE_IPV6:  ipv6;
            default:    accept;
        }
    }
    state outer_vlan {
        packet.extract(hdr.outer_vlan);
        transition select(hdr.outer_vlan.type) {
            TYPE_VLAN:  inner_vlan;
            TYPE_PPPOE: pppoe;
            TYPE_MPLS:  mpls;
            TYPE_IPV4:  ipv4;
            TYPE_IPV6:  ipv6;
            default:    accept;
        }
    }
    state inner_vlan {
        packet.extract(hdr.inner_vlan);
        transition select(hdr.inner_vlan.type) {
            TYPE_PPPOE: pppoe;
            TYPE_MPLS:  mpls;
            TYPE_IPV4:  ipv4;
            TYPE_IPV6:  ipv6;
            default:    accept;
        }
    }
    state pppoe {
        packet.extract(hdr.pppoe);
        transition select(hdr.pppoe.code, hdr.pppoe.protocol) {
            (0, PPP_IPV4): ipv4;
            (0, PPP_IPV6): ipv6;
            default:       accept;
        }
    }
    state mpls {
        packet.extract(hdr.mpls.next);
        transition select(hdr.mpls.last.bottom) {
            0:       mpls;
            default: labelled;
        }
    }
    state labelled {
        transition select(packet.lookahead<bit<4>>()) {
            4:       ipv4;
            6:       ipv6;
            default: accept;
        }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        verify(hdr.ipv4.version == 4 && hdr.ipv4.ihl >= 5, error.ParserInvalidArgument);
        transition select(hdr.ipv4.ihl) {
            5:       ipv4_protocol;
            default: ipv4_options;
        }
    }
    state ipv4_options {
        packet.extract(hdr.ipv4_options, ((bit<32>)hdr.ipv4.ihl - 5) << 5);
        transition ipv4_protocol;
    }
    state ipv4_protocol {
        transition select(hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (0, PROTOCOL_TCP):  tcp;
            (0, PROTOCOL_UDP):  udp;
            (0, PROTOCOL_ICMP): icmp;
            (0, PROTOCOL_IGMP): igmp;
            (0, PROTOCOL_SCTP): sctp;
            (0, PROTOCOL_GRE):  gre;
            (0, PROTOCOL_ESP):  esp;
            (0, PROTOCOL_AH):   ah;
            (0, PROTOCOL_IPV4): tenant_ipv4;
            (0, PROTOCOL_IPV6): tenant_ipv6;
            default:            accept;
        }
    }
    state ipv6 {
        packet.extract(hdr.ipv6);
        verify(hdr.ipv6.version == 6, error.ParserInvalidArgument);
        transition select(hdr.ipv6.next_header) {
            PROTOCOL_HOP_BY_HOP:  hop_by_hop;
            PROTOCOL_ROUTING:     routing;
            PROTOCOL_FRAGMENT:    fragment;
            PROTOCOL_DESTINATION: destination;
            PROTOCOL_TCP:         tcp;
            PROTOCOL_UDP:         udp;
            PROTOCOL_ICMPV6:      icmp;
            PROTOCOL_SCTP:        sctp;
            PROTOCOL_GRE:         gre;
            PROTOCOL_ESP:         esp;
            PROTOCOL_AH:          ah;
            PROTOCOL_IPV4:        tenant_ipv4;
            PROTOCOL_IPV6:        tenant_ipv6;
            default:              accept;
        }
    }
    // In the order in which RFC 8200 wants them; any other order ends what is understood.
    state hop_by_hop {
        bit<8> length = packet.lookahead<bit<16>>()[7:0];
        packet.extract(hdr.hop_by_hop, ((bit<32>)length << 6) + 48);
        transition select(hdr.hop_by_hop.next_header) {
            PROTOCOL_ROUTING:     routing;
            PROTOCOL_FRAGMENT:    fragment;
            PROTOCOL_DESTINATION: destination;
            PROTOCOL_TCP:         tcp;
            PROTOCOL_UDP:         udp;
            PROTOCOL_ICMPV6:      icmp;
            default:              accept;
        }
    }
    state routing {
        bit<8> length = packet.lookahead<bit<16>>()[7:0];
        packet.extract(hdr.routing, ((bit<32>)length << 6) + 48);
        transition select(hdr.routing.next_header) {
            PROTOCOL_FRAGMENT:    fragment;
            PROTOCOL_DESTINATION: destination;
            PROTOCOL_TCP:         tcp;
            PROTOCOL_UDP:         udp;
            PROTOCOL_ICMPV6:      icmp;
            PROTOCOL_IPV4:        tenant_ipv4;
            PROTOCOL_IPV6:        tenant_ipv6;
            default:              accept;
        }
    }
    state fragment {
        packet.extract(hdr.fragment);
        transition select(hdr.fragment.offset, hdr.fragment.next_header) {
            (0, PROTOCOL_DESTINATION): destination;
            (0, PROTOCOL_TCP):         tcp;
            (0, PROTOCOL_UDP):         udp;
            (0, PROTOCOL_ICMPV6):      icmp;
            default:                   accept;
        }
    }
    state destination {
        bit<8> length = packet.lookahead<bit<16>>()[7:0];
        packet.extract(hdr.destination, ((bit<32>)length << 6) + 48);
        transition select(hdr.destination.next_header) {
            PROTOCOL_TCP:    tcp;
            PROTOCOL_UDP:    udp;
            PROTOCOL_ICMPV6: icmp;
            PROTOCOL_SCTP:   sctp;
            PROTOCOL_IPV4:   tenant_ipv4;
            PROTOCOL_IPV6:   tenant_ipv6;
            default:         accept;
        }
    }
    state ah {
        bit<8> length = packet.lookahead<bit<16>>()[7:0];
        verify(length >= 1, error.HeaderTooShort);
        packet.extract(hdr.ah, ((bit<32>)length - 1) << 5);
        transition select(hdr.ah.next_header) {
            PROTOCOL_TCP:    tcp;
            PROTOCOL_UDP:    udp;
            PROTOCOL_ICMP:   icmp;
            PROTOCOL_ICMPV6: icmp;
            PROTOCOL_IPV4:   tenant_ipv4;
            PROTOCOL_IPV6:   tenant_ipv6;
            default:         accept;
        }
    }
    state esp {
        packet.extract(hdr.esp);
        transition accept;
    }
    state tcp {
        packet.extract(hdr.tcp);
        transition accept;
    }
    state icmp {
        packet.extract(hdr.icmp);
        transition accept;
    }
    state igmp {
        packet.extract(hdr.igmp);
        transition accept;
    }
    state sctp {
        packet.extract(hdr.sctp);
        transition accept;
    }
    state udp {
        packet.extract(hdr.udp);
        transition select(hdr.udp.dst_port) {
            PORT_VXLAN:  vxlan;
            PORT_GENEVE: geneve;
            PORT_GTPU:   gtpu;
            default:     accept;
        }
    }
    state gre {
        packet.extract(hdr.gre);
        transition select(hdr.gre.has_checksum, hdr.gre.has_routing, hdr.gre.version) {
            (0, 0, 0): gre_key;
            (1, 0, 0): gre_checksum;
            default:   accept;
        }
    }
    state gre_checksum {
        packet.extract(hdr.gre_checksum);
        transition gre_key;
    }
    state gre_key {
        transition select(hdr.gre.has_key, hdr.gre.has_sequence) {
            (0, 0): gre_protocol;
            (0, 1): gre_sequence;
            (1, _): gre_key_word;
        }
    }
    state gre_key_word {
        packet.extract(hdr.gre_key);
        transition select(hdr.gre.has_sequence) {
            0: gre_protocol;
            1: gre_sequence;
        }
    }
    state gre_sequence {
        packet.extract(hdr.gre_sequence);
        transition gre_protocol;
    }
    state gre_protocol {
        transition select(hdr.gre.type) {
            TYPE_IPV4:    tenant_ipv4;
            TYPE_IPV6:    tenant_ipv6;
            TYPE_BRIDGED: tenant_eth;
            default:      accept;
        }
    }
    state vxlan {
        packet.extract(hdr.vxlan);
        transition tenant_eth;
    }
    state geneve {
        bit<8> first = packet.lookahead<bit<8>>();
        packet.extract(hdr.geneve, (bit<32>)first[5:0] << 5);
        transition select(hdr.geneve.version, hdr.geneve.type) {
            (0, TYPE_BRIDGED): tenant_eth;
            (0, TYPE_IPV4):    tenant_ipv4;
            (0, TYPE_IPV6):    tenant_ipv6;
            default:           accept;
        }
    }
    state gtpu {
        packet.extract(hdr.gtpu);
        transition select(hdr.gtpu.version, hdr.gtpu.protocol_type, hdr.gtpu.message, hdr.gtpu.flags) {
            (1, 1, 255, 0): gtpu_packet;
            (1, 1, 255, _): gtpu_options;
            default:        accept;
        }
    }
    // Sequence number and the like; extensions behind them are not followed.
    state gtpu_options {
        packet.extract(hdr.gtpu_options);
        transition select(hdr.gtpu_options.value[7:0]) {
            0:       gtpu_packet;
            default: accept;
        }
    }
    state gtpu_packet {
        transition select(packet.lookahead<bit<4>>()) {
            4:       tenant_ipv4;
            6:       tenant_ipv6;
            default: accept;
        }
    }
    state tenant_eth {
        packet.extract(hdr.tenant_eth);
        transition select(hdr.tenant_eth.type) {
            TYPE_VLAN: tenant_vlan;
            TYPE_IPV4: tenant_ipv4;
            TYPE_IPV6: tenant_ipv6;
            default:   accept;
        }
    }
    state tenant_vlan {
        packet.extract(hdr.tenant_vlan);
        transition select(hdr.tenant_vlan.type) {
            TYPE_IPV4: tenant_ipv4;
            TYPE_IPV6: tenant_ipv6;
            default:   accept;
        }
    }
    state tenant_ipv4 {
        packet.extract(hdr.tenant_ipv4);
        transition select(hdr.tenant_ipv4.ihl, hdr.tenant_ipv4.frag_offset, hdr.tenant_ipv4.protocol) {
            (5, 0, PROTOCOL_TCP):  tenant_tcp;
            (5, 0, PROTOCOL_UDP):  tenant_udp;
            (5, 0, PROTOCOL_ICMP): tenant_icmp;
            default:               accept;
        }
    }
    state tenant_ipv6 {
        packet.extract(hdr.tenant_ipv6);
        transition select(hdr.tenant_ipv6.next_header) {
            PROTOCOL_TCP:    tenant_tcp;
            PROTOCOL_UDP:    tenant_udp;
            PROTOCOL_ICMPV6: tenant_icmp;
            default:         accept;
        }
    }
    state tenant_tcp {
        packet.extract(hdr.tenant_tcp);
        transition accept;
    }
    state tenant_udp {
        packet.extract(hdr.tenant_udp);
        transition accept;
    }
    state tenant_icmp {
        packet.extract(hdr.tenant_icmp);
        transition accept;
    }
}

control classify(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    // How a packet is packed: the indices of `packed`.
    const bit<8> PLAIN = 0;
    const bit<8> IN_IP = 1;
    const bit<8> IN_GRE = 2;
    const bit<8> IN_VXLAN = 3;
    const bit<8> IN_GENEVE = 4;
    const bit<8> IN_GTPU = 5;
    const bit<8> ENCRYPTED = 6;

    CounterArray(8, false) packed;
    CounterArray(64, false) classes;

    bit<128> src = 0;
    bit<128> dst = 0;
    bit<8>   protocol = 0;
    bit<16>  src_port = 0;
    bit<16>  dst_port = 0;
    bit<24>  segment = 0;
    bit<8>   packing = PLAIN;

    action mark(bit<6> class) {
        classes.increment((bit<32>)class);
        if (hdr.ipv4.isValid()) {
            bit<16> old = hdr.ipv4.version ++ hdr.ipv4.ihl ++ hdr.ipv4.dscp ++ hdr.ipv4.ecn;
            bit<16> new = hdr.ipv4.version ++ hdr.ipv4.ihl ++ class ++ hdr.ipv4.ecn;
            hdr.ipv4.checksum = csum_replace2(hdr.ipv4.checksum, old, new);
            hdr.ipv4.dscp = class;
        } else if (hdr.ipv6.isValid()) {
            hdr.ipv6.dscp = class;
        }
    }

    action drop() {
        xout.output_action = xdp_action.XDP_DROP;
    }

    // Known flows, wherever they run.
    table flows {
        key = {
            src      : exact @name("src");
            dst      : exact @name("dst");
            protocol : exact @name("protocol");
            src_port : exact @name("src_port");
            dst_port : exact @name("dst_port");
        }
        actions = { mark; drop; NoAction; }
        default_action = NoAction();
        size = 65536;
    }

    // Everything else, by rules.
    table rules {
        key = {
            packing  : ternary @name("packing");
            segment  : ternary @name("segment");
            protocol : ternary @name("protocol");
            dst_port : ternary @name("dst_port");
        }
        actions = { mark; drop; NoAction; }
        default_action = NoAction();
        size = 256;
    }

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_PASS;

        if (hdr.vxlan.isValid()) {
            packing = IN_VXLAN;
            segment = hdr.vxlan.vni;
        } else if (hdr.geneve.isValid()) {
            packing = IN_GENEVE;
            segment = hdr.geneve.vni;
        } else if (hdr.gtpu.isValid()) {
            packing = IN_GTPU;
            segment = hdr.gtpu.teid[23:0];
        } else if (hdr.gre.isValid()) {
            packing = IN_GRE;
            if (hdr.gre_key.isValid()) {
                segment = hdr.gre_key.value[23:0];
            }
        } else if (hdr.esp.isValid()) {
            packing = ENCRYPTED;
        } else if (hdr.tenant_ipv4.isValid() || hdr.tenant_ipv6.isValid()) {
            packing = IN_IP;
        }

        if (hdr.tenant_ipv4.isValid()) {
            src = (bit<128>)hdr.tenant_ipv4.src;
            dst = (bit<128>)hdr.tenant_ipv4.dst;
            protocol = hdr.tenant_ipv4.protocol;
        } else if (hdr.tenant_ipv6.isValid()) {
            src = hdr.tenant_ipv6.src;
            dst = hdr.tenant_ipv6.dst;
            protocol = hdr.tenant_ipv6.next_header;
        } else if (hdr.ipv4.isValid()) {
            src = (bit<128>)hdr.ipv4.src;
            dst = (bit<128>)hdr.ipv4.dst;
            protocol = hdr.ipv4.protocol;
        } else if (hdr.ipv6.isValid()) {
            src = hdr.ipv6.src;
            dst = hdr.ipv6.dst;
            protocol = hdr.ipv6.next_header;
        } else {
            return;
        }
        // What the extension headers lead to.
        if (hdr.tenant_tcp.isValid()) {
            src_port = hdr.tenant_tcp.src_port;
            dst_port = hdr.tenant_tcp.dst_port;
        } else if (hdr.tenant_udp.isValid()) {
            src_port = hdr.tenant_udp.src_port;
            dst_port = hdr.tenant_udp.dst_port;
        } else if (hdr.tenant_icmp.isValid()) {
            src_port = hdr.tenant_icmp.type ++ hdr.tenant_icmp.code;
        } else if (!hdr.tenant_ipv4.isValid() && !hdr.tenant_ipv6.isValid()) {
            if (hdr.tcp.isValid()) {
                src_port = hdr.tcp.src_port;
                dst_port = hdr.tcp.dst_port;
                protocol = PROTOCOL_TCP;
            } else if (hdr.udp.isValid()) {
                src_port = hdr.udp.src_port;
                dst_port = hdr.udp.dst_port;
                protocol = PROTOCOL_UDP;
            } else if (hdr.sctp.isValid()) {
                src_port = hdr.sctp.src_port;
                dst_port = hdr.sctp.dst_port;
                protocol = PROTOCOL_SCTP;
            } else if (hdr.icmp.isValid()) {
                src_port = hdr.icmp.type ++ hdr.icmp.code;
                protocol = hdr.ipv4.isValid() ? PROTOCOL_ICMP : PROTOCOL_ICMPV6;
            } else if (hdr.igmp.isValid()) {
                src_port = hdr.igmp.type ++ 8w0;
            }
        }

        packed.increment((bit<32>)packing);
        if (!flows.apply().hit) {
            rules.apply();
        }
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr);
    }
}

xdp(prs(), classify(), dprs()) main;
