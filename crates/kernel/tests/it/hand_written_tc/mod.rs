//! A hand-written program for traffic control with a description as the compiler gives it.
#![allow(dead_code, reason = "not every test uses all of it")]

use crate::hand_written::compile;
use bpf::abi::{
    Abi, Hook, MapAbi, MapKind, PortsAbi, ProgramAbi, TrafficAbi, drops_map, groups_map,
    sessions_map,
};
use diag::SourceMap;
use kernel::{Instance, load};
use layout::{Contents, FieldAbi, FlowStateAbi, KeyAbi};
use schema::Schema;
use std::sync::Arc;

/// Requests of a packet, in the last byte of its destination.
pub(crate) mod what {
    pub(crate) const PASS: u8 = 0;
    pub(crate) const DROP: u8 = 1;
    pub(crate) const REDIRECT: u8 = 2;
    pub(crate) const REDIRECT_INGRESS: u8 = 3;
    pub(crate) const CLONE: u8 = 4;
    pub(crate) const MULTICAST: u8 = 5;
    pub(crate) const REPORT: u8 = 6;
    pub(crate) const REPORT_OBSERVED: u8 = 7;
    pub(crate) const LOSE: u8 = 8;
    pub(crate) const SESSION: u8 = 9;
}

/// Makes a packet of 64 bytes with a request, and a port or group.
pub(crate) fn packet(what: u8, port: u8) -> Vec<u8> {
    let mut bytes = vec![2, 0, 0, 0, 0, what, 2, 0, 0, 0, 0, port, 0x08, 0x00];
    bytes.resize(64, 0x55);
    bytes
}

/// The capacity for flows, unless configured otherwise.
pub(crate) const FLOWS: u32 = 8;

/// Makes the description of the program, with capacity for so many flows.
pub(crate) fn abi(hook: Hook, flows: u32) -> Abi {
    let map = |name: &str, kind, value_size, max_entries| MapAbi {
        name: name.into(),
        kind,
        key_size: 4,
        value_size,
        max_entries,
        no_prealloc: false,
        mmapable: false,
    };
    let field = |name: &str, size| FieldAbi {
        name: name.into(),
        offset: 0,
        size,
        width: size * 8,
        order: layout::ByteOrder::Network,
    };
    let text = r#"{"version":1,"source":"tc.p4","arch":"tc","programs":[],"maps":[],"globals":null,"tables":[],
        "value_sets":[],"counters":[],"ports":{"devmap":null,"input":null},"events":null}"#;
    Abi {
        programs: vec![ProgramAbi {
            hook,
            function: "classify".into(),
            section: "tc".into(),
            stack_estimate: 0,
            instruction_estimate: 0,
            moves_head: false,
        }],
        maps: vec![
            map("inputs", MapKind::Hash, 4, 8),
            map("outputs", MapKind::Hash, 4, 8),
            map("groups", MapKind::Hash, 132, 2),
            map("flows", MapKind::Array, 8, flows),
        ],
        contents: Contents {
            flow_states: vec![FlowStateAbi {
                index: 0,
                name: "flows".into(),
                map: "flows".into(),
                sets: flows,
                ways: 1,
                tags_offset: 0,
                used_offset: 0,
                evicted_offset: None,
                ways_offset: 0,
                way_size: 8,
                seen_offset: None,
                idle: 0,
                key: KeyAbi {
                    size: 4,
                    fields: vec![field("index", 4)],
                },
                value: vec![field("packets", 8)],
            }],
            ..Contents::default()
        },
        ports: PortsAbi {
            below: None,
            devmap: None,
            input: Some("inputs".into()),
            egress: Some("outputs".into()),
            groups: Some("groups".into()),
        },
        ..serde_json::from_str(text).expect("an empty description")
    }
}

/// Compiles the object, with capacity for so many flows.
pub(crate) fn object(observe: bool, flows: u32) -> Vec<u8> {
    let text = format!("#define FLOWS {flows}\n{}", include_str!("tc.c"));
    compile(&text, observe)
}

/// Compiles and loads the program for a hook; `observe` is for test runs.
pub(crate) fn instance(hook: Hook, observe: bool) -> Instance {
    load(
        &object(observe, FLOWS),
        &Arc::new(abi(hook, FLOWS)),
        &Arc::new(Schema::default()),
        &SourceMap::new(),
    )
    .unwrap_or_else(|f| panic!("{}\n{}", f.diagnostic.message, f.log))
}

/// Number of multicast groups, and of clone sessions, that the program below has room for.
pub(crate) const COPIES: u32 = 64;

/// Compiles the object of a program with clone sessions, and groups whose copies differ.
pub(crate) fn object_with_copies(observe: bool) -> Vec<u8> {
    let text = include_str!("tc.c");
    let text = format!("#define FLOWS {FLOWS}\n#define COPIES {COPIES}\n{text}");
    compile(&text, observe)
}

/// Makes its description.
pub(crate) fn abi_with_copies() -> Abi {
    let with_room = |map: MapAbi| MapAbi {
        max_entries: COPIES,
        ..map
    };
    let mut abi = abi(Hook::TcIngress, FLOWS);
    abi.maps.extend([
        with_room(groups_map("replicas")),
        with_room(sessions_map("sessions")),
        drops_map("losses"),
    ]);
    abi.ports.groups = None;
    abi.traffic = TrafficAbi {
        groups: Some("replicas".into()),
        sessions: Some("sessions".into()),
        drops: Some("losses".into()),
    };
    abi
}

/// Loads the program.
pub(crate) fn instance_with_copies(object: &[u8]) -> Instance {
    let schema = Schema {
        clones: true,
        ..Schema::default()
    };
    let (abi, schema) = (Arc::new(abi_with_copies()), Arc::new(schema));
    load(object, &abi, &schema, &SourceMap::new())
        .unwrap_or_else(|f| panic!("{}\n{}", f.diagnostic.message, f.log))
}
