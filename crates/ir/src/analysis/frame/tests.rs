use super::*;
use crate::text;

/// Returns a program with two controls, the second of which copies may enter.
fn program(first: &str, second: &str) -> Program {
    let program = format!(
        "program p reject stop copies
errors NoError
labels 3
header_type pair {{
    x: bit<8>;
    y: bit<8>;
}}
var a: bit<8>
var b: bit<8>
var c: bit<8>
var i: bit<32>
var next: bit<32>
header h: pair
header s0: pair
header s1: pair
stack s next next {{ s0, s1 }}
action takes() {{
    b = a;
}}
action gives() {{
    b = 8w1;
}}
table t {{
    key \"k\" exact c;
    action takes;
    action gives;
    default gives();
}}
routine shows function() {{
    set_valid h;
}}
routine one block() {{
{first}
}}
routine two block() {{
{second}
}}
routine d block() {{
    emit h;
}}
pipeline first control one
pipeline second control two
pipeline deparser deparser d
intrinsic slot out {{
    var \"port\" = b;
}}
"
    );
    let mut program = text::parse(&program).unwrap_or_else(|e| panic!("{e}\n{program}"));
    program.number_stmts();
    crate::verify(&program).unwrap_or_else(|e| panic!("{e:?}"));
    program
}

fn second(program: &Program) -> BlockBody {
    program.blocks[1].body
}

/// Returns the names of all storage in a frame.
fn names(program: &Program, frame: &Frame) -> String {
    let mut all: Vec<String> = Vec::new();
    for (var, data) in &program.vars {
        all.extend(frame.var(var).then(|| data.name.to_string()));
    }
    for (header, data) in &program.headers {
        let name = &data.name;
        all.extend(frame.valid(header).then(|| format!("{name}?")));
        let fields = program.header_types[data.ty].fields.iter().enumerate();
        all.extend(
            fields
                .filter(|(i, _)| frame.field(header, *i as u32))
                .map(|(_, field)| format!("{name}.{}", field.name)),
        );
    }
    all.join(" ")
}

/// Returns the frame at the start of the second control, without its emitted header.
fn begins(code: &str) -> String {
    let code = format!("{code}\nset_valid h; h.x = 8w0; h.y = 8w0;");
    of_second(&code)
}

fn of_second(code: &str) -> String {
    let program = program("", code);
    let at = second(&program);
    names(&program, &Frame::new(&program, Point::Block(at), None))
}

#[test]
fn a_variable_that_is_written_first_is_not_kept() {
    assert_eq!(begins("b = a;"), "a");
    assert_eq!(begins("a = 8w1; b = a;"), "");
}

#[test]
fn what_the_architecture_reads_is_kept() {
    assert_eq!(begins("a = 8w1;"), "b");
}

#[test]
fn what_only_a_dead_assignment_reads_is_not_kept() {
    assert_eq!(begins("c = a; b = 8w1;"), "");
}

#[test]
fn a_validity_is_kept_without_the_fields() {
    assert_eq!(begins("b = 8w0; if valid(h) { b = 8w1; }"), "h?");
}

#[test]
fn an_emitted_header_is_kept_whole() {
    assert_eq!(of_second("b = 8w0;"), "h? h.x h.y");
    assert_eq!(of_second("b = 8w0; h.x = 8w1;"), "h? h.y");
    assert_eq!(of_second("b = 8w0; set_invalid h;"), "");
}

#[test]
fn both_branches_count() {
    assert_eq!(begins("if c == 8w0 { b = a; } else { b = 8w1; }"), "a c");
    // Written on one of the paths only.
    assert_eq!(begins("if c == 8w0 { a = 8w1; } b = a;"), "a c");
    let both = "if c == 8w0 { a = 8w1; } else { a = 8w2; } b = a;";
    assert_eq!(begins(both), "c");
}

#[test]
fn a_later_round_of_a_loop_reads() {
    let reads = "b = 8w0; loop label0 { if c == 8w0 { break label0; } c = a; a = 8w0; }";
    assert_eq!(begins(reads), "a c");
    let written = "b = 8w0; loop label0 { a = 8w1; if c == 8w0 { break label0; } c = a; }";
    assert_eq!(begins(written), "c");
}

#[test]
fn the_actions_of_an_applied_table_read() {
    assert_eq!(begins("apply t;"), "a c");
    assert_eq!(begins("a = 8w1; apply t;"), "c");
}

#[test]
fn an_index_and_all_that_it_may_mean_are_kept() {
    assert_eq!(begins("b = s[i].x;"), "i s0.x s1.x");
    assert_eq!(begins("b = 8w0; i = next; b = s[i].x;"), "next s0.x s1.x");
}

#[test]
fn copies_bring_what_they_had_where_a_block_ended() {
    // After the first assignment only a copy that starts again reads `a`.
    let program = program("a = 8w1;", "b = a; a = c;\nset_invalid h;");
    let at = second(&program);
    let frame = |entered| names(&program, &Frame::new(&program, Point::Block(at), entered));
    assert_eq!(frame(None), "a");
    assert_eq!(frame(Some(at)), "a c");
    // The copy is made where the first control ends, too.
    let first = Point::Block(program.blocks[0].body);
    let frame = |entered| names(&program, &Frame::new(&program, first, entered));
    assert_eq!(frame(None), "b");
    assert_eq!(frame(Some(at)), "b c");
}

#[test]
fn behind_a_statement_is_what_follows_it() {
    let program = program("", "a = 8w1; b = c; set_invalid h; b = a;");
    let BlockBody::Control(routine) = second(&program) else {
        panic!("a control")
    };
    let behind = |i: usize| {
        let stmt = program.routines[routine].body[i].id;
        names(&program, &Frame::new(&program, Point::Behind(stmt), None))
    };
    // The value that the second statement gives `b` is not read, and therefore neither is `c`.
    assert_eq!(behind(0), "a");
    assert_eq!(behind(3), "b h? h.x h.y");
}

#[test]
fn fields_of_a_header_that_a_function_makes_valid_are_kept() {
    assert_eq!(of_second("set_invalid h;\nset_valid h;"), "b h.x h.y");
    assert_eq!(of_second("set_invalid h;\ncall shows();"), "b h.x h.y");
    assert_eq!(of_second("set_invalid h;"), "b");
}
