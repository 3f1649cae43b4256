//! A hand-written program with its description, for tests of everything below the compiler.

use bpf::abi::*;
use clang::Source;
use diag::{SourceMap, Span};
use ir::*;
use kernel::{Instance, load, test_run};
use layout::{
    ActionAbi, ByteOrder, Contents, CounterAbi, DefaultAbi, FieldAbi, GlobalsAbi, KeyAbi,
    LookupAbi, TableAbi, TupleSpaceAbi, ValueAbi,
};
use schema::Schema;
use std::sync::Arc;

fn field(name: &str, offset: u32, size: u32, order: ByteOrder) -> FieldAbi {
    FieldAbi {
        name: name.into(),
        offset,
        size,
        width: size * 8,
        order,
    }
}

fn map(name: &str, kind: MapKind, key_size: u32, value_size: u32, max_entries: u32) -> MapAbi {
    MapAbi {
        name: name.into(),
        kind,
        key_size,
        value_size,
        max_entries,
        no_prealloc: kind == MapKind::LpmTrie,
        mmapable: false,
    }
}

fn value(size: u32, at: u32, priority_offset: Option<u32>) -> ValueAbi {
    let action = |name: &str, params| ActionAbi {
        name: name.into(),
        params,
    };
    ValueAbi {
        size,
        priority_offset,
        action_offset: at,
        number_offset: None,
        actions: vec![
            action("out", vec![field("port", at + 4, 4, ByteOrder::Host)]),
            action("drop", vec![]),
            action("pass", vec![]),
        ],
    }
}

fn tables() -> Vec<TableAbi> {
    use ByteOrder::Network;
    let table = |index, name: &str, capacity, lookup, default, preload| TableAbi {
        index,
        name: name.into(),
        capacity,
        lookup,
        default,
        preload,
        direct: None,
        members: None,
    };
    let key = |size, fields| KeyAbi { size, fields };
    vec![
        table(
            0,
            "macs",
            2,
            LookupAbi::Hash {
                map: "macs".into(),
                key: key(8, vec![field("dst", 0, 6, Network)]),
                value: value(8, 0, None),
            },
            DefaultAbi::Global {
                slots: vec![16, 24],
                selector: Some(8),
                value: value(8, 0, None),
            },
            false,
        ),
        table(
            1,
            "routes",
            4,
            LookupAbi::Lpm {
                map: "routes".into(),
                key: key(12, vec![field("dst", 4, 6, Network)]),
                lpm_key: 0,
                prefix_base: 0,
                value: value(8, 0, None),
            },
            DefaultAbi::Const,
            true,
        ),
        table(
            2,
            "slots",
            4,
            LookupAbi::Array {
                map: "slots".into(),
                key_width: 8,
                value: value(8, 0, None),
            },
            DefaultAbi::Const,
            false,
        ),
        table(
            3,
            "rules",
            8,
            LookupAbi::TupleSpace(TupleSpaceAbi {
                masks: "rule_masks".into(),
                mask_offset: 8,
                max_masks: 8,
                entries: "rule_entries".into(),
                key_offset: 4,
                key: key(
                    8,
                    vec![field("type", 0, 2, Network), field("src", 2, 6, Network)],
                ),
                value: value(12, 4, Some(0)),
                head_offset: 0,
                shadow: "rule_shadow".into(),
            }),
            DefaultAbi::Const,
            false,
        ),
        table(4, "fixed", 0, LookupAbi::Compiled, DefaultAbi::Const, false),
    ]
}

fn abi() -> Abi {
    Abi {
        version: Abi::VERSION,
        source: "switch.p4".into(),
        arch: "xdp".into(),
        programs: vec![ProgramAbi {
            hook: Hook::Xdp,
            function: "filter".into(),
            section: "xdp".into(),
            stack_estimate: 0,
            instruction_estimate: 0,
            moves_head: false,
        }],
        maps: vec![
            map("macs", MapKind::Hash, 8, 8, 2),
            map("routes", MapKind::LpmTrie, 12, 8, 4),
            map("slots", MapKind::Array, 4, 8, 4),
            map("rule_masks", MapKind::Array, 4, 16, 16),
            map("rule_entries", MapKind::Hash, 12, 12, 32),
            map("rule_shadow", MapKind::Hash, 4, 34, 8),
            map("seen", MapKind::PercpuArray, 4, 8, 4),
            map("ports", MapKind::DevmapHash, 4, 4, 8),
            map("inputs", MapKind::Hash, 4, 4, 8),
        ],
        contents: Contents {
            globals: Some(GlobalsAbi {
                section: GLOBALS_SECTION.into(),
                size: 32,
                initial: vec![],
            }),
            tables: tables(),
            counters: vec![CounterAbi {
                index: 0,
                name: "seen".into(),
                map: "seen".into(),
                size: 4,
            }],
            ..Contents::default()
        },
        ports: PortsAbi {
            devmap: Some("ports".into()),
            input: Some("inputs".into()),
            ..PortsAbi::default()
        },
        traffic: bpf::abi::TrafficAbi::default(),
        events: None,
        uses: Vec::new(),
        packets: PacketsAbi::default(),
    }
}

