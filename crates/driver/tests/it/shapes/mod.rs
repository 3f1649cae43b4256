//! Large programs of one shape each.

use driver::{Elaborated, Input};
use std::fmt::Write as _;

/// Returns a program whose parser has `count` states, which extract `extracted` headers in turn. State `i` leads to
/// the states `i + followers[…]`. The control changes each header.
pub(crate) fn states(count: usize, extracted: usize, followers: &[usize]) -> Elaborated {
    let mut states = String::new();
    let mut changes = String::new();
    for i in 0..count {
        let h = i % extracted;
        let _ = write!(
            states,
            "    state s{i} {{ packet.extract(hdr.h{h}); transition select(hdr.h{h}.next) {{ "
        );
        for (value, by) in followers.iter().enumerate() {
            if i + by < count {
                let _ = write!(states, "{value}: s{}; ", i + by);
            }
        }
        let _ = writeln!(states, "default: accept; }} }}");
    }
    for i in 0..extracted {
        let _ = writeln!(
            changes,
            "        if (hdr.h{i}.isValid()) {{ hdr.h{i}.sum = hdr.h{i}.sum + 1; }}"
        );
    }
    program(&states, extracted, "", &changes)
}

/// Returns a program with these states from `s0` on, this many headers, and these declarations and statements in its
/// control.
pub(crate) fn program(states: &str, headers: usize, declared: &str, done: &str) -> Elaborated {
    let list = |line: &dyn Fn(usize) -> String| (0..headers).map(line).collect::<String>();
    let fields = list(&|i| format!("    next_t h{i};\n"));
    let emits = list(&|i| format!("        packet.emit(hdr.h{i});\n"));
    let text = format!(
        "#include <core.p4>
#include <xdp_model.p4>
header next_t {{ bit<8> next; bit<8> other; bit<16> sum; bit<32> rest; }}
struct headers_t {{
{fields}}}
parser prs(packet_in packet, out headers_t hdr) {{
    state start {{ transition s0; }}
{states}}}
control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {{
{declared}    apply {{
        xout.output_action = xdp_action.XDP_PASS;
        xout.output_port = 0;
{done}    }}
}}
control dep(in headers_t hdr, packet_out packet) {{
    apply {{
{emits}    }}
}}
xdp(prs(), sw(), dep()) main;
"
    );
    elaborate(&text)
}

/// Elaborates the text of a program.
pub(crate) fn elaborate(text: &str) -> Elaborated {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("program.p4");
    std::fs::write(&file, text).expect("written");
    driver::elaborate(&Input::file(file))
        .ok()
        .expect("a program")
}

/// Returns a program with `count` conditions in a row. Each changes a header that the next ones read.
pub(crate) fn conditions(count: usize) -> Elaborated {
    let mut done = String::new();
    for i in 0..count {
        let bit = i % 32;
        let _ = writeln!(
            done,
            "        if (hdr.h0.rest[{bit}:{bit}] == 1) {{ hdr.h0.sum = hdr.h0.sum + {i}; }}"
        );
    }
    let state = "    state s0 { packet.extract(hdr.h0); transition accept; }\n";
    program(state, 1, "", &done)
}

/// Returns a program with `count` tables, which have the same key and several similar actions each.
pub(crate) fn tables(count: usize) -> Elaborated {
    let mut tables = String::new();
    let mut applied = String::new();
    for i in 0..count {
        let _ = writeln!(
            tables,
            "    action a{i}(bit<16> v) {{ hdr.h0.sum = hdr.h0.sum ^ v; hdr.h0.rest = hdr.h0.rest + {i}; }}
    action b{i}(bit<16> v) {{ hdr.h0.sum = hdr.h0.sum ^ v; hdr.h0.rest = hdr.h0.rest - {i}; }}
    table t{i} {{ key = {{ hdr.h0.rest : exact; }} actions = {{ a{i}; b{i}; NoAction; }} }}"
        );
        let _ = writeln!(applied, "        t{i}.apply();");
    }
    let state = "    state s0 { packet.extract(hdr.h0); transition accept; }\n";
    program(state, 1, &tables, &applied)
}

