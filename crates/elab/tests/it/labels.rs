//! Secondary labels of messages.

use crate::support::{Outcome, compile, complete};

/// Returns the texts of the labels besides the first one.
fn others(text: &str) -> Vec<String> {
    let Outcome::Refused(found, _) = compile("test.p4", &complete(text)) else {
        panic!("not refused")
    };
    let labels = found.iter().flat_map(|d| &d.secondary);
    labels.map(|label| label.text.clone()).collect()
}

#[test]
fn an_instance_applied_to_other_objects_says_where_it_was_applied_first() {
    let text = "CounterArray(4, false) one;
        CounterArray(4, false) two;
        control inner(CounterArray n) { apply { n.increment(0); } }
        control c(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
            inner() i;
            apply { i.apply(one); i.apply(one); i.apply(two); }
        }";
    assert_eq!(others(text), ["applied here first"]);
}
