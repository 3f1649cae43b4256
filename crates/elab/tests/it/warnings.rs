//! Programs that elaboration accepts with a warning.

use crate::support::{Outcome, compile, complete};

fn warnings(text: &str) -> Vec<(&'static str, String)> {
    warnings_of(&complete(text))
}

fn warnings_of(program: &str) -> Vec<(&'static str, String)> {
    match compile("test.p4", program) {
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

#[test]
fn an_algorithm_that_is_like_another_here_is_reported_once_a_use() {
    let text = "#include <v1model.p4>
        struct h_t { } struct m_t { bit<16> a; }
        parser p(packet_in b, out h_t h, inout m_t m, inout standard_metadata_t s) { state start { transition accept; } }
        control ck(inout h_t h, inout m_t m) { apply { } }
        control sums(inout h_t h, inout m_t m) {
            apply { update_checksum(true, { m.a }, m.a, HashAlgorithm.crc16_custom); }
        }
        control hashes(inout m_t m)(HashAlgorithm by) {
            apply { hash(m.a, by, 16w0, { m.a }, 32w10); }
        }
        control i(inout h_t h, inout m_t m, inout standard_metadata_t s) {
            hashes(HashAlgorithm.crc32) plain;
            hashes(HashAlgorithm.crc32_custom) custom;
            action to(bit<9> port) { s.egress_spec = port; }
            table t {
                key = { m.a : selector; }
                actions = { to; }
                implementation = action_selector(HashAlgorithm.crc32_custom, 8, 4);
            }
            apply { plain.apply(m); custom.apply(m); custom.apply(m); t.apply(); }
        }
        control e(inout h_t h, inout m_t m, inout standard_metadata_t s) { apply { } }
        control d(packet_out b, in h_t h) { apply { } }
        V1Switch(p(), ck(), i(), e(), sums(), d()) main;";
    let found: Vec<_> = warnings_of(text)
        .into_iter()
        .map(|(code, _)| code)
        .collect();
    assert_eq!(found, ["W0554"; 3]);
}
