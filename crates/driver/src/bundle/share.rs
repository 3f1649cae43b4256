//! State that programs share: its maps, and the check that the declarations agree.

use super::{Bundle, SharedBy, errors};
use bpf::abi::Abi;
use control::names::{self, NameError};
use diag::{Diagnostic, Diagnostics};
use kernel::bundle::SharedMap;
use layout::{FieldAbi, StateAbi};
use schema::{MetricKind, Object, ObjectKind, ObjectSchema, Schema};

/// Finds the maps of a bundle's shares, given its compiled programs in order. All errors are reported together.
pub(super) fn shared_maps(
    bundle: &Bundle,
    programs: &[(&Abi, &Schema)],
) -> Result<Vec<SharedMap>, Diagnostics> {
    let mut wrong = Diagnostics::new();
    let mut shared = Vec::new();
    let mut seen: Vec<(usize, String, &SharedBy)> = Vec::new();
    let label = |part: &SharedBy| format!("{}.{}", name(bundle, part), part.state);
    for share in &bundle.shares {
        let mut maps: Vec<(usize, String)> = Vec::new();
        let mut first: Option<(&SharedBy, DescribedState)> = None;
        for part in &share.of {
            let Some(&program) = programs.get(part.program) else {
                continue;
            };
            let state = match find(bundle, part, program) {
                Ok(state) => state,
                Err(refusal) => {
                    wrong.push(*refusal);
                    continue;
                }
            };
            // Two names of one state differ as texts.
            let of_part = |(program, state_name, _): &&(usize, String, _)| {
                *program == part.program && state_name == state.abi.name()
            };
            if let Some((_, _, first)) = seen.iter().find(of_part) {
                let (this, other) = (label(part), label(first));
                wrong.push(errors::one_state(part.span, &this, &other, first.span));
                continue;
            }
            seen.push((part.program, state.abi.name().to_owned(), part));
            maps.push((part.program, state.abi.map().to_owned()));
            let (first_part, first_state) = *first.get_or_insert((part, state));
            if let Some(how) = difference(first_state, state) {
                wrong.push(errors::states_differ(
                    part.span,
                    &label(part),
                    &label(first_part),
                    first_part.span,
                    &how,
                ));
            }
        }
        shared.push(SharedMap { maps });
    }
    if wrong.has_errors() {
        Err(wrong)
    } else {
        Ok(shared)
    }
}

fn name<'a>(bundle: &'a Bundle, part: &SharedBy) -> &'a str {
    &bundle.programs[part.program].name.value
}

fn find<'a>(
    bundle: &Bundle,
    part: &SharedBy,
    (abi, schema): (&'a Abi, &'a Schema),
) -> Result<DescribedState<'a>, Box<Diagnostic>> {
    let mut all = abi.contents.states();
    let names = || abi.contents.states().map(StateAbi::name);
    let program = name(bundle, part);
    let refusal = match names::resolve(names(), &part.state) {
        Ok(index) => match all.nth(index) {
            Some(abi) => {
                let object = object(abi, schema);
                return Ok(DescribedState { abi, object });
            }
            None => errors::unknown_state(part.span, program, &part.state, &[]),
        },
        Err(NameError::Unknown { .. }) => {
            let present: Vec<&str> = names().collect();
            errors::unknown_state(part.span, program, &part.state, &present)
        }
        Err(NameError::Ambiguous { candidates }) => {
            let fitting: Vec<&str> = candidates.iter().map(String::as_str).collect();
            errors::ambiguous_state(part.span, program, &part.state, &fitting)
        }
    };
    Err(Box::new(refusal))
}

/// A state: the layout of its map, and its object in the schema.
#[derive(Clone, Copy)]
struct DescribedState<'a> {
    abi: StateAbi<'a>,
    object: Option<&'a ObjectSchema>,
}

/// Returns the object that has a state. The layout alone does not reveal its type, as objects of different types may
/// have the same size.
fn object<'a>(state: StateAbi<'_>, schema: &'a Schema) -> Option<&'a ObjectSchema> {
    let index = match state {
        StateAbi::Flows(flows) => flows.index,
        StateAbi::Metrics(metrics) => metrics.index,
    };
    schema.objects.get(Object::from_u32(index))
}

/// Describes the first difference between two states, in the words of their declarations.
fn difference(a: DescribedState, b: DescribedState) -> Option<String> {
    let what = |name: &str, a: &dyn std::fmt::Display, b: &dyn std::fmt::Display| {
        Some(format!("{name} {b} instead of {a}"))
    };
    let objects = a.object.zip(b.object);
    if let Some((a, b)) = objects.filter(|(a, b)| a.extern_name != b.extern_name) {
        return Some(format!(
            "`{}` instead of `{}`",
            b.extern_name, a.extern_name
        ));
    }
    let precisions = objects.and_then(|(a, b)| precision(a).zip(precision(b)));
    if let Some((a, b)) = precisions.filter(|(a, b)| a != b) {
        return what("a precision of", &a, &b);
    }
    let (a, b) = (a.abi, b.abi);
    if shape(a.key()) != shape(b.key()) {
        return what("a key of", &words(a.key()), &words(b.key()));
    }
    if shape(a.value()) != shape(b.value()) {
        return what("a value of", &words(a.value()), &words(b.value()));
    }
    if a.room() != b.room() {
        return what("a size of", &a.room(), &b.room());
    }
    if a.idle() != b.idle() {
        let idle = |state: StateAbi| match state.idle() {
            0 => "0 (flows never expire)".to_string(),
            ns => format!("{ns} ns"),
        };
        return what("an idle time of", &idle(a), &idle(b));
    }
    (!a.is_like(b)).then(|| "another layout".to_string())
}

