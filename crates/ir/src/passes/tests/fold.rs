use super::*;
use crate::passes::fold::run;

fn fold(body: &str) -> String {
    block(body, &[run])
}

#[test]
fn constants_are_computed() {
    assert_eq!(fold("a = 8w200 + 8w100;"), "a = 8w0x2c;");
    assert_eq!(fold("f = (a + 8w0) == (a | 8w0);"), "f = true;");
    assert_eq!(fold("a = (w[31:16] ++ w[15:0])[7:0];"), "a = w[7:0];");
    assert_eq!(fold("f = cast(a, bit<32>) == 32w7;"), "f = a == 8w7;");
    assert_eq!(fold("f = cast(a, bit<32>) == 32w256;"), "f = false;");
    assert_eq!(fold("f = !(a < b);"), "f = a >= b;");
    assert_eq!(fold("a = a;"), "");
}

#[test]
fn known_branches_are_folded() {
    assert_eq!(fold("if true { a = b; } else { a = c; }"), "a = b;");
    assert_eq!(fold("if f { } else { a = c; }"), "if !f { a = c; }");
    assert_eq!(fold("if f { }"), "");
    assert_eq!(
        fold("switch 8w1 + 8w1 { case 8w1 { a = b; } case 8w2 { a = c; } }"),
        "a = c;"
    );
    assert_eq!(fold("switch a { default { a = c; } }"), "a = c;");
}

#[test]
fn what_no_path_reaches_goes() {
    assert_eq!(fold("return; a = b;"), "return;");
    assert_eq!(
        fold("if f { return; } else { exit; } a = b;"),
        "if f { return; } else { exit; }"
    );
    assert_eq!(
        fold("block label0 { a = b; break label0; a = c; }"),
        "a = b;"
    );
    assert_eq!(
        fold("block label0 { if f { break label0; } a = b; }"),
        "block label0 { if f { break label0; } a = b; }"
    );
    assert_eq!(
        fold("block label0 { a = b; if f { break label0; } else { a = c; break label0; } }"),
        "a = b; if !f { a = c; }"
    );
    assert_eq!(fold("loop label0 { a = b; break label0; }"), "a = b;");
}

#[test]
fn selects_on_constants_are_settled() {
    let text = "parser p start s {
    state s {
        select (8w5, a) {
            (8w4, _) -> reject;
            (8w0 .. 8w7, 8w1) -> s;
            (_, _) -> accept;
            (_, _) -> reject;
        }
    }
}
";
    assert_eq!(
        after(text, &[run]),
        "parser p start s {
    state s {
        select (8w5, a) {
            (8w0 .. 8w7, 8w1) -> s;
            (_, _) -> accept;
        }
    }
}
"
    );
}
