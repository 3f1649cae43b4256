use super::*;
use crate::sys::InstructionLines;

/// Linux 6.18, a packet byte read without a bounds check.
const PACKET: &str = "\
0: R1=ctx() R10=fp0
;  @ router.p4:10
0: (61) r1 = *(u32 *)(r1 +0)          ; R1=pkt(r=0)
;  return p[3]; } @ router.p4:12
1: (71) r0 = *(u8 *)(r1 +3)
invalid access to packet, off=3 size=1, R1(id=0,off=3,r=0)
R1 offset is outside of the packet
processed 2 insns (limit 1000000) max_states_per_insn 0 total_states 0 peak_states 0 mark_read 0
";

/// Linux 6.18, a loop over an unknown number of iterations; the log before it is cut.
const LOOP: &str = "\
12: (85) call bpf_get_prandom_u32#7   ; R0=scalar()
; for (unsigned i = 0; i < n; i++) { s += rnd(); if (s == 77) break; } @ stack.p4:31
13: (0c) w1 += w8                     ; R1=scalar(smin=0,smax=umax=0xffffffff)
14: (b4) w0 = 77                      ; R0=77
15: (56) if w1 != 0x4d goto pc-9
The sequence of 8193 jumps is too complex.
processed 81922 insns (limit 1000000) max_states_per_insn 4 total_states 1233 peak_states 1233 mark_read 0
";

/// Linux 6.18, a helper that is not there.
const HELPER: &str = "\
0: R1=ctx() R10=fp0
;  @ h.p4:5
0: (85) call unknown#9999
invalid func unknown#9999
processed 1 insns (limit 1000000) max_states_per_insn 0 total_states 0 peak_states 0 mark_read 0
";

/// Linux 6.18, where the verifier went back to a branch before it gave up.
const BRANCH: &str = "\
10: (04) w2 += 77                     ; R2=0x9a005
; if (s == 77) break; @ stack.p4:32
11: (1e) if w2 == w6 goto pc+12 BPF program is too large. Processed 1000001 insn
processed 1000001 insns (limit 1000000) max_states_per_insn 4 total_states 20005 peak_states 20005 mark_read 0
";

/// Log of the same refusal without a path: the kernel was asked for the reason alone.
const ALONE: &str = "\
BPF program is too large. Processed 1000001 insn
verification time 745936 usec
stack depth 0
processed 1000001 insns (limit 1000000) max_states_per_insn 4 total_states 20005 peak_states 20005 mark_read 0
";

/// Linux 6.1, which remarks on every call by bpf_loop.
const REMARKS: &str = "\
reg type unsupported for arg#1 function egress_filter_turn#104
reg type unsupported for arg#1 function egress_filter_turn#104
BPF program is too large. Processed 1000001 insn
verification time 94000000 usec
processed 1000001 insns (limit 1000000) max_states_per_insn 64 total_states 50005 peak_states 20005 mark_read 0
";

/// A kernel before 6.8: source text without its location.
const WITHOUT_PLACE: &str = "\
0: (61) r1 = *(u32 *)(r1 +0)
; hdr.ip.ttl = hdr.ip.ttl - 1;
1: (71) r0 = *(u8 *)(r1 +3)
invalid access to packet, off=3 size=1, R1(id=0,off=3,r=0)
processed 2 insns (limit 1000000) max_states_per_insn 0 total_states 0 peak_states 0 mark_read 0
";

/// The form with named sections.
const REPORT: &str = "\
0: R1=ctx() R10=fp0
; hdr.ip.ttl = hdr.ip.ttl - 1; @ router.p4:2
0: (61) r1 = *(u32 *)(r1 +0)
1: (71) r0 = *(u8 *)(r1 +3)

Reason: invalid access to packet, off=3 size=1
At: insn 1, router.p4:2
Causal path:
  insn 0 loads R1, a packet pointer with range 0
Suggestion: compare the pointer with data_end
  before the access

processed 2 insns (limit 1000000) max_states_per_insn 0 total_states 0 peak_states 0 mark_read 0
";

fn router() -> SourceMap {
    let mut sources = SourceMap::new();
    let text = "control c() {\n    hdr.ip.ttl = hdr.ip.ttl - 1;\n}\n";
    sources.add("router.p4", text).expect("room");
    sources
}