/// Returns a program with `count` large counters and `count` large tables.
pub(crate) fn large_maps(count: usize) -> Elaborated {
    let (mut maps, mut applied) = (String::new(), String::new());
    for i in 0..count {
        let _ = writeln!(
            maps,
            "    CounterArray(5000, false) c{i};
    action a{i}(bit<16> v) {{ hdr.h0.sum = hdr.h0.sum ^ v; }}
    @layout(\"hash_map\") table t{i} {{ key = {{ hdr.h0.rest : exact; }} actions = {{ a{i}; NoAction; }} size = 100000; }}"
        );
        let _ = writeln!(applied, "        c{i}.increment({i}); t{i}.apply();");
    }
    let state = "    state s0 { packet.extract(hdr.h0); transition accept; }\n";
    program(state, 1, &maps, &applied)
}

/// Returns a program with `count` states of `cases` cases each, which lead to later states. If `alike`, all cases of
/// a state lead to the same one, and clang may merge equal states.
pub(crate) fn wide(count: usize, cases: usize, alike: bool) -> Elaborated {
    let mut states = String::new();
    for i in 0..count {
        let _ = write!(
            states,
            "    state s{i} {{ packet.extract(hdr.h0); transition select(hdr.h0.rest) {{ "
        );
        for case in 0..cases {
            let (value, by) = match alike {
                true => (case * 3, 1),
                false => (i * 7 + case * 3, case + 1),
            };
            if i + by < count {
                let _ = write!(states, "{value}: s{}; ", i + by);
            }
        }
        let _ = writeln!(states, "default: accept; }} }}");
    }
    program(&states, 1, "", "        hdr.h0.sum = hdr.h0.sum + 1;\n")
}

/// Returns a program with `count` states as a tree: each leads to four others, which no other state leads to.
pub(crate) fn tree(count: usize) -> Elaborated {
    let mut states = String::new();
    for i in 0..count {
        let _ = write!(
            states,
            "    state s{i} {{ packet.extract(hdr.h{}); transition select(hdr.h{}.next) {{ ",
            i % 8,
            i % 8
        );
        for next in (4 * i + 1..4 * i + 5).filter(|next| *next < count) {
            let _ = write!(states, "{next}: s{next}; ");
        }
        let _ = writeln!(states, "default: accept; }} }}");
    }
    program(&states, 8, "", "        hdr.h0.sum = hdr.h0.sum + 1;\n")
}

/// Returns a program with `count` states, most of which do little and which lead to any later states, and as many
/// conditions after the parser.
pub(crate) fn mixed(count: usize) -> Elaborated {
    let mut states = String::new();
    let mut done = String::new();
    for i in 0..count {
        let does = match i % 5 {
            0 => "packet.extract(hdr.h0);".to_owned(),
            1 => format!("packet.extract(hdr.h1); hdr.h1.sum = {i};"),
            2 => "packet.advance(32);".to_owned(),
            _ => String::new(),
        };
        let _ = write!(
            states,
            "    state s{i} {{ {does} transition select(packet.lookahead<bit<16>>()) {{ "
        );
        for case in 1..4 {
            let next = i + 1 + i * case * 31 % (count - i);
            if next < count {
                let _ = write!(states, "{}: s{next}; ", i * 5 + case);
            }
        }
        let _ = writeln!(states, "default: s{}; }} }}", i + 1);
        let bit = i % 32;
        let _ = writeln!(
            done,
            "        if (hdr.h0.rest[{bit}:{bit}] == 1) {{ hdr.h0.sum = hdr.h0.sum + {i}; }}"
        );
    }
    let _ = writeln!(states, "    state s{count} {{ transition accept; }}");
    program(&states, 2, "", &done)
}

/// A state that extracts one header and accepts.
const ONE_STATE: &str = "    state s0 { packet.extract(hdr.h0); transition accept; }\n";

/// Returns a program with a chain of `count` states without headers. Each reads the next byte, and leads to the next
/// state or accepts.
pub(crate) fn chain(count: usize) -> Elaborated {
    let mut states = String::new();
    for i in 0..count {
        let _ = writeln!(
            states,
            "    state s{i} {{ packet.advance(16); transition select(packet.lookahead<bit<8>>()) {{ {}: s{}; default: accept; }} }}",
            i % 200,
            i + 1
        );
    }
    let _ = writeln!(
        states,
        "    state s{count} {{ packet.extract(hdr.h0); transition accept; }}"
    );
    program(&states, 1, "", "")
}

/// Returns a program with one table of `count` different actions.
pub(crate) fn actions(count: usize) -> Elaborated {
    let mut declared = String::new();
    for i in 0..count {
        let _ = writeln!(
            declared,
            "    action a{i}(bit<16> v) {{ hdr.h0.sum = v + {i}; }}"
        );
    }
    let names: String = (0..count).map(|i| format!("a{i}; ")).collect();
    let _ = writeln!(
        declared,
        "    table t {{ key = {{ hdr.h0.rest : exact; }} actions = {{ {names}NoAction; }} }}"
    );
    program(ONE_STATE, 1, &declared, "        t.apply();\n")
}

/// Returns a program that counts packets under `count` conditions, in an array or, if `sparse`, in a hash map.
pub(crate) fn counters(count: usize, sparse: bool) -> Elaborated {
    let mut done = String::new();
    for i in 0..count {
        let bit = i % 32;
        let _ = writeln!(
            done,
            "        if (hdr.h0.rest[{bit}:{bit}] == 1) {{ c.increment((bit<32>)hdr.h0.sum + {i}); }}"
        );
    }
    let declared = format!("    CounterArray(1024, {sparse}) c;\n");
    program(ONE_STATE, 1, &declared, &done)
}

/// Returns a program with a chain of `count` comparisons, joined by `else`.
pub(crate) fn alternatives(count: usize) -> Elaborated {
    let alternative = |i| {
        let value = i * 13 + 5;
        format!("if (hdr.h0.rest == {value}) {{ hdr.h0.sum = {i}; }}")
    };
    let all: Vec<String> = (0..count).map(alternative).collect();
    program(
        ONE_STATE,
        1,
        "",
        &format!("        {}\n", all.join(" else ")),
    )
}

/// Parts of a `v1model` program with one header, `hdr.h`, whose packets leave by port 1.
#[derive(Clone, Copy, Default)]
pub(crate) struct Switch<'a> {
    /// The header's fields.
    pub fields: &'a str,
    /// The fields of `meta`.
    pub metadata: &'a str,
    /// The declarations of the ingress.
    pub local: &'a str,
    /// The statements of both controls.
    pub ingress: &'a str,
    pub egress: &'a str,
}

/// Returns the text of such a program.
pub(crate) fn switch(parts: &Switch<'_>) -> String {
    let Switch {
        fields,
        metadata,
        local,
        ingress,
        egress,
    } = parts;
    format!(
        "#include <core.p4>
#include <v1model.p4>
header h_t {{ {fields} }}
struct headers_t {{ h_t h; }}
struct metadata_t {{ {metadata} }}
parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {{
    state start {{ packet.extract(hdr.h); transition accept; }}
}}
control checks(inout headers_t hdr, inout metadata_t meta) {{ apply {{ }} }}
control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {{
    {local}
    apply {{ std.egress_spec = 1; {ingress} }}
}}
control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {{
    apply {{ {egress} }}
}}
control dep(packet_out packet, in headers_t hdr) {{ apply {{ packet.emit(hdr.h); }} }}
V1Switch(prs(), checks(), ingress(), egress(), checks(), dep()) main;
"
    )
}
