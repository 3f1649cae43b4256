#include <core.p4>
// An architecture whose registers run methods of the program, as switches have them.
@intrinsic header arrival_t { bit<1> again; @padding bit<6> pad; bit<9> port; }
struct leaving_t { bit<9> port; bit<3> drop; }
enum function_t { identity, crc16 }
extern polynomial_t<T> { polynomial_t(T coefficients, bool reversed, T start); }
extern hash_t<W> {
    hash_t(function_t f);
    hash_t(function_t f, polynomial_t<_> p);
    W get<D>(in D data);
}
extern random_t<W> { random_t(); W get(); }
extern register_t<T, I> { register_t(bit<32> size); register_t(bit<32> size, T initial); T read(in I index); }
extern update_t<T, I, R> {
    update_t(register_t<T, I> cells);
    R execute(in I index);
    @synchronous(execute) abstract void apply(inout T value, @optional out R result, @optional out R second);
}
extern direct_t<T> { direct_t(); }
extern direct_update_t<T, R> { direct_update_t(direct_t<T> cells); R execute(); abstract void apply(inout T value, @optional out R result); }
extern again_t { again_t(); again_t(bit<3> kind); void emit<T>(in T header_of); }
parser in_t<H, M>(packet_in packet, out H hdr, out M meta, @optional out arrival_t arrival);
control work_t<H, M>(inout H hdr, inout M meta, @optional in arrival_t arrival, @optional inout leaving_t leaving);
control out_t<H, M>(packet_out packet, inout H hdr, in M meta, @optional in leaving_t leaving);
package pipe_t<H, M>(in_t<H, M> p, work_t<H, M> w, out_t<H, M> o);
package switch_t<H0, M0, H1, M1>(pipe_t<H0, M0> first, @optional pipe_t<H1, M1> second);

#define ONLY(a) table only_##a { actions = { a; } default_action = a(); size = 1; }
header eth_t { bit<48> dst; bit<48> src; bit<16> type; }
struct hs_t { eth_t eth; }
@size_of("m_t", "count", 32)
struct m_t { bit<32> count; bit<16> place; bool seen; }
struct none_t { }
struct pair_t { bit<32> first; bit<32> second; }
parser P(packet_in packet, out hs_t hdr, out m_t meta, out arrival_t arrival) {
    state start {
        meta = ...;
        packet.extract(arrival);
        transition select(arrival.again) { 1: reject; 0: port; }
    }
    state port { packet.advance(64); packet.extract(hdr.eth); transition select(hdr.eth.type) { default: accept; } }
}
control W(inout hs_t hdr, inout m_t meta, in arrival_t arrival, inout leaving_t leaving) {
    const bit<32> SIZE = 1 << 10;
    hash_t<bit<16>>(function_t.crc16, polynomial_t<bit<16>>(16w0x8005, false, 0)) place;
    hash_t<bit<32>>(function_t.identity) copy;
    random_t<bit<12>>() dice;
    register_t<pair_t, bit<16>>(size = SIZE, initial = { 5, 7 }) pairs;
    update_t<pair_t, bit<16>, bit<32>>(pairs) count = {
        void apply(inout pair_t value, out bit<32> result) {
            result = value.second;
            value.first = value.first + 1;
            if (meta.seen) { value.second = value.second + 100; }
        }
    };
    register_t<bit<32>, _>(16) cells;
    update_t<bit<32>, _, bit<8>>(cells) smallest = {
        void apply(inout bit<32> value, out bit<8> result) {
            result = 0;
            if ((bool) 1) result = value[7:0];
        }
    };
    update_t<bit<32>, _, bit<8>>(cells) raise = { void apply(inout bit<32> value) { value = value + 1; } };
    direct_t<pair_t>() direct;
    direct_update_t<pair_t, bit<32>>(direct) mine = { void apply(inout pair_t value, out bit<32> result) { result = value.first; } };
    action find() { meta.place = (bit<16>) place.get({ 3w2, hdr.eth.src, 5w0, hdr.eth.dst }); }
    action step() { meta.count = count.execute(meta.place); }
    action direct_step() { mine.execute(); }
    ONLY(find)
    @stage(3)
    ONLY(step)
    @stage(4) table t { key = { hdr.eth.src: exact; } actions = { direct_step; } size = 1024; registers = direct; }
    #undef ONLY
    #define ONLY(a) only_##a.apply()
    apply {
        ONLY(find);
        ONLY(step);
        t.apply();
        bool again = (bool) arrival.again;
        hdr.eth.dst[7:0] = smallest.execute(3);
        raise.execute(4);
        meta.seen = !again && dice.get() != 0 && copy.get({ hdr.eth.type, 16w0 }) != 0;
        leaving.port = arrival.port;
    }
}
control O(packet_out packet, inout hs_t hdr, in m_t meta, in leaving_t leaving) {
    again_t() again;
    apply { if (leaving.drop == 1) { again.emit(hdr.eth); } packet.emit(hdr); }
}
pipe_t(P(), W(), O()) pipe;
switch_t(pipe) main;
