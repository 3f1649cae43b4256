//! Programs with the results that the specification's text defines for them.

use super::packet::{self, Parts};
use super::{Program, loader};

/// A program of declarations, those of its control, and statements of the parser and of the control.
fn text(top: &str, local: &str, [parsing, statements]: [&str; 2]) -> String {
    let control = format!(
        "control c(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {{
    {local}
    apply {{
        xout.output_action = xdp_action.XDP_PASS;
        {statements}
    }}
}}"
    );
    packet::complete(&Parts {
        top: top.to_owned(),
        parsing: parsing.to_owned(),
        controls: control,
    })
}

/// Runs statements on a packet of zeros, and expects these values of `hdr.e.a`, `hdr.e.b` and `hdr.e.c`.
fn gives(top: &str, local: &str, statements: &str, expected: [u8; 3]) {
    compare(&text(top, local, ["", statements]), expected);
}

fn compare(text: &str, expected: [u8; 3]) {
    let mut program = Program::new(&loader(), text).expect("it is accepted");
    let (interpreted, right) = program.run(&[0; packet::LENGTH]);
    assert_eq!(right[1..4], expected, "the oracle\n{text}");
    assert_eq!(interpreted[1..4], expected, "the interpreter\n{text}");
    assert_eq!(interpreted, right, "{text}");
}

/// Section 6.8: an argument keeps the value that it had when it was evaluated.
#[test]
fn an_inout_argument_is_taken_before_a_later_one_changes_it() {
    let top = "bit<8> look(inout bit<8> x, in bit<8> z) { return x + z; }
bit<8> bump(inout bit<8> z) { z = 3; return 1; }";
    gives(
        top,
        "",
        "hdr.e.b = look(hdr.e.a, bump(hdr.e.a));",
        [0, 1, 0],
    );
    gives(
        top,
        "",
        "hdr.e.b = look(z = bump(hdr.e.a), x = hdr.e.a);",
        [3, 4, 0],
    );
}

/// Section 6.8: the value of an `in` argument is saved, too.
#[test]
fn an_in_argument_is_taken_before_a_later_one_changes_it() {
    let top = "bit<8> both(in bit<8> x, in bit<8> y) { return x + (y << 4); }
bit<8> bump(inout bit<8> z) { z = 3; return 1; }";
    let statements =
        "hdr.e.b = both(hdr.e.a, bump(hdr.e.a)); hdr.e.c = both(y = hdr.e.a, x = bump(hdr.e.a));";
    gives(top, "", statements, [3, 0x10, 0x31]);
    let statements =
        "hdr.e.w = csum_replace2((bit<16>)hdr.e.c, (bit<16>)bump(hdr.e.c), (bit<16>)hdr.e.c);
        hdr.e.a = hdr.e.w[7:0]; hdr.e.b = hdr.e.w[15:8];";
    gives(top, "", statements, [0xfd, 0xff, 3]);
}

/// Section 6.8 also holds in a parser.
#[test]
fn a_parser_evaluates_arguments_as_they_are_written() {
    let top = "error pick(inout bit<8> x) { x = 1; return error.NoMatch; }
bit<8> look(inout bit<8> x, in bit<8> z) { return x + z; }
bit<8> bump(inout bit<8> z) { z = 3; return 1; }";
    let parsing = "verify(toSignal = pick(hdr.e.a), check = hdr.e.a == 1);
        hdr.e.b = look(hdr.e.c, bump(hdr.e.c));";
    compare(&text(top, "", [parsing, ""]), [1, 1, 0]);
}

/// Section 6.8: arguments given by name are evaluated and copied back in the order of the source.
#[test]
fn arguments_come_back_in_the_order_in_which_they_are_written() {
    let top = "void two(out bit<8> x, out bit<8> y) { x = 1; y = 2; }";
    gives(
        top,
        "",
        "two(hdr.e.a, hdr.e.a); two(y = hdr.e.b, x = hdr.e.b);",
        [2, 1, 0],
    );
    let top = "void two(out bit<4> x, out bit<4> y) { x = 1; y = 2; }";
    gives(
        top,
        "",
        "two(hdr.e.a[3:0], hdr.e.a[5:2]); two(y = hdr.e.b[5:2], x = hdr.e.b[3:0]);",
        [9, 1, 0],
    );
}

