//! Programs of the repository that a hook rejects.

use crate::files::short;
use std::path::Path;

/// Programs that only traffic control runs, each with a phrase of the error at XDP. Each must be rejected there, so
/// that this list stays exact.
const AT_XDP: [(&str, &str); 24] = [
    ("programs/deep4r/deep4r.p4", "clone a packet"),
    (
        "programs/payload/recirculation/recirculation.p4",
        "clone a packet",
    ),
    (
        "programs/v1model/learning_switch/learning_switch.p4",
        "multicast groups",
    ),
    ("tests/scale/campus.p4", "recirculate a packet"),
    ("tests/stf/deep4r/few_ids.p4", "clone a packet"),
    ("tests/stf/deep4r/free_ids.p4", "clone a packet"),
    ("tests/stf/deep4r/links.p4", "clone a packet"),
    ("tests/stf/deep4r/slices2.p4", "clone a packet"),
    ("tests/stf/deep4r/slices4.p4", "clone a packet"),
    ("tests/stf/metrics/switch.p4", "multicast groups"),
    ("tests/stf/v1model/clone_egress.p4", "clone a packet"),
    ("tests/stf/v1model/clone_ingress.p4", "clone a packet"),
    ("tests/stf/v1model/copies_checked.p4", "clone a packet"),
    ("tests/stf/v1model/copies_of_options.p4", "clone a packet"),
    (
        "tests/stf/v1model/cut_and_recirculated.p4",
        "resubmit a packet",
    ),
    ("tests/stf/v1model/cut_short.p4", "cut a packet"),
    ("tests/stf/v1model/fields_by_value.p4", "clone a packet"),
    ("tests/stf/v1model/flood.p4", "multicast groups"),
    ("tests/stf/v1model/kept_arrays.p4", "resubmit a packet"),
    ("tests/stf/v1model/kept_by_copies.p4", "clone a packet"),
    ("tests/stf/v1model/multicast.p4", "multicast groups"),
    ("tests/stf/v1model/recirculate.p4", "recirculate a packet"),
    ("tests/stf/v1model/resubmit.p4", "resubmit a packet"),
    ("tests/stf/v1model/tagged_copies.p4", "clone a packet"),
];

/// Returns a phrase of the error that a program gives at XDP, if only traffic control runs it.
pub fn at_xdp(program: &Path) -> Option<&'static str> {
    let name = short(program);
    let (_, phrase) = AT_XDP.iter().find(|(known, _)| *known == name)?;
    Some(phrase)
}
