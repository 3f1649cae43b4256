// SPDX-License-Identifier: Apache-2.0
//
// A pipeline as generators and their macros write it: stages by pasted names, in annotations and conditionals among arguments too,
// tables whose entries come from macros, and a long one.

#include <core.p4>
#include <v1model.p4>

#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)
#define PASTE(a, b) a ## b
#define COUNT(name, more...) counters_##name##.count(more);
#define STAGE_NAME(dir, n) "acl_" ++ TEXT(dir) ++ "_stage" ++ TEXT(n)
#define RULE_KEY(h, field) h##.##field: ternary @Sai[name = TEXT(field), type = "field_" ++ TEXT(field)]
#define STAGE(dir, n, extra_key) \ 
    @Sai[name = STAGE_NAME(dir, n), stage = TEXT(acl.dir.stage##n), order = n] \
    @name(STAGE_NAME(dir, n)) \   
    table dir##_stage##n { \
        key = { \
            meta.dir##_group: exact @name("group"); \
            RULE_KEY(hdr.flow, proto); \
            extra_key \
        } \
        actions = { permit; deny(PASTE(std, )); permit_and_continue; @defaultonly NoAction; } \
        default_action = NoAction(); \
        size = 0; \
    }
#define RUN_STAGE(dir, n) \
    if (!meta.decided) { \
        switch (dir##_stage##n.apply().action_run) { \
            permit: { meta.decided = true; } \
            deny: { meta.decided = true; meta.dropped = true; } \
            default: { COUNT(dir, (bit<32>) 32w##n) } \
        } \
    }
#define CLASS(port, class) port: set_class(class);
#define CLASSES(from, class) CLASS(from##0, class) CLASS(from##1, class) CLASS(from##2 &&& 0xffff, class)

type bit<8> group_t;
type bit<4> class_t;
const group_t NO_GROUP = 0;

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header flow_t {
    bit<8>  inbound;
    group_t group;
    bit<8>  proto;
    bit<16> port;
    bit<8>  class;
    bit<8>  decided;
}

struct headers_t {
    ethernet_t eth;
    flow_t     flow;
}

struct metadata_t {
    group_t inbound_group;
    group_t outbound_group;
    class_t class;
    bool    decided;
    bool    dropped;
}

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.flow);
        transition accept;
    }
}

