//! Semantics of statements and expressions, on a switch that passes four bytes and a payload byte.

use crate::common::{interpreter, run_body, sent, switch};
use interp::{Disposition, Fault, Interpreter, Options};

#[test]
fn fields_are_written_where_they_lie_and_the_payload_follows() {
    assert_eq!(run_body("", "  h.b = h.a + h.c;"), [1, 4, 3, 4, 9]);
}

#[test]
fn an_invalid_header_is_not_emitted_and_keeps_its_fields() {
    assert_eq!(run_body("", "  set_invalid h;\n  h.a = 8w77;"), [9]);
    assert_eq!(
        run_body("", "  set_invalid h;\n  h.a = 8w77;\n  set_valid h;"),
        [77, 2, 3, 4, 9]
    );
}

#[test]
fn headers_are_copied_with_their_validity() {
    let out = run_body(
        "header g: bytes",
        "  copy g = h;\n  set_invalid h;\n  g.a = 8w8;\n  copy h = g;",
    );
    assert_eq!(out, [8, 2, 3, 4, 9]);
    assert_eq!(run_body("header g: bytes", "  copy h = g;"), [9]);
}

#[test]
fn calls_copy_in_and_out() {
    let routine = "var p: bit<8>\nvar q: bit<8>\nvar r: bit<8>\nheader inner: bytes\n\
                   routine f function(in p, inout q, out r, header_inout inner) {\n\
                     r = r + p;\n  q = q + 8w1;\n  inner.d = 8w40;\n  p = 8w99;\n  return;\n  q = 8w0;\n}";
    // `q` is bound to `h.a`, whose changes the body does not see while it runs.
    let out = run_body(
        routine,
        "  y = 8w50;\n  call f(in h.b, inout h.a, out y, header h);\n  h.c = y;",
    );
    assert_eq!(out, [1, 2, 2, 40, 9], "the header's copy comes last");
    let out = run_body(
        routine,
        "  call f(in h.b, inout x, out _, header inner);\n  h.c = x;",
    );
    assert_eq!(out, [1, 2, 1, 4, 9]);
}

#[test]
fn return_ends_the_routine_and_exit_the_block_after_copying_out() {
    let routine = "var q: bit<8>\n\
                   routine leave control(inout q) {\n  q = 8w7;\n  exit;\n}\n\
                   routine back control(inout q) {\n  q = 8w6;\n  return;\n}";
    let body = |name: &str| format!("  call {name}(inout h.a);\n  h.b = 8w0;");
    assert_eq!(run_body(routine, &body("leave")), [7, 2, 3, 4, 9]);
    assert_eq!(run_body(routine, &body("back")), [6, 0, 3, 4, 9]);
    assert_eq!(run_body("", "  return;\n  h.a = 8w0;"), [1, 2, 3, 4, 9]);
}

#[test]
fn a_parser_enters_the_control_at_an_entry() {
    let enter = |entry: &str| {
        let text = switch(
            "",
            "  h.a = 8w50;
  if h.b == 8w2 {
    h.b = 8w60;
    entry e0;
    h.c = 8w70;
  } else {
    if h.b == 8w3 {
      h.b = 8w80;
      entry e1;
      h.c = 8w90;
      return;
    }
  }
  h.d = 8w100;
  entry e2;",
        );
        let accept = format!("xout.output_action = xdp_action::XDP_PASS;\n    goto accept{entry};");
        let text = text.replacen("goto accept;", &accept, 1);
        let mut interpreter = interpreter(&text);
        sent(&interpreter.run(0, &[1, 2, 3, 4, 9])).to_vec()
    };
    assert_eq!(enter(""), [50, 60, 70, 100, 9]);
    assert_eq!(enter(" at e0"), [1, 2, 70, 100, 9]);
    assert_eq!(enter(" at e1"), [1, 2, 90, 4, 9], "a return ends the block");
    assert_eq!(enter(" at e2"), [1, 2, 3, 4, 9]);
}

#[test]
fn loops_break_and_continue() {
    let body = "  loop label0 {\n    x = x + 8w1;\n    if x == 8w2 {\n      continue label0;\n    }\n\
                if x == 8w5 {\n      break label0;\n    }\n    y = y + x;\n  }\n  h.a = y;\n  h.b = x;";
    assert_eq!(run_body("", body), [8, 5, 3, 4, 9]);
    let body = "  block label1 {\n    loop label0 {\n      break label1;\n    }\n    h.a = 8w0;\n  }\n  h.b = 8w0;";
    assert_eq!(run_body("", body), [1, 0, 3, 4, 9]);
}

#[test]
fn switch_takes_the_case_with_the_value_or_the_default() {
    let body = "  switch h.a {\n    case 8w1, 8w5 {\n      h.b = 8w10;\n    }\n    default {\n      h.b = 8w11;\n    }\n  }\n\
                switch h.c {\n    case 8w1 {\n      h.d = 8w10;\n    }\n    default {\n      h.d = 8w11;\n    }\n  }";
    assert_eq!(run_body("", body), [1, 10, 3, 11, 9]);
}

const STACK: &str = "header s[0]: bytes\nheader s[1]: bytes\nheader s[2]: bytes\nvar s.next: bit<32>\n\
                     stack s next s.next { s[0], s[1], s[2] }";

