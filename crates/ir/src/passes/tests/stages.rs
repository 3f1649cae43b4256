use super::*;
use crate::passes::{self, thread};

/// Returns two stages with the same states: `first` is the first one's control, and the second one tests its results.
fn two_stages(first: &str, second: &str) -> Program {
    let states = |name: &str, header: &str| {
        format!(
            "parser {name} start s {{\n    state s {{\n        extract {header};\n        goto accept;\n    }}\n}}\n"
        )
    };
    let text = format!(
        "{HEAD}{}{}routine c block() {{\n{first}\n}}\nroutine d block() {{\n{second}\n}}\n\
         pipeline one parser p\npipeline two control c\npipeline three parser q\npipeline four control d\n\
         slot meta {{\n    var \"a\" = a;\n}}\n",
        states("p", "h.eth"),
        states("q", "h.t0"),
    );
    let mut program = text::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    program.number_stmts();
    program
}

fn second(program: &Program) -> String {
    let text = program.to_string();
    let from = text.find("routine d").unwrap();
    text[from..text.find("parser p").unwrap()].to_owned()
}

#[test]
fn nothing_but_slots_leads_from_stage_to_stage() {
    let mut program = two_stages("a = h.eth.dst[7:0]; b = 8w1;", "c = a; port = b ++ 24w0;");
    passes::propagate::run(&mut program);
    assert_eq!(
        second(&program),
        "routine d block() {\n    c = a;\n    port = b ++ 24w0;\n}\n"
    );
}

#[test]
fn edges_of_every_parser_lead_into_its_own_control() {
    let first = "if valid(h.eth) { a = 8w1; }";
    let mut program = two_stages(first, "if valid(h.t0) { port = 32w1; }");
    thread::run(&mut program);
    verify(&program).unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(
        program.to_string().matches("accept at").count(),
        2,
        "{program}"
    );
}
