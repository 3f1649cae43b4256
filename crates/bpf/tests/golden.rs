//! Golden tests of the C that programs become, and of refusals. A file in `tests/golden` is P4 text, a line of dashes
//! and the C (or the diagnostics as users see them). `ONPATH_BLESS=1 cargo test -p bpf --test golden` writes the part
//! after the dashes; read the difference before you commit it.
//!
//! A first line `// hook: tc-ingress` (or `tc-egress`) compiles for traffic control instead of XDP. A line `// kernel:
//! 6.1` compiles for the oldest kernel instead of the newest. A line `// parse record` keeps the parse record in
//! memory, as large programs do. A line `// parts: 30` outlines functions of about 30 instructions, and `// programs:
//! 3` chains them over so many programs.
//!
//! The text is completed to a program for `xdp_model`: an Ethernet and an IPv4 header, and a parser `p`, a control `c`
//! and a deparser `d` where it has none of its own. The C is shown from the maps on.

use bpf::abi::Hook;
use bpf::features::Features;
use diag::{Diagnostics, SourceMap};
use testkit::golden;

const PRELUDE: &str = "\
#include <core.p4>
#include <xdp_model.p4>
header eth_t { bit<48> dst; bit<48> src; bit<16> type; }
header ipv4_t {
    bit<4> version; bit<4> ihl; bit<8> dscp; bit<16> total_len; bit<16> id; bit<3> flags;
    bit<13> offset; bit<8> ttl; bit<8> protocol; bit<16> checksum; bit<32> src; bit<32> dst;
}
";
const HEADERS: &str = "
struct headers_t { eth_t eth; ipv4_t ipv4; }";
const PARTS: golden::Parts = golden::Parts {
    parser: "
parser p(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) { 0x0800: ipv4; default: accept; }
    }
    state ipv4 { packet.extract(hdr.ipv4); transition accept; }
}",
    control: "
control c(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    apply { xout.output_action = xdp_action.XDP_PASS; xout.output_port = 0; }
}",
    deparser: "
control d(in headers_t hdr, packet_out packet) {
    apply { packet.emit(hdr.eth); packet.emit(hdr.ipv4); }
}",
};

fn complete(text: &str) -> String {
    if text.contains("#include") {
        return text.to_owned();
    }
    let headers = match text.contains("struct headers_t") {
        true => "",
        false => HEADERS,
    };
    golden::complete(&format!("{PRELUDE}{headers}"), text, &PARTS)
}

/// Shows diagnostics with the text that they mark and their help.
fn show(diagnostics: &Diagnostics, map: &SourceMap) -> String {
    diagnostics
        .iter()
        .filter(|d| d.severity == diag::Severity::Error)
        .map(|d| {
            let help = d.help.as_deref().unwrap_or("NO HELP");
            let marked = match d.primary.span.is_none() {
                true => String::new(),
                false => format!(" at `{}`", map.text(d.primary.span)),
            };
            format!("{}{marked}: {}\nhelp: {help}", d.code.0, d.message)
        })
        .collect::<Vec<_>>()
        .join("\n")
}

/// Returns a program's hook: named in its first line, XDP otherwise.
fn hook(text: &str) -> Hook {
    match text.lines().next() {
        Some("// hook: tc-ingress") => Hook::TcIngress,
        Some("// hook: tc-egress") => Hook::TcEgress,
        _ => Hook::Xdp,
    }
}