#[test]
fn stacks_move_and_their_edges_are_safe() {
    let fill = "  copy s[0] = h;\n  copy s[1] = h;\n  s[1].a = 8w50;\n  s.next = 32w2;\n";
    let push = format!(
        "{fill}  push_front s by 1;\n  h.a = s[2].a;\n  h.b = s[1].a;\n  h.c = s[0].a;\n  h.d = cast(s.next, bit<8>);"
    );
    assert_eq!(run_body(STACK, &push), [50, 1, 0, 3, 9]);
    let pop = format!(
        "{fill}  pop_front s by 1;\n  h.a = s[0].a;\n  h.b = s[1].a;\n  h.c = cast(s.next, bit<8>);"
    );
    assert_eq!(run_body(STACK, &pop), [50, 0, 1, 4, 9]);
    let far = format!("{fill}  push_front s by 9;\n  h.a = s[2].a;\n  h.d = cast(s.next, bit<8>);");
    assert_eq!(run_body(STACK, &far), [0, 2, 3, 3, 9]);
    // Outside of the stack, reads are zero and writes have no effect.
    let outside =
        "  n = 32w5;\n  s[n].a = 8w9;\n  h.a = s[n].a;\n  copy s[n] = h;\n  copy h = s[n];";
    assert_eq!(run_body(STACK, outside), [9]);
}

#[test]
fn a_loop_without_end_is_given_up() {
    let mut it = interpreter(&switch("", "  loop label0 {\n  }"));
    let outcome = it.run(0, &[0; 8]);
    let steps = Options::default().steps;
    assert_eq!(
        outcome.disposition,
        Disposition::Fault(Fault::StepBudget { steps })
    );
    assert!(outcome.packets.is_empty());
}

#[test]
fn a_parser_without_end_rejects_the_packet() {
    let ends = "    extract h;
    goto accept;";
    let text = switch("", "");
    assert!(text.contains(ends));
    let text = text.replace(ends, "    goto start;");
    let outcome = interpreter(&text).run(0, &[0; 8]);
    assert_eq!(outcome.disposition, Disposition::Aborted);
    assert!(outcome.rejected);
    assert_eq!(outcome.parser_error.as_deref(), Some("ParserTimeout"));
}

#[test]
fn verdicts_decide_where_a_packet_goes() {
    let run = |member: &str| {
        let body =
            format!("  xout.output_action = xdp_action::{member};\n  xout.output_port = 32w3;");
        let outcome = interpreter(&switch("", &body)).run(7, &[1, 2, 3, 4]);
        let ports: Vec<u32> = outcome.packets.iter().map(|p| p.port).collect();
        (outcome.disposition, ports)
    };
    assert_eq!(run("XDP_ABORTED"), (Disposition::Aborted, vec![]));
    assert_eq!(run("XDP_DROP"), (Disposition::Drop, vec![]));
    assert_eq!(run("XDP_PASS"), (Disposition::Pass, vec![7]));
    assert_eq!(run("XDP_TX"), (Disposition::Tx, vec![7]));
    assert_eq!(run("XDP_REDIRECT"), (Disposition::Redirect(3), vec![3]));
}

#[test]
fn a_packet_that_is_too_short_is_aborted_and_state_does_not_leak() {
    let mut it = interpreter(&switch("", "  x = x + 8w1;\n  h.a = x;"));
    let outcome = it.run(0, &[1, 2, 3]);
    assert_eq!(outcome.disposition, Disposition::Aborted);
    assert_eq!(outcome.parser_error.as_deref(), Some("PacketTooShort"));
    for _ in 0..2 {
        assert_eq!(crate::common::sent(&it.run(0, &[9, 2, 3, 4])), [1, 2, 3, 4]);
    }
}

fn refusal(declarations: &str, body: &str) -> String {
    let text = switch(declarations, body);
    let Err(diagnostics) = Interpreter::new(crate::common::program(&text), Options::default())
    else {
        panic!("accepted");
    };
    let lines = diagnostics.iter().map(|d| {
        let help = d.help.as_deref().unwrap_or("no help");
        format!("{}: {}\n  {help}", d.code.0, d.message)
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn externs_without_a_meaning_are_refused_by_name() {
    assert_eq!(
        refusal("", "  extern my_own(in(x));"),
        "E0710: the interpreter does not implement the extern `my_own`\n  \
         supply a function in C with `--extern FILE.c`, or write the extern's work as a P4 function"
    );
    assert!(refusal("extern o: Mine {\n}", "").contains("the extern `Mine`"));
}

#[test]
fn deep_nesting_is_refused_before_it_runs() {
    let mut program = (*crate::common::program(&switch("", "  x = 8w1;"))).clone();
    let stmt = program.routines.values().next().unwrap().body[1].clone();
    let cond = program.exprs.push(ir::ExprData {
        kind: ir::ExprKind::Bool(true),
        ty: ir::Type::Bool,
        span: diag::Span::NONE,
    });
    let mut block = vec![stmt];
    for _ in 0..1100 {
        let kind = ir::StmtKind::If {
            cond,
            then: block,
            otherwise: Vec::new(),
        };
        block = vec![ir::Stmt::new(kind, diag::Span::NONE)];
    }
    program.routines.values_mut().next().unwrap().body = block;
    let error = Interpreter::new(std::sync::Arc::new(program), Options::default()).unwrap_err();
    let messages: Vec<_> = error.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(messages, ["statements are nested more than 1000 deep here"]);
}

#[test]
fn an_unknown_package_is_refused() {
    let text = switch("", "").replace("program xdp", "program PSA_Switch");
    let error = Interpreter::new(crate::common::program(&text), Options::default()).unwrap_err();
    let messages: Vec<_> = error.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(
        messages,
        ["the interpreter cannot run a program for the package `PSA_Switch`"]
    );
}