/// Section 6.8, step 3: the l-value is saved before a later argument moves it.
#[test]
fn an_index_is_evaluated_once_and_stays() {
    let top = "void set(out bit<8> x, in bit<8> y) { x = y; }
bit<8> next(inout bit<8> i) { i = i + 1; return i; }";
    gives(
        top,
        "",
        "set(hdr.s[hdr.e.a & 3].x, next(hdr.e.a)); hdr.e.b = hdr.s[0].x; hdr.e.c = hdr.s[1].x;",
        [1, 1, 0],
    );
    gives(
        top,
        "",
        "hdr.s[next(hdr.e.a) & 3].x += 5; hdr.e.b = hdr.s[1].x; hdr.e.c = hdr.s[2].x;",
        [1, 5, 0],
    );
}

/// Section 12.1: the l-value is evaluated first, a later effect does not move it.
#[test]
fn an_assignment_goes_where_its_target_was_first() {
    let top = "bit<8> next(inout bit<8> i) { i = i + 1; return i; }";
    gives(
        top,
        "",
        "hdr.s[hdr.e.a & 3].x = next(hdr.e.a); hdr.e.b = hdr.s[0].x; hdr.e.c = hdr.s[1].x;",
        [1, 1, 0],
    );
    gives(
        top,
        "bit<8>[2][2] m;",
        "m = {{0, 0}, {0, 0}}; m[hdr.e.a & 1][next(hdr.e.a) & 1] = 7; hdr.e.b = m[0][1]; hdr.e.c = m[1][1];",
        [1, 7, 0],
    );
    gives(
        top,
        "",
        "hdr.s[hdr.e.a & 3].x[next(hdr.e.a) & 7 +: 4] = 3; hdr.e.b = hdr.s[0].x; hdr.e.c = hdr.s[1].x;",
        [1, 6, 0],
    );
}

/// Section 12.1: what an assignment of several parts writes does not move the others.
#[test]
fn an_assignment_does_not_move_its_own_target() {
    gives(
        "",
        "",
        "hdr.s[hdr.s[0].x & 3] = { 1, 2 }; hdr.e.a = hdr.s[0].x; hdr.e.b = hdr.s[0].y; hdr.e.c = hdr.s[1].y;",
        [1, 2, 0],
    );
    gives(
        "",
        "u_t[2] us;",
        "us[1].h.setValid(); us[us[0].g.isValid() ? 8w1 : 0].g.setValid();
        hdr.e.a = us[1].isValid() ? 8w1 : 0; hdr.e.b = us[0].isValid() ? 8w1 : 0;",
        [1, 1, 0],
    );
}

/// Section 8.1: operands from left to right, the right one of `&&` only if it is needed.
#[test]
fn operands_are_evaluated_from_left_to_right() {
    let top = "bit<8> next(inout bit<8> i) { i = i + 1; return i; }";
    gives(
        top,
        "",
        "hdr.e.b = hdr.e.a + next(hdr.e.a) + next(hdr.e.a) + hdr.e.a;",
        [2, 5, 0],
    );
    gives(
        top,
        "",
        "if (hdr.e.a == 1 && next(hdr.e.a) == 0 || next(hdr.e.b) == 1) { hdr.e.c = 9; }",
        [0, 1, 9],
    );
    gives(
        top,
        "bit<8>[2][2] m;",
        "m = {{1, 2}, {3, 4}}; hdr.e.b = m[hdr.e.a & 1][next(hdr.e.a) & 1];",
        [1, 2, 0],
    );
}

/// Section 12.5: `exit` leaves all callers, and parameters are still copied out.
#[test]
fn an_exit_copies_out_and_leaves_its_callers() {
    let local = "action stop(inout bit<8> x) { x = 5; exit; }
    action outer(inout bit<8> y) { y = 1; stop(y); y = 9; }";
    gives("", local, "outer(hdr.e.a); hdr.e.b = 1;", [5, 0, 0]);
    let table = "action stop(inout bit<8> x) { x = 5; exit; }
    table t { key = { hdr.e.b : exact; } actions = { stop(hdr.e.a); } const default_action = stop(); }";
    gives(
        "bit<8> one(in bool b, out bit<8> x) { x = 1; return 1; }",
        table,
        "hdr.e.c = one(t.apply().hit, hdr.e.b);",
        [5, 0, 0],
    );
}

/// Section 12.5 also holds if the caller is an action that a table runs.
#[test]
fn an_exit_copies_out_what_a_table_has_bound() {
    let local = "action stop(inout bit<8> x) { x = x + 4; exit; }
    action outer(out bit<8> y, in bit<8> z, bit<8> data) { y = z + data; stop(y); y = 9; }
    table t { key = { hdr.e.b : exact; } actions = { outer(hdr.e.a, hdr.e.c); } const default_action = outer(3); }";
    gives("", local, "hdr.e.c = 1; t.apply(); hdr.e.b = 1;", [8, 0, 1]);
}

