//! What elaboration accepts with a warning.

use crate::support::{Outcome, compile, complete};

fn warnings(text: &str) -> Vec<(&'static str, String)> {
    match compile("test.p4", &complete(text)) {
        Outcome::Program(_, warnings) => warnings
            .iter()
            .map(|d| (d.code.0, d.message.clone()))
            .collect(),
        Outcome::Refused(_, why) | Outcome::Unchecked(why) | Outcome::Broken(why) => {
            panic!("{why}")
        }
    }
}

fn table_of_two_entries(size: u32) -> String {
    format!(
        "control c(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {{
            table t {{
                key = {{ hdr.h.a : exact; }}
                actions = {{ NoAction; }}
                size = {size};
                const entries = {{ 1 : NoAction(); 2 : NoAction(); }}
            }}
            apply {{ t.apply(); }}
        }}"
    )
}

#[test]
fn a_table_smaller_than_its_own_entries_is_reported() {
    assert_eq!(warnings(&table_of_two_entries(2)), []);
    let message = "the table `c.t` has 2 entries but a size of 1".to_owned();
    assert_eq!(warnings(&table_of_two_entries(1)), [("W0551", message)]);
}
