#include <core.p4>
// An architecture whose tables grow by themselves, as network cards have them.
type bit<8> time_t;
enum way_t { in_from_network, out_to_network }
struct main_t { way_t way; bit<32> port; }
extern void drop_packet();
extern void send(in bit<32> port);
extern bool add_entry<T>(string action_name, in T parameters, in time_t expires_after);
extern void keep_entry(in time_t expires_after);
extern T by_way<T>(in way_t way, in T inwards, in T outwards);
parser parser_t<H, M>(packet_in packet, out H hdr, inout M meta, in main_t main_in);
control pre_t<H, M>(in H hdr, inout M meta);
control control_t<H, M>(inout H hdr, inout M meta, in main_t main_in);
control deparser_t<H, M>(packet_out packet, in H hdr, in M meta);
package card_t<PH, PM, H, M>(parser_t<H, M> p, pre_t<PH, PM> pre, control_t<H, M> c, deparser_t<H, M> d);

header tcp_t { bit<16> src; bit<16> dst; bit<32> seq; bit<8> flags; }
struct hs_t { tcp_t tcp; }
struct m_t { }
struct hit_parameters_t { }
const time_t NEW = (time_t) 1;
parser P(packet_in packet, out hs_t hdr, inout m_t meta, in main_t main_in) {
    state start { packet.extract(hdr.tcp); transition accept; }
}
control Pre(in hs_t hdr, inout m_t meta) { apply { } }
control C(inout hs_t hdr, inout m_t meta, in main_t main_in) {
    bool adds;
    bool added;
    time_t expires;
    action hit() {
#ifdef WITHOUT_IF
        keep_both(adds, expires);
#else
        if (adds) { keep_entry(expires); } else { }
#endif // WITHOUT_IF
    }
    action miss() {
        if (adds) {
            added = add_entry(action_name = "hit", parameters = (hit_parameters_t) {}, expires_after = expires);
        } else { drop_packet(); }
    }
    table connections {
        key = {
            by_way(main_in.way, hdr.tcp.src, hdr.tcp.dst): exact @name("here");
            by_way(main_in.way, hdr.tcp.dst, hdr.tcp.src):
                exact @name("there");
        }
        actions = { @tableonly hit; @defaultonly miss; }
        add_on_miss = true;
        idle_timeout_of_added_entries = 1;
        const default_action = miss;
    }
    apply {
        adds = hdr.tcp.flags & 2 != 0;
        expires = NEW;
        connections.apply();
        if (!added) { send(main_in.port); }
    }
}
control D(packet_out packet, in hs_t hdr, in m_t meta) { apply { packet.emit(hdr); } }
card_t(
    P(),
    Pre(),
    C(),
    D()
    // , and a second parser, which is not there yet
) main;