fn compile(text: &str) -> Result<bpf::BpfOutput, String> {
    let loader = golden::includes().with("test.p4", complete(text));
    let mut map = SourceMap::new();
    let parsed = syntax::parse(&mut map, &loader, "test.p4", &[]);
    let checked = sema::check(&parsed.program, &map);
    let errors = |d: &Diagnostics| format!("NOT A PROGRAM: {}", show(d, &map));
    let module = checked.module.ok_or_else(|| {
        errors(if parsed.diagnostics.has_errors() {
            &parsed.diagnostics
        } else {
            &checked.diagnostics
        })
    })?;
    let (program, _) = elab::elaborate(&module).map_err(|d| errors(&d))?;
    let number = |what: &str| -> Option<u32> {
        let mut lines = text.lines();
        lines.find_map(|line| line.strip_prefix(what)?.parse().ok())
    };
    let outline = number("// parts: ").map(|size| bpf::Outlining {
        size,
        programs: number("// programs: ").unwrap_or(1) as usize,
    });
    let optimise = |program: &ir::Program| {
        let (mut program, rejects) = arch::for_targets(program);
        let passes = ir::passes::Options {
            level: ir::passes::Level::Optimize,
            function_params: bpf::FUNCTION_PARAMS,
            follows_iterations: false,
            rejects,
        };
        match outline {
            Some(_) => ir::passes::without_entries(&mut program, &passes),
            None => ir::passes::pipeline(&mut program, &passes),
        }
        program
    };
    let fast = ir::passes::fast_path::of(&program).as_ref().map(optimise);
    let program = optimise(&program);
    let options = bpf::Options {
        hook: hook(text),
        features: match text.lines().any(|line| line == "// kernel: 6.1") {
            true => Features::of((6, 1)),
            false => Features::newest(),
        },
        parse_record: match text.lines().any(|line| line == "// parse record") {
            true => bpf::ParseRecord::Always,
            false => bpf::ParseRecord::BySize,
        },
        outline,
        source_name: "test.p4".into(),
        extern_files: if text.contains("--extern") {
            vec!["externs.c".into()]
        } else {
            Vec::new()
        },
        ..bpf::Options::default()
    };
    bpf::compile(&program, fast.as_ref(), &map, &options).map_err(|d| show(&d, &map))
}

/// Returns the C without the text that all programs share, and without `#line`, which has a test of its own.
fn shown(c: &str) -> String {
    let after = |last: &str| c.split_once(last).map(|(_, rest)| rest);
    let body = after("XDP_REDIRECT = 4,\n};\n")
        .or_else(|| after("TC_REDIRECT_INGRESS = 3,\n};\n"))
        .unwrap_or(c);
    let body = body
        .split_once("\nchar _license")
        .map_or(body, |(before, _)| before);
    body.lines()
        .filter(|l| !l.starts_with("#line"))
        .collect::<Vec<_>>()
        .join("\n")
        .trim()
        .to_owned()
}

#[test]
fn programs_become_the_c_beside_them() {
    golden::check("crates/bpf/tests/golden", |text| {
        Ok(compile(text).map_or_else(|refused| refused, |output| shown(&output.c_source)))
    });
}

/// A program that exceeds the verifier's limit may be compiled without a fast path.
#[test]
fn a_program_with_a_fast_path_can_shrink() {
    let golden = include_str!("golden/fast_path.txt");
    let (text, _) = golden.split_once("--------").expect("two parts");
    let report = compile(text).expect("compiles").report;
    assert!(report.fast_path && report.parse_record && report.parser_iterations.is_none());
    assert!(report.can_shrink());
    let without = bpf::Report {
        fast_path: false,
        movable_variables: false,
        outlined: 1,
        programs: bpf::costs::weights::outline::MOST_PROGRAMS,
        ..report
    };
    assert!(!without.can_shrink());
}

/// The verifier tracks values in registers, but not in memory.
#[test]
fn a_program_with_variables_can_shrink_unless_it_is_very_long() {
    let report = bpf::Report {
        parse_record: true,
        movable_variables: true,
        outlined: 1,
        programs: bpf::costs::weights::outline::MOST_PROGRAMS,
        longest_estimate: 65_534,
        ..bpf::Report::default()
    };
    assert!(report.can_shrink());
    let long = bpf::Report {
        longest_estimate: 65_535,
        ..report
    };
    assert!(!long.can_shrink());
    let golden = include_str!("golden/fast_path.txt");
    let (text, _) = golden.split_once("--------").expect("two parts");
    assert!(compile(text).expect("compiles").report.movable_variables);
}