/// Makes the program's tables as elaboration would leave them.
fn program() -> Program {
    let mut program = Program {
        arch: "xdp".into(),
        ..Program::default()
    };
    let port = program.vars.push(VarData {
        name: "port".into(),
        ty: Type::bit(32),
        span: Span::NONE,
    });
    for (name, params) in [("out", vec![port]), ("drop", vec![]), ("pass", vec![])] {
        program.actions.push(ActionData {
            name: name.into(),
            declared: vec![Declared::default(); params.len()],
            params,
            body: vec![],
            annotations: vec![],
            span: Span::NONE,
        });
    }
    let mut table = |name: &str, keys: &[(&str, u32, MatchKind)], entries: Vec<Entry>| {
        let keys = keys
            .iter()
            .map(|(name, width, kind)| Key {
                name: (*name).into(),
                expr: program.exprs.push(ExprData {
                    kind: ExprKind::Const(Bits::zero(*width)),
                    ty: Type::bit(*width),
                    span: Span::NONE,
                }),
                kind: *kind,
                declared: Declared::default(),
            })
            .collect();
        program.tables.push(TableData {
            name: name.into(),
            keys,
            actions: (0..3)
                .map(|a| TableAction {
                    action: Action::from_u32(a),
                    default_only: false,
                    table_only: false,
                })
                .collect(),
            default_action: DROP,
            const_default: name != "macs",
            const_entries: name == "fixed",
            entries,
            size: None,
            properties: vec![],
            annotations: vec![],
            span: Span::NONE,
        });
    };
    table("macs", &[("dst", 48, MatchKind::Exact)], vec![]);
    let own = Entry {
        keys: vec![prefix(0x0a00_0000_0000, 8)],
        priority: 0,
        action: out(3),
        is_const: true,
    };
    table("routes", &[("dst", 48, MatchKind::Lpm)], vec![own]);
    table("slots", &[("src", 8, MatchKind::Exact)], vec![]);
    let rules = [
        ("type", 16, MatchKind::Range),
        ("src", 48, MatchKind::Ternary),
    ];
    table("rules", &rules, vec![]);
    table("fixed", &[], vec![]);
    program.externs.push(ExternData {
        name: "seen".into(),
        ty: "CounterArray".into(),
        type_args: vec![],
        type_arg_names: vec![],
        type_arg_declared: vec![],
        args: vec![],
        implementations: vec![],
        annotations: vec![],
        span: Span::NONE,
    });
    program
}

/// Action `drop`.
pub(crate) const DROP: ActionCall = ActionCall {
    action: 1,
    args: vec![],
};

/// Action `pass`.
pub(crate) const PASS: ActionCall = ActionCall {
    action: 2,
    args: vec![],
};

/// Action `out(port)`.
pub(crate) fn out(port: u32) -> ActionCall {
    ActionCall {
        action: 0,
        args: vec![Bits::new(32, port)],
    }
}

pub(crate) fn prefix(value: u64, length: u32) -> KeyMatch {
    KeyMatch::Lpm(Bits::new(48, value), length)
}

pub(crate) fn exact(width: u32, value: u64) -> KeyMatch {
    KeyMatch::Exact(Bits::new(width, value))
}

pub(crate) fn entry(keys: Vec<KeyMatch>, priority: u32, action: ActionCall) -> Entry {
    Entry {
        keys,
        priority,
        action,
        is_const: false,
    }
}

pub(crate) fn table(index: u32) -> Table {
    Table::from_u32(index)
}

/// Makes a packet of 64 bytes.
pub(crate) fn packet(dst: u64, src: u64, kind: u16) -> Vec<u8> {
    let mut bytes = dst.to_be_bytes()[2..].to_vec();
    bytes.extend(&src.to_be_bytes()[2..]);
    bytes.extend(kind.to_be_bytes());
    bytes.resize(64, 0x55);
    bytes
}

/// Compiles a program in C to an object; `observe` is for test runs.
pub(crate) fn compile(text: &str, observe: bool) -> Vec<u8> {
    compile_with(text, if observe { &[test_run::OBSERVE] } else { &[] })
}

/// Compiles a program in C to an object, with these macros.
pub(crate) fn compile_with(text: &str, defines: &[&str]) -> Vec<u8> {
    let clang = clang::find().expect("these tests need clang");
    let source = Source {
        text,
        headers: &[("program.h", include_str!("program.h"))],
        include_dirs: &[],
        defines,
        effort: clang::Effort::Full,
        jumps: clang::Jumps::Short,
    };
    clang::compile(&clang, source).expect("compiles")
}

/// Compiles and loads the program; `observe` is for test runs.
pub(crate) fn instance(observe: bool) -> Instance {
    let object = compile(include_str!("switch.c"), observe);
    load(
        &object,
        &Arc::new(abi()),
        &Arc::new(Schema::of(&program())),
        &SourceMap::new(),
    )
    .unwrap_or_else(|f| panic!("{}\n{}", f.diagnostic.message, f.log))
}