#[test]
fn the_last_location_and_all_words_of_the_reason() {
    let refusal = read(PACKET).expect("a refusal");
    assert_eq!(refusal.location, Some(("router.p4".into(), 12)));
    assert_eq!(refusal.instruction, Some(1));
    assert_eq!(refusal.source.as_deref(), Some("return p[3]; }"));
    assert_eq!(
        refusal.reason,
        "invalid access to packet, off=3 size=1, R1(id=0,off=3,r=0)"
    );
    assert_eq!(refusal.detail, ["R1 offset is outside of the packet"]);
}

#[test]
fn kinds_have_their_codes() {
    let sources = SourceMap::new();
    let code = |log| {
        explain(
            &read(log).expect("a refusal"),
            &Samples::default(),
            &sources,
        )
        .code
        .0
    };
    assert_eq!(code(PACKET), "E0774");
    assert_eq!(code(LOOP), "E0771");
    assert_eq!(code(HELPER), "E0775");
    let deep = "combined stack size of 2 calls is 704. Too large\n";
    assert_eq!(code(deep), "E0772");
    assert_eq!(code("back-edge from insn 9 to 3\n"), "E0773");
}

#[test]
fn a_reason_on_the_line_of_its_instruction_is_read() {
    let refusal = read(BRANCH).expect("a refusal");
    assert_eq!(
        refusal.reason,
        "BPF program is too large. Processed 1000001 insn"
    );
    assert_eq!(refusal.instruction, Some(11));
    assert_eq!(refusal.location, Some(("stack.p4".into(), 32)));
    assert_eq!(
        explain(&refusal, &Samples::default(), &SourceMap::new())
            .code
            .0,
        "E0771"
    );
    let called = "5: (85) call bpf_iter_num_next#123 the stack is too deep\n";
    assert_eq!(
        read(called).expect("a refusal").reason,
        "the stack is too deep"
    );
}

#[test]
fn a_state_on_the_line_of_its_instruction_is_no_reason() {
    for line in [
        "12: (ae) if w8 < w7 goto pc-7 6: R0=scalar(id=9) R6=2",
        "8: (56) if w0 != 0x4d goto pc+1       ; R0=77",
        "9: (05) goto pc+6",
        "6: (85) call bpf_get_prandom_u32#7    ; R0=scalar()",
        "6: (85) call pc+3",
    ] {
        assert_eq!(read(line), None, "{line}");
    }
}

#[test]
fn a_log_without_a_path_has_its_reason() {
    let refusal = read(ALONE).expect("a refusal");
    assert_eq!(
        refusal.reason,
        "BPF program is too large. Processed 1000001 insn"
    );
    assert_eq!((refusal.location, refusal.instruction), (None, None));
}

#[test]
fn without_its_source_the_location_is_reported_in_words() {
    let diagnostic = explain(
        &read(LOOP).expect("a refusal"),
        &Samples::default(),
        &SourceMap::new(),
    );
    assert_eq!(
        diagnostic.message,
        "the program has too many paths for the kernel to check: \
         The sequence of 8193 jumps is too complex. (at stack.p4:31)"
    );
}

#[test]
fn a_line_without_a_number_is_found_by_its_text() {
    let sources = router();
    let diagnostic = explain(
        &read(WITHOUT_PLACE).expect("a refusal"),
        &Samples::default(),
        &sources,
    );
    assert_eq!(
        sources.text(diagnostic.primary.span),
        "hdr.ip.ttl = hdr.ip.ttl - 1;"
    );
}

#[test]
fn reports_of_newer_kernels_are_read() {
    let refusal = read(REPORT).expect("a refusal");
    assert_eq!(refusal.reason, "invalid access to packet, off=3 size=1");
    assert_eq!(refusal.location, Some(("router.p4".into(), 2)));
    assert_eq!(refusal.instruction, Some(1));
    let sources = router();
    let diagnostic = explain(&refusal, &Samples::default(), &sources);
    assert_eq!(
        sources.text(diagnostic.primary.span),
        "hdr.ip.ttl = hdr.ip.ttl - 1;"
    );
    assert!(
        diagnostic
            .help
            .expect("help")
            .ends_with("the kernel suggests: compare the pointer with data_end before the access")
    );
}

#[test]
fn a_log_of_success_is_no_refusal() {
    let log = "processed 2 insns (limit 1000000) max_states_per_insn 0\n";
    assert_eq!(read(log), None);
    assert_eq!(read(""), None);
}

