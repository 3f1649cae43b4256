//! Fields that a packet of `v1model` preserves when it is resubmitted, recirculated or cloned.

use crate::support::{Outcome, compile};
use ir::{ExprKind, ExternArg, StmtKind, visit};

/// Returns a switch with this metadata, and with these statements in ingress.
fn switch(metadata: &str, ingress: &str) -> String {
    format!(
        "#include <core.p4>
#include <v1model.p4>
const bit<8> FIRST = 1;
enum bit<8> List {{ NONE = 0, SECOND = 2 }}
header h_t {{ bit<8> a; }}
struct headers_t {{ h_t h; }}
struct inner_t {{ bit<8> x; @field_list(List.SECOND) bit<8> y; }}
struct holder_t {{ h_t h; }}
struct meta_t {{ {metadata} }}
parser p(packet_in packet, out headers_t hdr, inout meta_t m, inout standard_metadata_t s) {{
    state start {{ transition accept; }}
}}
control v(inout headers_t hdr, inout meta_t m) {{ apply {{ }} }}
control part(inout meta_t given) {{
    apply {{ {} }}
}}
control i(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {{
    part() part_of_it;
    apply {{ {} }}
}}
control e(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {{ apply {{ }} }}
control k(inout headers_t hdr, inout meta_t m) {{ apply {{ }} }}
control d(packet_out packet, in headers_t hdr) {{ apply {{ }} }}
V1Switch(p(), v(), i(), e(), k(), d()) main;",
        if ingress.starts_with("part") {
            PART
        } else {
            ""
        },
        if ingress.starts_with("part") {
            "part_of_it.apply(m);"
        } else {
            ingress
        },
    )
}

const PART: &str = "resubmit({ given.a });";
const FIELDS: &str = "@field_list(FIRST, 3) bit<8> a; @field_list(FIRST) inner_t b; bit<8> c;";

fn program(metadata: &str, ingress: &str) -> (ir::Program, Vec<&'static str>) {
    match compile("test.p4", &switch(metadata, ingress)) {
        Outcome::Program(program, warnings) => {
            (*program, warnings.iter().map(|d| d.code.0).collect())
        }
        Outcome::Refused(_, why) | Outcome::Unchecked(why) | Outcome::Broken(why) => {
            panic!("{why}")
        }
    }
}

/// Returns each list's number and the names of its fields.
fn lists(program: &ir::Program) -> Vec<String> {
    let show = |list: &ir::FieldList| {
        let names = list.vars.iter().map(|&var| program.vars[var].name.as_str());
        format!("{}: {}", list.number, names.collect::<Vec<_>>().join(" "))
    };
    program.field_lists.iter().map(show).collect()
}

/// Returns the extern calls, each with the constant that is its last argument.
fn calls(program: &ir::Program) -> Vec<String> {
    let mut calls = Vec::new();
    for body in visit::bodies(program) {
        visit::walk_block(body, &mut |stmt| {
            let StmtKind::Extern(call) = &stmt.kind else {
                return;
            };
            let Some(ExternArg::In(exprs)) = call.args.last() else {
                return;
            };
            if let ExprKind::Const(bits) = &program.exprs[exprs[0]].kind {
                calls.push(format!("{} {}", call.name, bits.value()));
            }
        });
    }
    calls
}

#[test]
fn annotations_make_lists_and_what_a_struct_has_is_in_its_lists() {
    let (program, warnings) = program(FIELDS, "clone(CloneType.I2E, 5);");
    assert_eq!(
        lists(&program),
        ["1: m.a m.b.x m.b.y", "2: m.b.y", "3: m.a"]
    );
    assert!(program.copies && warnings.is_empty(), "{warnings:?}");
}

#[test]
fn a_packet_that_begins_anew_is_no_copy() {
    let call = "resubmit_preserving_field_list(FIRST); recirculate_preserving_field_list(0);";
    let (program, warnings) = program(FIELDS, call);
    assert!(!program.copies && warnings.is_empty(), "{warnings:?}");
}

#[test]
fn fields_that_a_call_names_become_a_list() {
    let call = "resubmit({ m.a, s.ingress_port, m.a }); recirculate({ m.a, s.ingress_port }); \
                clone3(CloneType.I2E, 1, m.b); resubmit({});";
    let (program, _) = program(FIELDS, call);
    assert_eq!(
        lists(&program)[3..],
        ["256: m.a s.ingress_port", "257: m.b.x m.b.y", "258: "]
    );
    assert_eq!(
        calls(&program),
        [
            "resubmit_preserving_field_list 256",
            "recirculate_preserving_field_list 256",
            "clone_preserving_field_list 257",
            "resubmit_preserving_field_list 258",
        ]
    );
    assert!(program.copies);
}

#[test]
fn a_control_within_may_name_the_fields_that_it_is_given() {
    let (program, _) = program(FIELDS, "part");
    assert_eq!(lists(&program)[3..], ["256: m.a"]);
}

#[test]
fn a_list_without_fields_is_reported_but_for_list_0() {
    let call = |list: &str| format!("resubmit_preserving_field_list({list});");
    assert_eq!(program(FIELDS, &call("7")).1, ["W0553"]);
    assert_eq!(program(FIELDS, &call("0")).1, [""; 0]);
    assert_eq!(program(FIELDS, &call("(bit<8>)List.SECOND")).1, [""; 0]);
}

#[test]
fn what_cannot_be_kept_is_refused() {
    for (metadata, ingress, error) in [
        (
            "@field_list(1) h_t h;",
            "",
            "E0584 a field list has a header",
        ),
        (
            "@field_list(1) holder_t h;",
            "",
            "E0584 a field list has a header",
        ),
        (
            FIELDS,
            "resubmit({ m.a + 1 });",
            "E0585 `resubmit` keeps fields of the metadata",
        ),
        (
            FIELDS,
            "recirculate({ hdr.h.a });",
            "E0585 `recirculate` keeps fields",
        ),
    ] {
        match compile("test.p4", &switch(metadata, ingress)) {
            // Several blocks get the metadata, but the error is reported once.
            Outcome::Refused(_, why) => {
                assert_eq!(why.matches(error).count(), 1, "{ingress}: {why}");
            }
            Outcome::Program(..) => panic!("{metadata} {ingress}: accepted"),
            Outcome::Unchecked(why) | Outcome::Broken(why) => panic!("{why}"),
        }
    }
}
