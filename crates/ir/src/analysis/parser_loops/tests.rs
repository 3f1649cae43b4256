use super::*;
use crate::text;

/// Returns the loops of a parser whose states have these transitions, each as its head and its paths.
fn loops(states: &[(&str, &str)], most: usize) -> Vec<String> {
    let states: String = states
        .iter()
        .map(|(name, transition)| format!("state {name} {{\n{transition}\n}}\n"))
        .collect();
    let program = text::parse(&format!(
        "program p reject stop\nerrors NoError\nvar a: bit<8>\nparser p start s {{\n{states}}}\n"
    ))
    .unwrap_or_else(|e| panic!("{e}"));
    let parser = program.parsers.values().next().expect("a parser");
    let name = |state: State| parser.states[state].name.as_str();
    let iteration = |iteration: &Iteration| {
        let steps: Vec<_> = iteration
            .iter()
            .map(|step| format!("{}:{}", name(step.state), step.target))
            .collect();
        steps.join(" ")
    };
    find(parser, most)
        .iter()
        .map(|found| {
            let iterations: Vec<_> = found.iterations.iter().map(iteration).collect();
            format!("{} {{{}}}", name(found.head), iterations.join(", "))
        })
        .collect()
}

const TWO: &str = "select (a) { (8w1) -> x; (8w2) -> y; (_) -> accept; }";

#[test]
fn every_path_back_to_the_head_is_an_iteration() {
    let states = [
        ("s", "goto h;"),
        ("h", TWO),
        ("x", "goto h;"),
        ("y", "select (a) { (8w3) -> accept; (8w4) -> x; (_) -> h; }"),
    ];
    assert_eq!(loops(&states, 8), ["h {h:0 x:0, h:1 y:1 x:0, h:1 y:2}"]);
}

#[test]
fn a_loop_with_more_iterations_than_are_asked_for_is_none() {
    let states = [("s", TWO), ("x", "goto s;"), ("y", "goto s;")];
    assert_eq!(loops(&states, 2), ["s {s:0 x:0, s:1 y:0}"]);
    assert!(loops(&states, 1).is_empty());
}

#[test]
fn a_state_may_be_its_own_loop() {
    let states = [("s", "select (a) { (8w1) -> accept; (_) -> s; }")];
    assert_eq!(loops(&states, 8), ["s {s:1}"]);
}

#[test]
fn of_nested_loops_the_inner_one_is_found() {
    let states = [
        ("s", "goto x;"),
        ("x", "select (a) { (8w1) -> x; (8w2) -> s; (_) -> accept; }"),
    ];
    assert_eq!(loops(&states, 8), ["x {x:0}"]);
}

#[test]
fn a_loop_that_is_entered_in_two_places_is_none() {
    let states = [
        ("s", TWO),
        ("x", "goto y;"),
        ("y", "select (a) { (8w1) -> x; (_) -> accept; }"),
    ];
    assert!(loops(&states, 8).is_empty());
}

#[test]
fn what_goes_nowhere_back_has_no_loop() {
    let states = [("s", TWO), ("x", "goto y;"), ("y", "goto accept;")];
    assert!(loops(&states, 8).is_empty());
}