/// Returns the precision of an object that counts distinct items: the binary logarithm of its number of registers.
fn precision(object: &ObjectSchema) -> Option<u32> {
    match object.kind {
        ObjectKind::Metrics {
            kind: MetricKind::Distinct { precision },
            ..
        } => Some(precision),
        _ => None,
    }
}

/// Returns the widths of fields, in bits. Their names may differ.
fn shape(fields: &[FieldAbi]) -> Vec<u32> {
    fields.iter().map(|f| f.width).collect()
}

fn words(fields: &[FieldAbi]) -> String {
    let each: Vec<String> = fields
        .iter()
        .map(|f| format!("bit<{}> {}", f.width, f.name))
        .collect();
    format!("{{{}}}", each.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bpf::abi::{Hook, PacketsAbi, PortsAbi, ProgramAbi, TrafficAbi};
    use diag::SourceMap;
    use layout::Contents;
    use layout::{ByteOrder, FlowStateAbi, KeyAbi, MetricsAbi};

    const FLOWS: &str = "x = [\"in.flows\", \"out.flows\"]";

    fn field(name: &str, offset: u32, width: u32) -> FieldAbi {
        FieldAbi {
            name: name.into(),
            offset,
            size: width / 8,
            width,
            order: ByteOrder::Network,
        }
    }

    fn state(name: &str) -> FlowStateAbi {
        FlowStateAbi {
            index: 0,
            name: name.into(),
            map: name.rsplit('.').next().unwrap().into(),
            sets: 128,
            ways: 8,
            tags_offset: 8,
            used_offset: 40,
            evicted_offset: None,
            ways_offset: 72,
            way_size: 16,
            seen_offset: None,
            idle: 0,
            key: KeyAbi {
                size: 4,
                fields: vec![field("source", 0, 32)],
            },
            value: vec![field("packets", 8, 64)],
        }
    }

    fn abi(states: Vec<FlowStateAbi>) -> Abi {
        Abi {
            version: Abi::VERSION,
            source: "a.p4".into(),
            arch: "tc".into(),
            programs: vec![ProgramAbi {
                hook: Hook::TcIngress,
                function: "f".into(),
                section: "tc".into(),
                stack_estimate: 0,
                instruction_estimate: 0,
                moves_head: false,
            }],
            maps: vec![],
            contents: Contents {
                flow_states: states,
                ..Contents::default()
            },
            ports: PortsAbi::default(),
            traffic: TrafficAbi::default(),
            events: None,
            uses: Vec::new(),
            packets: PacketsAbi::default(),
        }
    }

    /// Returns the schema of a program with a single object, `flows`, of this type.
    fn schema(extern_name: &str, kind: ObjectKind) -> Schema {
        let mut schema = Schema::default();
        schema.objects.push(ObjectSchema {
            id: 0,
            name: "flows".into(),
            extern_name: extern_name.into(),
            kind,
            args: Vec::new(),
            annotations: Vec::new(),
        });
        schema
    }

    fn tally() -> Schema {
        let (kind, key) = (MetricKind::Tally, Vec::new());
        schema("tally", ObjectKind::Metrics { kind, key })
    }

    fn distinct(precision: u32) -> Schema {
        let (kind, key) = (MetricKind::Distinct { precision }, Vec::new());
        schema("distinct_count", ObjectKind::Metrics { kind, key })
    }

    fn flow_state() -> Schema {
        let (key, value) = Default::default();
        schema("flow_state", ObjectKind::FlowState { key, value })
    }

    /// Shares `in.flows` and `out.flows`, both of type `flow_state`.
    fn share(ingress: &Abi, egress: &Abi) -> Result<Vec<SharedMap>, Vec<String>> {
        share_as(FLOWS, ingress, egress)
    }

    fn share_as(lines: &str, ingress: &Abi, egress: &Abi) -> Result<Vec<SharedMap>, Vec<String>> {
        share_of(lines, (ingress, &flow_state()), (egress, &flow_state()))
    }

    fn share_of(
        lines: &str,
        ingress: (&Abi, &Schema),
        egress: (&Abi, &Schema),
    ) -> Result<Vec<SharedMap>, Vec<String>> {
        let mut map = SourceMap::new();
        let text = format!(
            "[[program]]\nsource = \"in.p4\"\n[[program]]\nsource = \"out.p4\"\n[share]\n{lines}\n"
        );
        let file = map.add("a.toml", text).unwrap();
        let bundle = super::super::read(&map, file).unwrap();
        shared_maps(&bundle, &[ingress, egress]).map_err(|list| {
            let words = |d: &diag::Diagnostic| format!("{} {}", d.code.0, d.message);
            list.iter().map(words).collect()
        })
    }

    #[test]
    fn states_of_one_shape_are_one_whatever_their_names() {
        let mut egress = state("c.flows");
        egress.key.fields[0].name = "destination".into();
        egress.map = "flows_2".into();
        let shared = share(&abi(vec![state("flows")]), &abi(vec![egress])).unwrap();
        let maps = [(0, "flows".to_string()), (1, "flows_2".to_string())];
        assert_eq!(shared[0].maps, maps);
    }

    #[test]
    fn states_that_differ_are_refused_in_the_words_of_their_declarations() {
        let one = || abi(vec![state("flows")]);
        let changed = |change: fn(&mut FlowStateAbi)| {
            let mut other = state("flows");
            change(&mut other);
            share(&one(), &abi(vec![other])).unwrap_err()
        };
        let same = "E0917 `out.flows` and `in.flows` cannot share one state:";
        assert_eq!(
            changed(|s| s.key.fields[0] = field("source", 0, 128)),
            [format!(
                "{same} a key of {{bit<128> source}} instead of {{bit<32> source}}"
            )]
        );
        assert_eq!(
            changed(|s| s.value.push(field("bytes", 16, 64))),
            [format!(
                "{same} a value of {{bit<64> packets, bit<64> bytes}} instead of {{bit<64> packets}}"
            )]
        );
        assert_eq!(
            changed(|s| s.sets = 2),
            [format!("{same} a size of 16 instead of 1024")]
        );
        assert_eq!(
            changed(|s| {
                s.idle = 5;
                s.seen_offset = Some(4);
                s.value[0].offset = 16;
            }),
            [format!(
                "{same} an idle time of 5 ns instead of 0 (flows never expire)"
            )]
        );
        assert_eq!(
            changed(|s| s.seen_offset = Some(4)),
            [format!("{same} another layout")]
        );
    }

    fn metrics(name: &str) -> MetricsAbi {
        MetricsAbi {
            index: 0,
            name: name.into(),
            map: name.into(),
            sets: 4,
            ways: 8,
            lost_offset: 8,
            tags_offset: 16,
            ways_offset: 48,
            way_size: 40,
            metric_offset: 8,
            key: KeyAbi {
                size: 4,
                fields: vec![field("source", 0, 32)],
            },
        }
    }

    #[test]
    fn metrics_are_shared_with_metrics_of_the_same_type_and_shape() {
        let with = |metrics: MetricsAbi| Abi {
            contents: Contents {
                metrics: vec![metrics],
                ..Contents::default()
            },
            ..abi(vec![])
        };
        let share = |a: (MetricsAbi, Schema), b: (MetricsAbi, Schema)| {
            share_of(FLOWS, (&with(a.0), &a.1), (&with(b.0), &b.1))
        };
        let one = || metrics("flows");
        let shared = share((one(), tally()), (metrics("c.flows"), tally())).unwrap();
        let maps = [(0, "flows".to_string()), (1, "c.flows".to_string())];
        assert_eq!(shared[0].maps, maps);
        let same = "E0917 `out.flows` and `in.flows` cannot share one state:";
        let larger = MetricsAbi { sets: 8, ..one() };
        assert_eq!(
            share((one(), tally()), (larger, tally())).unwrap_err(),
            [format!("{same} a size of 64 instead of 32")]
        );
        // Both take the same number of bytes for a group, but the bytes have different meanings.
        assert_eq!(
            share((one(), tally()), (one(), distinct(5))).unwrap_err(),
            [format!("{same} `distinct_count` instead of `tally`")]
        );
        assert_eq!(
            share((one(), distinct(5)), (one(), distinct(6))).unwrap_err(),
            [format!("{same} a precision of 6 instead of 5")]
        );
        let flows = abi(vec![state("flows")]);
        assert_eq!(
            share_of(FLOWS, (&flows, &flow_state()), (&with(one()), &tally())).unwrap_err(),
            [format!("{same} `tally` instead of `flow_state`")]
        );
    }

    #[test]
    fn a_state_is_shared_once_whatever_it_is_called() {
        let ingress = abi(vec![state("watch.marks"), state("other")]);
        let egress = abi(vec![state("marks"), state("other")]);
        let refused = |lines: &str| share_as(lines, &ingress, &egress).unwrap_err();
        let one = "E0914 `in.watch.marks` and `in.marks` are one state, which is shared twice";
        assert_eq!(
            refused("x = [\"in.marks\", \"out.marks\"]\ny = [\"in.watch.marks\", \"out.other\"]"),
            [one]
        );
        assert_eq!(
            refused("x = [\"in.marks\", \"in.watch.marks\", \"out.marks\"]"),
            [one]
        );
    }

    #[test]
    fn states_that_a_program_has_not_are_named() {
        assert_eq!(
            share(&abi(vec![]), &abi(vec![state("a.flows"), state("b.flows")])).unwrap_err(),
            [
                "E0915 `in` has no state `flows` that could be shared",
                "E0916 `flows` may be several of `out`",
            ]
        );
    }
}
