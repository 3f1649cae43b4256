//! Programs that nest as deep as text can are built or refused, never a crash, on a stack of 2 MiB.

use crate::support::{Outcome, compile};
use std::fmt::Write;

const FRAME: &str = "\
#include <core.p4>
#include <xdp_model.p4>
header h_t { bit<8> a; }
struct headers_t { h_t h; }
parser p(packet_in packet, out headers_t hdr) { state start { transition accept; } }
control d(in headers_t hdr, packet_out packet) { apply { } }
";

fn control(body: &str) -> String {
    format!(
        "control c(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {body}
xdp(p(), c(), d()) main;"
    )
}

fn codes(text: &str) -> Vec<&'static str> {
    match compile("deep.p4", text) {
        Outcome::Program(..) => Vec::new(),
        Outcome::Refused(diagnostics, _) => diagnostics.iter().map(|d| d.code.0).collect(),
        Outcome::Unchecked(_) => vec!["unchecked"],
        Outcome::Broken(why) => panic!("{why}"),
    }
}

#[test]
fn long_chains_of_functions_are_refused() {
    let mut text = FRAME.to_owned();
    text += "bit<8> f0(in bit<8> x) { return x; }\n";
    for i in 1..5000 {
        let _ = writeln!(
            text,
            "bit<8> f{i}(in bit<8> x) {{ if (x == 1) {{ return (1 + (2 + f{}(x))); }} return x; }}",
            i - 1
        );
    }
    text += &control("{ apply { hdr.h.a = f4999(hdr.h.a); } }");
    assert_eq!(codes(&text), ["E0563"]);
}

#[test]
fn long_chains_of_controls_are_refused() {
    let mut text = FRAME.to_owned();
    text += "control k0(inout h_t h) { apply { h.a = 1; } }\n";
    for i in 1..5000 {
        let _ = writeln!(
            text,
            "control k{i}(inout h_t h) {{ k{}() k; apply {{ if (h.a == 1) {{ k.apply(h); }} }} }}",
            i - 1
        );
    }
    text += &control("{ k4999() k; apply { k.apply(hdr.h); } }");
    assert_eq!(codes(&text), ["E0563"]);
}

#[test]
fn structs_nested_deep_are_refused() {
    let mut text = FRAME.to_owned();
    text += "struct s0 { bit<8> x; }\n";
    for i in 1..5000 {
        let _ = writeln!(text, "struct s{i} {{ s{} s; }}", i - 1);
    }
    text += &control("{ apply { s4999 s; hdr.h.a = 1; } }");
    assert_ne!(codes(&text), [""; 0]);
}

/// Returns the greatest indentation in the text form of IR, which shows how deep statements nest.
fn deepest_line(program: &ir::Program) -> usize {
    let text = program.to_string();
    let indents = text.lines().map(|l| l.len() - l.trim_start().len());
    indents.max().unwrap_or(0)
}

#[test]
fn long_chains_become_flat_ir() {
    let arms: String = (0..10_000)
        .map(|i| format!("if (hdr.h.a == {}) {{ hdr.h.a = 1; }} else ", i % 256))
        .collect();
    let sum = vec!["hdr.h.a"; 10_000].join(" + ");
    let any = vec!["hdr.h.a == 1"; 10_000].join(" || ");
    let text = FRAME.to_owned()
        + &control(&format!(
            "{{
                table t {{ key = {{ {sum} : exact @name(\"sum\"); }} actions = {{ }} }}
                apply {{
                    {arms} {{ hdr.h.a = 2; }}
                    bit<8> x = true && hdr.h.a == 1 ? {sum} : 0;
                    if (!({any}) && x == 1) {{ hdr.h.a = 3; }}
                    t.apply();
                }}
            }}"
        ));
    let Outcome::Program(mut program, _) = compile("deep.p4", &text) else {
        panic!("{:?}", codes(&text));
    };
    assert!(deepest_line(&program) < 400, "{}", deepest_line(&program));
    let options = ir::passes::Options {
        level: ir::passes::Level::Optimize,
        function_params: 5,
        follows_iterations: false,
        rejects: ir::passes::Rejects::Stay,
    };
    ir::passes::pipeline(&mut program, &options);
    assert_eq!(ir::verify::verify(&program).map_err(|e| e.len()), Ok(()));
}

#[test]
fn what_the_parser_takes_is_built() {
    let mut text = FRAME.to_owned();
    let ifs = "if (hdr.h.a == 1) { ".repeat(30);
    let sum = "(1 + ".repeat(30) + "hdr.h.a" + &")".repeat(30);
    text += &control(&format!(
        "{{ apply {{ {ifs} hdr.h.a = {sum}; {} }} }}",
        "}".repeat(30)
    ));
    assert_eq!(codes(&text), [""; 0]);
}
