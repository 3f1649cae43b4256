//! Tests of TCP streams through the programs of `programs/` and `tests/scale/`, between interfaces with Linux's
//! default settings. Needs root.

mod carried;
mod cases;
mod net;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Programs that carry no stream between two hosts, and why.
const OTHERS: &[(&str, &str)] = &[
    (
        "programs/deep4r/deep4r.p4",
        "searches payloads of up to 30 bytes in the kernel: the session `kernel::deep4r` has streams through larger slices",
    ),
    (
        "programs/pdm/egress.p4",
        "one of a pair at the ends: `pdm` has its streams",
    ),
    ("programs/pdm/ingress.p4", "likewise"),
    (
        "programs/v1model/calculator/calculator.p4",
        "answers its own protocol",
    ),
    (
        "programs/v1model/load_balancer/load_balancer.p4",
        "forwards UDP alone",
    ),
    (
        "programs/v1model/source_routing/source_routing.p4",
        "takes paths off, which no program of ours puts on",
    ),
    (
        "programs/xdp15/xdp15.p4",
        "sends frames back behind eight bytes that no host knows",
    ),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn programs_below(folder: &str, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(root().join(folder)).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if entry.file_type().expect("a type").is_dir() {
            programs_below(&name, found);
        } else if name.ends_with(".p4") {
            found.insert(name);
        }
    }
}

#[test]
fn every_program_is_tried_or_has_a_reason() {
    let mut there = BTreeSet::new();
    programs_below("programs", &mut there);
    programs_below("tests/scale", &mut there);
    let mut known: BTreeSet<String> = OTHERS.iter().map(|(p, _)| (*p).to_owned()).collect();
    for router in cases::ALL.iter().flat_map(|case| case.routers) {
        let tried = match router.program.strip_suffix("/guard.toml") {
            Some(bundle) => ["in", "out"].map(|p| format!("{bundle}/{p}.p4")).to_vec(),
            None => vec![router.program.to_owned()],
        };
        for program in tried {
            let reason = OTHERS.iter().find(|(other, _)| *other == program);
            assert_eq!(reason, None, "{program} is tried all the same");
            known.insert(program);
        }
    }
    assert_eq!(there, known, "each program is a case or one of `OTHERS`");
}
