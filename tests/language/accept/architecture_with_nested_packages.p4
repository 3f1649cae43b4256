#include <core.p4>
// An architecture like the larger ones: nested packages, overloaded externs, translated types.
typedef bit<32> port_uint_t;
@p4runtime_translation("p4.org/PortId_t", 32)
type port_uint_t port_t;
const port_t CPU = (port_t) 0xfffffffd;
enum algorithm_t { identity, crc16, crc32 }
enum color_t { red, green, yellow }
struct in_t { port_t port; error parser_error; }
struct out_t { bool drop; port_t port; color_t color; }
extern Engine { Engine(); }
extern Register<T, S> {
    Register(bit<32> size);
    Register(bit<32> size, T initial_value);
    @noSideEffects T read(in S index);
    void write(in S index, in T value);
}
extern Hash<O> {
    Hash(algorithm_t algo);
    O get_hash<D>(in D data);
    O get_hash<T, D>(in T base, in D data, in T max);
}
extern Meter<S> {
    Meter(bit<32> n, algorithm_t kind);
    color_t execute(in S index, in color_t color);
    color_t execute(in S index);
}
extern Checksum { Checksum(); void clear(); void add<T>(in T data); bit<16> get(); }
extern Digest<T> { Digest(); void pack(in T data); }
parser in_parser<H, M>(packet_in buffer, out H hdr, inout M meta, in in_t i);
control pipe<H, M>(inout H hdr, inout M meta, in in_t i, inout out_t o);
control in_deparser<H, M>(packet_out buffer, inout H hdr, in M meta, in out_t o);
package Pipeline<H, M>(in_parser<H, M> p, pipe<H, M> c, in_deparser<H, M> d);
package Switch<IH, IM, EH, EM>(Pipeline<IH, IM> ingress, Engine e, Pipeline<EH, EM> egress, @optional Engine f);

header eth_t { bit<48> dst; bit<48> src; bit<16> type; }
struct hs_t { eth_t eth; }
struct meta_t { bit<16> sum; }
struct learn_t { bit<48> src; port_t port; }
parser P(packet_in buffer, out hs_t hdr, inout meta_t meta, in in_t i) {
    state start {
        buffer.extract(hdr.eth);
        meta.sum = 0;
        transition select(i.port) { CPU: accept; (port_t) 5: accept; _: accept; }
    }
}
control C(inout hs_t hdr, inout meta_t meta, in in_t i, inout out_t o) {
    Register<bit<32>, port_t>(512) last;
    Register<bit<32>, port_t>(512, 7) other;
    Hash<bit<16>>(algorithm_t.crc16) h;
    Meter<bit<8>>(16, algorithm_t.identity) m;
    Checksum() ck;
    Digest<learn_t>() learn;
    action forward(port_t port) { o.port = port; o.drop = false; learn.pack({ hdr.eth.src, i.port }); }
    table t {
        key = { hdr.eth.dst: exact; i.port: exact; }
        actions = { forward; NoAction; }
        const entries = { (1, (port_t) 2): forward(CPU); (2, CPU): NoAction; }
    }
    apply {
        last.write(i.port, other.read(i.port) + 1);
        meta.sum = h.get_hash({ hdr.eth.src, hdr.eth.dst });
        meta.sum = h.get_hash(16w0, hdr.eth, 16w100);
        if (m.execute(1) == color_t.red || m.execute(1, color_t.green) != color_t.red) { o.drop = true; }
        ck.clear();
        ck.add({ hdr.eth.src, hdr.eth.dst, meta.sum });
        meta.sum = ck.get();
        if (!t.apply().hit && i.parser_error == error.NoError) { o.color = color_t.yellow; }
    }
}
control D(packet_out buffer, inout hs_t hdr, in meta_t meta, in out_t o) { apply { buffer.emit(hdr); } }
Pipeline(P(), C(), D()) ingress;
Switch(ingress, Engine(), Pipeline(P(), C(), D())) main;
