//! Digests of `v1model`: each call names a digest of the program.

use crate::support::{Outcome, compile};
use ir::{ExprKind, ExternArg, StmtKind, visit};

const PROGRAM: &str = "#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<16> b; }
struct headers_t { h_t h; }
struct seen_t { bit<8> a; bit<16> b; }
struct of_t<T> { T value; }
struct meta_t { }
parser p(packet_in packet, out headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    state start { packet.extract(hdr.h); transition accept; }
}
control v(inout headers_t hdr, inout meta_t m) { apply { } }
control i(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    apply {
        digest<seen_t>(1, { hdr.h.a, hdr.h.b });
        digest<tuple<bit<8>>>(1, { hdr.h.a });
        digest<tuple<bit<16>>>(1, { hdr.h.b });
        digest<seen_t>(2, { 7, hdr.h.b });
        digest<tuple<bit<16>>>(1, { 7 });
        digest<of_t<bit<8>>>(1, { hdr.h.a });
        digest<of_t<bit<16>>>(1, { hdr.h.b });
    }
}
control e(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) { apply { } }
control k(inout headers_t hdr, inout meta_t m) { apply { } }
control d(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.h); } }
V1Switch(p(), v(), i(), e(), k(), d()) main;";

#[test]
fn what_differs_has_a_number_and_a_name_of_its_own() {
    let program = match compile("test.p4", PROGRAM) {
        Outcome::Program(program, _) => program,
        Outcome::Refused(_, why) | Outcome::Unchecked(why) | Outcome::Broken(why) => {
            panic!("{why}")
        }
    };
    let digests = program.digests.iter();
    let digests = digests.map(|digest| {
        let widths = digest.fields.iter().map(|(_, ty)| ty.width());
        (digest.name.as_str(), widths.collect::<Vec<_>>())
    });
    let expected = [
        ("seen_t", vec![8, 16]),
        ("digest", vec![8]),
        ("digest_2", vec![16]),
        ("of_t", vec![8]),
        ("of_t_2", vec![16]),
    ];
    assert_eq!(digests.collect::<Vec<_>>(), expected);
    let mut numbers = Vec::new();
    for body in visit::bodies(&program) {
        visit::walk_block(body, &mut |stmt| {
            if let StmtKind::Extern(call) = &stmt.kind
                && let Some(ExternArg::In(last)) = call.args.last()
                && let ExprKind::Const(number) = &program.exprs[last[0]].kind
            {
                numbers.push(number.to_u64().expect("it is small"));
            }
        });
    }
    assert_eq!(numbers, [0, 1, 2, 0, 2, 3, 4]);
}