control vrfy(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

@generated
control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    counter(4, CounterType.packets) counters_inbound;
    counter(4, CounterType.packets) counters_outbound;

    action permit() { }
    action permit_and_continue() { }
    action deny(inout standard_metadata_t s) {
        mark_to_drop(s);
    }
    action set_class(class_t class) {
        meta.class = class;
    }

    STAGE(inbound, 1, )
    STAGE(inbound, 2, RULE_KEY(hdr.flow, port);)
    STAGE(inbound, 3,
#ifdef WITHOUT_PORTS
    RULE_KEY(hdr.flow, class);
#else
    RULE_KEY(hdr.flow, port);
#endif
    )
    STAGE(outbound, 1, )
    STAGE(outbound, 2, RULE_KEY(hdr.flow, port);)

    table classes {
        key = { hdr.flow.port: exact; }
        actions = { set_class; NoAction; }
        const default_action = NoAction();
        const entries = {
            CLASSES(100, 1)
            CLASSES(101, 2)
            CLASSES(20, 3)
            CLASSES(300, 15)
            40000: set_class(1) @priority(0);
            40007: set_class(2) @priority(1);
            40014: set_class(3) @priority(2);
            40021: set_class(4) @priority(3);
            40028: set_class(5) @priority(4);
            40035: set_class(6) @priority(5);
            40042: set_class(7) @priority(6);
            40049: set_class(8) @priority(7);
            40056: set_class(9) @priority(8);
            40063: set_class(10) @priority(9);
            40070: set_class(11) @priority(10);
            40077: set_class(12) @priority(11);
            40084: set_class(13) @priority(12);
            40091: set_class(14) @priority(13);
            40098: set_class(15) @priority(14);
            40105: set_class(1) @priority(15);
            40112: set_class(2) @priority(16);
            40119: set_class(3) @priority(17);
            40126: set_class(4) @priority(18);
            40133: set_class(5) @priority(19);
            40140: set_class(6) @priority(20);
            40147: set_class(7) @priority(21);
            40154: set_class(8) @priority(22);
            40161: set_class(9) @priority(23);
            40168: set_class(10) @priority(24);
            40175: set_class(11) @priority(25);
            40182: set_class(12) @priority(26);
            40189: set_class(13) @priority(27);
            40196: set_class(14) @priority(28);
            40203: set_class(15) @priority(29);
            40210: set_class(1) @priority(30);
            40217: set_class(2) @priority(31);
            40224: set_class(3) @priority(32);
            40231: set_class(4) @priority(33);
            40238: set_class(5) @priority(34);
            40245: set_class(6) @priority(35);
            40252: set_class(7) @priority(36);
            40259: set_class(8) @priority(37);
            40266: set_class(9) @priority(38);
            40273: set_class(10) @priority(39);
            40280: set_class(11) @priority(40);
            40287: set_class(12) @priority(41);
            40294: set_class(13) @priority(42);
            40301: set_class(14) @priority(43);
            40308: set_class(15) @priority(44);
            40315: set_class(1) @priority(45);
            40322: set_class(2) @priority(46);
            40329: set_class(3) @priority(47);
            40336: set_class(4) @priority(48);
            40343: set_class(5) @priority(49);
            40350: set_class(6) @priority(50);
            40357: set_class(7) @priority(51);
            40364: set_class(8) @priority(52);
            40371: set_class(9) @priority(53);
            40378: set_class(10) @priority(54);
            40385: set_class(11) @priority(55);
            40392: set_class(12) @priority(56);
            40399: set_class(13) @priority(57);
            40406: set_class(14) @priority(58);
            40413: set_class(15) @priority(59);
            40420: set_class(1) @priority(60);
            40427: set_class(2) @priority(61);
            40434: set_class(3) @priority(62);
            40441: set_class(4) @priority(63);
            40448: set_class(5) @priority(64);
            40455: set_class(6) @priority(65);
            40462: set_class(7) @priority(66);
            40469: set_class(8) @priority(67);
            40476: set_class(9) @priority(68);
            40483: set_class(10) @priority(69);
            40490: set_class(11) @priority(70);
            40497: set_class(12) @priority(71);
            40504: set_class(13) @priority(72);
            40511: set_class(14) @priority(73);
            40518: set_class(15) @priority(74);
            40525: set_class(1) @priority(75);
            40532: set_class(2) @priority(76);
            40539: set_class(3) @priority(77);
            40546: set_class(4) @priority(78);
            40553: set_class(5) @priority(79);
            40560: set_class(6) @priority(80);
            40567: set_class(7) @priority(81);
            40574: set_class(8) @priority(82);
            40581: set_class(9) @priority(83);
            40588: set_class(10) @priority(84);
            40595: set_class(11) @priority(85);
            40602: set_class(12) @priority(86);
            40609: set_class(13) @priority(87);
            40616: set_class(14) @priority(88);
            40623: set_class(15) @priority(89);
            40630: set_class(1) @priority(90);
            40637: set_class(2) @priority(91);
            40644: set_class(3) @priority(92);
            40651: set_class(4) @priority(93);
            40658: set_class(5) @priority(94);
            40665: set_class(6) @priority(95);
            40672: set_class(7) @priority(96);
            40679: set_class(8) @priority(97);
            40686: set_class(9) @priority(98);
            40693: set_class(10) @priority(99);
            40700: set_class(11) @priority(100);
            40707: set_class(12) @priority(101);
            40714: set_class(13) @priority(102);
            40721: set_class(14) @priority(103);
            40728: set_class(15) @priority(104);
            40735: set_class(1) @priority(105);
            40742: set_class(2) @priority(106);
            40749: set_class(3) @priority(107);
            40756: set_class(4) @priority(108);
            40763: set_class(5) @priority(109);
            40770: set_class(6) @priority(110);
            40777: set_class(7) @priority(111);
            40784: set_class(8) @priority(112);
            40791: set_class(9) @priority(113);
            40798: set_class(10) @priority(114);
            40805: set_class(11) @priority(115);
            40812: set_class(12) @priority(116);
            40819: set_class(13) @priority(117);
            40826: set_class(14) @priority(118);
            40833: set_class(15) @priority(119);
            40840: set_class(1) @priority(120);
            40847: set_class(2) @priority(121);
            40854: set_class(3) @priority(122);
            40861: set_class(4) @priority(123);
            40868: set_class(5) @priority(124);
            40875: set_class(6) @priority(125);
            40882: set_class(7) @priority(126);
            40889: set_class(8) @priority(127);
            40896: set_class(9) @priority(128);
            40903: set_class(10) @priority(129);
            40910: set_class(11) @priority(130);
            40917: set_class(12) @priority(131);
            40924: set_class(13) @priority(132);
            40931: set_class(14) @priority(133);
            40938: set_class(15) @priority(134);
            40945: set_class(1) @priority(135);
            40952: set_class(2) @priority(136);
            40959: set_class(3) @priority(137);
            40966: set_class(4) @priority(138);
            40973: set_class(5) @priority(139);
            40980: set_class(6) @priority(140);
            40987: set_class(7) @priority(141);
            40994: set_class(8) @priority(142);
            41001: set_class(9) @priority(143);
            41008: set_class(10) @priority(144);
            41015: set_class(11) @priority(145);
            41022: set_class(12) @priority(146);
            41029: set_class(13) @priority(147);
            41036: set_class(14) @priority(148);
            41043: set_class(15) @priority(149);
            41050: set_class(1) @priority(150);
            41057: set_class(2) @priority(151);
            41064: set_class(3) @priority(152);
            41071: set_class(4) @priority(153);
            41078: set_class(5) @priority(154);
            41085: set_class(6) @priority(155);
            41092: set_class(7) @priority(156);
            41099: set_class(8) @priority(157);
            41106: set_class(9) @priority(158);
            41113: set_class(10) @priority(159);
        }
    }

    apply {
        std.egress_spec = 1;
        meta.class = 0;
        meta.decided = false;
        meta.dropped = false;
        meta.inbound_group = NO_GROUP;
        meta.outbound_group = 0;
        if (hdr.flow.inbound == 1) {
            meta.inbound_group = hdr.flow.group;
        } else {
            meta.outbound_group = hdr.flow.group;
        }
        classes.apply();
        if (meta.inbound_group != 0) {
            RUN_STAGE(inbound, 1)
            RUN_STAGE(inbound, 2)
            RUN_STAGE(inbound, 3)
        } else {
            RUN_STAGE(outbound, 1)
            RUN_STAGE(outbound, 2)
        }
        hdr.flow.class = 4w0 ++ (bit<4>) meta.class;
        hdr.flow.decided = meta.decided ? 8w1 : 0;
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply { }
}

control compute(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control dprs(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.flow);
    }
}

V1Switch(prs(), vrfy(), ingress(), egress(), compute(), dprs()) main;