/// A verifier that follows every iteration may accept fewer of them, also in a loop of statements.
#[test]
fn a_program_with_a_loop_can_shrink_for_old_kernels() {
    let text = "// parse record
void skip(packet_in packet, in bit<8> most) {
    for (bit<8> i = 0; i < most; i = i + 1) {
        if (packet.lookahead<bit<8>>() != 1) { break; }
        packet.advance(8);
    }
}
parser p(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        skip(packet, hdr.eth.src[7:0]);
        transition accept;
    }
}";
    let report = |text: &str| bpf::Report {
        movable_variables: false,
        outlined: 1,
        programs: bpf::costs::weights::outline::MOST_PROGRAMS,
        ..compile(text).expect("compiles").report
    };
    assert!(!report(text).can_shrink());
    let old = report(&format!("// kernel: 6.1\n{text}"));
    assert_eq!(
        old.parser_iterations,
        Some(bpf::costs::weights::iterations::MOST)
    );
    assert!(old.can_shrink());
}

/// Returns the file and line that `#line` gives to the one line of C that contains `code`.
fn origin_of(c: &str, code: &str) -> (String, u32) {
    let (mut file, mut line) = (String::new(), 0);
    let mut found = Vec::new();
    for text in c.lines() {
        if let Some(rest) = text.strip_prefix("#line ") {
            let (number, name) = rest.split_once(' ').unwrap_or((rest, ""));
            line = number.parse().expect("#line has a number");
            if !name.is_empty() {
                file = name.trim_matches('"').to_owned();
            }
            continue;
        }
        if text.contains(code) {
            found.push((file.clone(), line));
        }
        line += 1;
    }
    assert_eq!(found.len(), 1, "`{code}` in {c}");
    found.remove(0)
}

#[test]
fn lines_lead_back_to_the_program() {
    let text = "control c(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    action mark(bit<48> m) {
        hdr.eth.src = m;
    }
    table t { key = { hdr.eth.type : exact; } actions = { mark; NoAction; } }
    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_PASS;
        hdr.eth.dst = 1;
        if (hdr.eth.type == 0x1234) {
            hdr.eth.dst = 2;
        }
        for (bit<16> i = 0; i < hdr.eth.type; i = i + 1) {
            hdr.eth.src = hdr.eth.src * 3;
        }
        t.apply();
    }
}";
    let c = compile(text).unwrap().c_source;
    let source = complete(text);
    for (p4, code) in [
        ("packet.extract(hdr.eth)", "data + 14 > data_end"),
        ("hdr.eth.dst = 1;", "store_be48(eth, 1);"),
        ("if (hdr.eth.type == 0x1234)", "4660"),
        ("hdr.eth.dst = 2;", "store_be48(eth, 2);"),
        ("hdr.eth.src = m;", "store_be48(eth + 6, m"),
        // Further lines of one statement in P4.
        ("packet.extract(hdr.eth)", "u8 *data_end ="),
        ("for (bit<16> i = 0;", "may_goto("),
        ("for (bit<16> i = 0;", "goto again;"),
        ("t.apply();", "bucket_value("),
        ("t.apply();", "barrier_var(entry);"),
        ("t.apply();", "load_be48(entry->"),
    ] {
        let line = source.lines().position(|l| l.contains(p4)).unwrap() as u32 + 1;
        assert_eq!(
            origin_of(&c, code),
            ("test.p4".to_owned(), line),
            "{p4}: {c}"
        );
    }
}

#[test]
fn the_same_program_becomes_the_same_c() {
    let text = "control c(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    action a(bit<48> m) { hdr.eth.src = m; }
    table t { key = { hdr.eth.dst : exact; } actions = { a; NoAction; } }
    apply { xout.output_port = 0; xout.output_action = xdp_action.XDP_TX; t.apply(); }
}";
    let first = compile(text).unwrap();
    for _ in 0..3 {
        assert_eq!(compile(text).unwrap(), first);
    }
}
