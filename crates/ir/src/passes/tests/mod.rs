//! Snapshots of the passes: text in, text out.

mod atomic;
mod automaton;
mod copies;
mod dce;
mod fold;
mod inline;
mod parsers;
mod propagate;
mod rejects;
mod rolled;
mod search;
mod skip_ahead;
mod specialize;
mod split;
mod stages;
mod thread;

use crate::{Program, text, verify};

/// Declarations that the snapshots share.
const HEAD: &str = "program test reject stop
errors NoError, PacketTooShort, NoMatch, StackOutOfBounds
labels 4
header_type eth {
    dst: bit<48>;
    kind: bit<16>;
}
header_type tag {
    vid: bit<16>;
    kind: bit<16>;
}
var a: bit<8>
var b: bit<8>
var c: bit<8>
var w: bit<32>
var f: bool
var g: bool
var next: bit<32>
var port: bit<32>
var user: bit<8>
header h.eth: eth
header h.t0: tag
header h.t1: tag
stack h.t next next { h.t0, h.t1 }
";

/// Returns the text after passes, without the shared declarations.
fn after(rest: &str, passes: &[fn(&mut Program)]) -> String {
    let mut program = text::parse(&format!("{HEAD}{rest}")).unwrap_or_else(|e| panic!("{e}"));
    check(&program);
    for pass in passes {
        pass(&mut program);
        program.number_stmts();
        check(&program);
    }
    let text = program.to_string();
    let lines = text.lines().skip_while(|l| !l.starts_with("stack")).skip(1);
    lines.map(|l| format!("{l}\n")).collect()
}

fn check(program: &Program) {
    if let Err(errors) = verify(program) {
        panic!("{errors:?}\n{program}");
    }
}

/// Returns the statements of a block after passes.
fn block(body: &str, passes: &[fn(&mut Program)]) -> String {
    let text = after(&format!("routine r block() {{\n{body}\n}}\n"), passes);
    let text = text.trim_start_matches("routine r block() {");
    let lines = text.lines().map(|l| l.trim_start().to_owned() + " ");
    let joined: String = lines.collect();
    joined.trim().trim_end_matches('}').trim().to_owned()
}

/// Returns a whole pipeline with this parser and control, after passes.
fn pipeline(parser: &str, control: &str, deparser: &str, passes: &[fn(&mut Program)]) -> String {
    let text = after(
        &format!(
            "{parser}routine c block() {{
{control}}}
routine d block() {{
{deparser}}}
pipeline parser parser p
pipeline switch control c
pipeline deparser deparser d
slot headers {{
    header \"eth\" = h.eth;
}}
intrinsic slot out {{
    var \"output_port\" = port;
}}
"
        ),
        passes,
    );
    // The parser first, as it runs.
    let (rest, end) = (
        text.find("routine").unwrap(),
        text.find("pipeline").unwrap(),
    );
    let at = text.find("parser").unwrap();
    format!("{}{}{}", &text[..rest], &text[at..end], &text[rest..at])
}

#[test]
fn what_nothing_mentions_is_removed() {
    let mut program = text::parse(&format!(
        "{HEAD}routine f function(in a) {{}}
routine c block() {{
    port = cast(c, bit<32>);
}}
pipeline switch control c
intrinsic slot out {{
    var \"output_port\" = port;
}}
"
    ))
    .unwrap();
    crate::passes::compact::run(&mut program);
    program.number_stmts();
    check(&program);
    let text = program.to_string();
    let from = text.find("var").unwrap();
    assert_eq!(
        &text[from..],
        "var c: bit<8>
var next: bit<32>
var port: bit<32>
header h.t0: tag
header h.t1: tag
stack h.t next next { h.t0, h.t1 }
routine c block() {
    port = cast(c, bit<32>);
}
pipeline switch control c
intrinsic slot out {
    var \"output_port\" = port;
}
"
    );
    assert_eq!(program.exprs.len(), 2);
}