/// The end of a log that has wrapped around: the first line is cut, so is one in the middle, and the last has no end.
const AROUND: &str = "\
(cut) r1 = 4
12: (b4) w1 = 4                       ; R1=4
;  hdr.ip.ttl = hdr.ip.ttl - 1; @ router.p4:2
13: (b4) w1 = 4                       ; R1=4
14: R1=4 R10=fp0
14: (b4) w1 = 4                       ; R1=4
; control c() { @ router.p4:1\0uter.p4:3
15: (b4) w1 = 4                       ; R1=4
; } @ router.p4:3
16: (b4) w1 = 4                       ; R1=4
17: (b4) w1 = 4                       ; R1=4
18: (b4) w1 = 4                       ; R1=4
";

#[test]
fn the_busiest_line_is_the_one_with_most_instructions() {
    let sources = router();
    let busiest = |logs: &[&str]| {
        let samples = Samples {
            parts: logs.iter().map(|log| log.to_string()).collect(),
            ..Samples::default()
        };
        shown_text(busiest(&samples, &sources), &sources)
    };
    // Three instructions each: 13 to 15 and 16 to 18.
    assert_eq!(busiest(&[AROUND]), "hdr.ip.ttl = hdr.ip.ttl - 1;");
    let more = "; } @ router.p4:3\n9: (b4) w1 = 4\n";
    assert_eq!(busiest(&[AROUND, more]), "}");
    // A line that was cut off is none, whatever is left of its number.
    let cut = "; } @ router.p4:3\n1: (b4) w1 = 4\n; control c() { @ router.p4:1";
    assert_eq!(busiest(&[cut, "2: (b4) w1 = 4\n"]), "}");
    assert_eq!(busiest(&["2: (b4) w1 = 4\n"]), "");
}

/// The verifier names a line only where it begins.
#[test]
fn a_part_within_one_line_is_of_the_line_that_its_instructions_come_from() {
    let sources = router();
    let of = |file: &str, line| (file.to_owned(), line);
    let samples = Samples {
        parts: vec![
            "7: (b4) w1 = 4\n8: (b4) w1 = 4\n9: (05) goto pc-3\n7: (b4) w1 = 4\n".to_owned(),
        ],
        lines: InstructionLines::from_iter([
            (0, of("router.p4", 1)),
            (7, of("router.p4", 2)),
            (8, of("onpath/csum.h", 3)),
            (10, of("router.p4", 3)),
        ]),
    };
    assert_eq!(
        shown_text(busiest(&samples, &sources), &sources),
        "hdr.ip.ttl = hdr.ip.ttl - 1;"
    );
}

#[test]
fn what_a_line_calls_counts_as_that_line() {
    let sources = router();
    let log = "; control c() { @ router.p4:1\n1: (b4) w1 = 4\n2: (b4) w1 = 4\n\
               ; hdr.ip.ttl = hdr.ip.ttl - 1; @ router.p4:2\n3: (b4) w1 = 4\n\
               ; return x; @ onpath/csum.h:2\n4: (b4) w1 = 4\n5: (b4) w1 = 4\n";
    assert_eq!(
        shown_text(busiest(&log.to_owned().into(), &sources), &sources),
        "hdr.ip.ttl = hdr.ip.ttl - 1;"
    );
}

#[test]
fn a_program_with_too_much_to_check_is_shown_at_its_busiest_line() {
    let sources = router();
    let refusal = read(ALONE).expect("a refusal");
    let diagnostic = explain(&refusal, &AROUND.to_owned().into(), &sources);
    assert_eq!(
        sources.text(diagnostic.primary.span),
        "hdr.ip.ttl = hdr.ip.ttl - 1;"
    );
    assert_eq!(
        diagnostic.primary.text,
        "the verifier spent the most instructions here"
    );
}

fn shown_text(span: Option<Span>, sources: &SourceMap) -> String {
    span.map_or_else(String::new, |span| sources.text(span).to_owned())
}

#[test]
fn a_remark_on_a_call_is_no_reason() {
    let refusal = read(REMARKS).expect("a refusal");
    assert_eq!(
        refusal.reason,
        "BPF program is too large. Processed 1000001 insn"
    );
    assert_eq!(refusal.detail, [""; 0]);
}

#[test]
fn a_file_in_the_current_folder_is_named_as_it_is_from_there() {
    let seen = |file| seen_from(Path::new("/home/mine"), file);
    assert_eq!(seen("/home/mine/lib/sum.c"), "lib/sum.c");
    assert_eq!(seen("/home/minecraft/sum.c"), "/home/minecraft/sum.c");
    assert_eq!(seen("router.p4"), "router.p4");
}
