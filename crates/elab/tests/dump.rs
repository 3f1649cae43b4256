mod support;
#[test]
#[ignore]
fn dump() {
    let path = std::env::var("P4").unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    match support::compile("main.p4", &text) {
        support::Outcome::Program(p, w) => println!("{p}\n{w:?}"),
        support::Outcome::Unchecked(w)
        | support::Outcome::Refused(_, w)
        | support::Outcome::Broken(w) => println!("FAILED {w}"),
    }
}