/// Section 14.2.3: keys are evaluated one after the other, and the arguments of an action when it runs.
#[test]
fn a_table_evaluates_its_keys_first_and_arguments_when_an_action_runs() {
    let top = "bit<8> next(inout bit<8> i) { i = i + 1; return i; }";
    let local = "action put(in bit<8> x, out bit<8> y, bit<8> data) { y = x + data; }
    table t {
        key = { hdr.e.a : exact; next(hdr.e.a) : exact @name(\"n\"); hdr.e.a : exact @name(\"again\"); }
        actions = { put(hdr.e.a, hdr.e.b); NoAction; }
        const default_action = NoAction();
        const entries = { (0, 1, 1) : put(10); (1, 2, 2) : put(20); }
    }";
    gives(
        top,
        local,
        "if (t.apply().hit) { hdr.e.c = hdr.e.b; } hdr.e.c = t.apply().miss ? hdr.e.c : 0;",
        [2, 22, 0],
    );
    gives(
        top,
        local,
        "switch (t.apply().action_run) { put: { hdr.e.c = hdr.e.b; } default: { hdr.e.c = 1; } }",
        [1, 11, 11],
    );
}

/// Section 14.2.3: a key is evaluated when the table is applied.
#[test]
fn a_key_is_the_element_that_the_packet_chooses_then() {
    let local =
        "table t { key = { hdr.e.r[hdr.e.a & 3] : exact @name(\"k\"); } actions = { NoAction; }
        const entries = { 5 : NoAction(); } }";
    gives(
        "",
        local,
        "hdr.e.a = 1; hdr.e.r[1] = 5; if (t.apply().hit) { hdr.e.b = 1; } hdr.e.a = 2; if (t.apply().hit) { hdr.e.c = 1; }",
        [2, 1, 0],
    );
}

/// Section 14.4: a control's variables are made each time that it is applied.
#[test]
fn a_control_forgets_its_variables() {
    let top = "control count(inout bit<8> x) { bit<8> v = x + 1; bit<8> n = 0; apply { n = n + v; x = n; } }";
    gives(
        top,
        "count() k;",
        "k.apply(hdr.e.a); k.apply(hdr.e.a); k.apply(hdr.e.b);",
        [2, 1, 0],
    );
    let top = "control both(inout bit<8> x, in bit<8> y, out bit<8> z) { apply { x = y + 1; z = x + y + 3; } }";
    gives(
        top,
        "both() k;",
        "k.apply(hdr.e.a, hdr.e.a, hdr.e.a);",
        [4, 0, 0],
    );
    gives(
        top,
        "both() k;",
        "k.apply(z = hdr.e.a, x = hdr.e.a, y = 4);",
        [5, 0, 0],
    );
}

/// Section 6.8: a control sees the element that was chosen, whatever becomes of the index.
#[test]
fn a_control_keeps_the_value_of_an_element() {
    let top = "control look(in bit<8> x, inout bit<8> i, out bit<8> y) { apply { i = 1; y = x; } }";
    let statements =
        "hdr.s[0].x = 4; hdr.s[1].x = 7; k.apply(hdr.s[hdr.e.a & 3].x, hdr.e.a, hdr.e.b);";
    gives(top, "look() k;", statements, [1, 4, 0]);
}

/// Section 12.8: a range is evaluated once, and the loop counts by itself.
#[test]
fn a_loop_counts_whatever_its_body_writes() {
    let statements = "for (bit<8> v in 2 .. 4) { hdr.e.a = hdr.e.a + v; v = 0; }
        for (bit<8> k in hdr.e.b .. 3) { hdr.e.b = 7; hdr.e.c = hdr.e.c + k; }";
    gives("", "", statements, [9, 7, 6]);
}

/// Section 12.8: the elements of a loop are evaluated before its first iteration.
#[test]
fn a_loop_goes_over_the_elements_that_there_were() {
    gives(
        "",
        "",
        "hdr.s[1].x = 1; for (h_t h in hdr.s) { hdr.e.a = hdr.e.a + h.x; hdr.s[2].x = 7; hdr.s[1].x = 5; }",
        [1, 0, 0],
    );
}

/// Section 8.20: at most one header of a union is valid.
#[test]
fn headers_of_a_union_come_back_one_after_the_other() {
    let top = "void both(out h_t h, out g_t g) { h = { 1, 2 }; g = { 3 }; }";
    gives(
        top,
        "",
        "both(hdr.u.h, hdr.u.g); hdr.e.a = hdr.u.g.isValid() ? 8w1 : 0; hdr.e.b = hdr.u.h.isValid() ? 8w1 : 0;",
        [1, 0, 0],
    );
    gives(
        "",
        "",
        "hdr.u.g = hdr.u.g; hdr.e.a = hdr.u.isValid() ? 8w1 : 0;",
        [0, 0, 0],
    );
    let untouched = "control untouched(inout h_t h) { apply { } }";
    let statements = "hdr.u.g = { 3 }; k.apply(hdr.u.h); hdr.e.a = hdr.u.isValid() ? 8w1 : 0;";
    gives(untouched, "untouched() k;", statements, [0, 0, 0]);
    let both = "control both(inout h_t h, out g_t g) { apply { g = { 3 }; h.x = h.isValid() ? 8w1 : 2; } }";
    let statements = "hdr.u.h = { 0, 0 }; k.apply(g = hdr.u.g, h = hdr.u.h); hdr.e.a = hdr.u.h.x;";
    gives(both, "both() k;", statements, [1, 0, 0]);
    let make = "action make(out g_t g) { g = { 7 }; exit; }";
    gives("", make, "make(hdr.u.g);", [0, 0, 0]);
    let stop = "action stop(inout h_t h, inout bit<8> x) { h.x = 1; x = 2; exit; }";
    gives("", stop, "stop(h = hdr.h, x = hdr.h.x);", [0, 0, 0]);
    let refused = Program::new(
        &loader(),
        &text("", stop, ["", "stop(x = hdr.u.h.x, h = hdr.u.h);"]),
    );
    assert!(refused.is_none());
    // After a callee that exits, there is no place for the effect of the copy on a header that the callee uses.
    let make = "action make(inout h_t h) { hdr.e.a = hdr.u.g.isValid() ? 8w1 : 0; exit; }";
    let refused = Program::new(&loader(), &text("", make, ["", "make(hdr.u.h);"]));
    assert!(refused.is_none());
}

/// Section 8.5 has no result for a divisor of 0: it is 0.
#[test]
fn divided_by_nothing_is_nothing() {
    gives(
        "",
        "",
        "hdr.e.a = 200 / hdr.e.b; hdr.e.b = 200 % hdr.e.b; hdr.e.c = (hdr.e.c + 7) / (hdr.e.c + 3);",
        [0, 0, 2],
    );
}

/// Section 8.10: a number without a width takes the width of a `type`; a conversion by way of `int` keeps the
/// value.
#[test]
fn numbers_take_the_type_of_their_place() {
    let top = "type bit<8> id_t; type id_t inner_t; const id_t FIVE = 5;
id_t next(in id_t of, in inner_t by = 2) { return of == FIVE && by == 2 ? 6 : of; }";
    let statements = "id_t i = 5; i = next(i); hdr.e.a = (bit<8>) i; tuple<int, bit<8>> t = { 3, 4 };
        hdr.e.b = t[0] + t[1] + 1; hdr.e.d = -1; hdr.e.w = (bit<16>)(int) hdr.e.d; hdr.e.c = hdr.e.w[15:8];";
    gives(top, "", statements, [6, 8, 255]);
}

/// Section 14.1: an action gets the data of its entry, in which headers are valid.
#[test]
fn actions_take_structs_headers_and_stacks_from_entries() {
    let local = "action set(pair_t p, h_t h) { hdr.e.a = p.p; hdr.e.b = h.isValid() ? h.x + p.q : 0; }
    action fill(in bit<8> x, h_t[2] s, bit<8> y) { hdr.e.c = s[0].x + s[1].y + x + y; }
    table t { key = { hdr.e.c: exact; } actions = { set; fill(hdr.e.b); } default_action = fill({ { 1, 2 }, { 3, 4 } }, 5);
        const entries = { 0: set({ 1, 2 }, { 3, 4 }); } }";
    gives("", local, "t.apply();", [1, 5, 0]);
    gives("", local, "hdr.e.c = 1; t.apply();", [0, 0, 10]);
    gives("", local, "t.apply(); t.apply();", [1, 5, 0]);
    gives(
        "",
        local,
        "set({ 1, 2 }, {#}); fill(7, { {#}, { 3, 4 } }, 5);",
        [1, 0, 16],
    );
}
