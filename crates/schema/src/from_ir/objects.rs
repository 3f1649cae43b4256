//! Extern objects: the kind of object that each extern is to the control plane.

use super::{given, scalars};
use crate::{Argument, Field, MetricKind, Object, ObjectKind, ObjectSchema, ProfileSchema, Unit};
use cranelift_entity::PrimaryMap;
use ir::{CtorValue, ExternData, Program};
use p4runtime::{Prefix, assign};
use smol_str::SmolStr;

/// Returns all objects of a program.
pub(super) fn all(program: &Program) -> PrimaryMap<Object, ObjectSchema> {
    let mut all: PrimaryMap<Object, ObjectSchema> = program
        .externs
        .values()
        .map(|data| ObjectSchema {
            id: 0,
            name: data.name.clone(),
            extern_name: data.ty.clone(),
            kind: kind(program, data),
            args: data
                .args
                .iter()
                .map(|(name, value)| (name.clone(), argument(value)))
                .collect(),
            annotations: data.annotations.clone(),
        })
        .collect();
    let mut prefixes: Vec<Prefix> = all
        .values()
        .filter_map(|o| Prefix::of_extern(&o.extern_name))
        .collect();
    prefixes.sort_unstable();
    prefixes.dedup();
    for wanted in prefixes {
        let of_kind = || {
            all.iter()
                .filter(|(_, o)| Prefix::of_extern(&o.extern_name) == Some(wanted))
        };
        let named = of_kind().map(|(_, o)| (&*o.name, given(&o.annotations)));
        let ids = assign(wanted, named);
        let objects: Vec<Object> = of_kind().map(|(object, _)| object).collect();
        for (object, id) in objects.into_iter().zip(ids) {
            all[object].id = id;
        }
    }
    all
}

/// Returns the kind of an extern object, by the extern's name. No other list of these externs exists.
fn kind(program: &Program, data: &ExternData) -> ObjectKind {
    let size = |name: &str| {
        let size = data.int_arg(name);
        size.and_then(|n| u64::try_from(n).ok()).unwrap_or(0)
    };
    match data.ty.as_str() {
        "counter" => ObjectKind::Counter {
            size: size("size"),
            unit: unit(program, data),
        },
        "CounterArray" => ObjectKind::Counter {
            size: size("max_index"),
            unit: Unit::Packets,
        },
        "direct_counter" => ObjectKind::DirectCounter {
            unit: unit(program, data),
        },
        "meter" => ObjectKind::Meter {
            size: size("size"),
            unit: unit(program, data),
        },
        "direct_meter" => ObjectKind::DirectMeter {
            unit: unit(program, data),
        },
        "register" => ObjectKind::Register {
            size: size("size"),
            element: type_arg(data, 0, "value"),
        },
        "action_profile" => ObjectKind::ActionProfile(profile(size("size"))),
        "action_selector" => ObjectKind::ActionSelector(profile(size("size"))),
        ir::atomic::FLOW_STATE => ObjectKind::FlowState {
            key: type_arg(data, 0, "key"),
            value: type_arg(data, 1, "value"),
        },
        "name_set" => ObjectKind::NameSet { size: size("size") },
        "pattern_set" => ObjectKind::PatternSet { size: size("size") },
        "tally" => metrics(data, MetricKind::Tally),
        "histogram" => metrics(data, MetricKind::Histogram),
        "distinct_count" => {
            // An omitted precision is 10 (`telemetry.p4`).
            let given = data.int_arg("precision").map(|_| size("precision"));
            let precision = given.map_or(10, |n| u32::try_from(n).unwrap_or(u32::MAX));
            metrics(data, MetricKind::Distinct { precision })
        }
        "top_keys" => metrics(data, MetricKind::Top),
        _ => ObjectKind::Other,
    }
}

fn metrics(data: &ExternData, kind: MetricKind) -> ObjectKind {
    ObjectKind::Metrics {
        kind,
        key: type_arg(data, 0, "key"),
    }
}

/// Returns a profile without actions; [`super::profiles::connect`] adds those of its tables.
fn profile(size: u64) -> ProfileSchema {
    ProfileSchema {
        size,
        actions: Vec::new(),
    }
}

/// Returns the scalars of a type argument. `own` names the scalar if the type is not a struct.
fn type_arg(data: &ExternData, number: usize, own: &str) -> Vec<Field> {
    let types = data.type_args.get(number).map_or(&[][..], Vec::as_slice);
    let names = data.type_arg_names.get(number);
    let name = |i| names.and_then(|names| names.get(i)).cloned();
    let named: Vec<(SmolStr, ir::Type)> = types
        .iter()
        .enumerate()
        .map(|(i, &ty)| (name(i).unwrap_or_default(), ty))
        .collect();
    let declared = data.type_arg_declared.get(number);
    scalars(&named, declared.map_or(&[], Vec::as_slice), own)
}

/// Returns the unit that a constructor's argument of type `CounterType` or `MeterType` selects.
fn unit(program: &Program, data: &ExternData) -> Unit {
    let member = data.args.iter().find_map(|(_, value)| match value {
        CtorValue::Member(id, index) => program.enums[*id].members.get(*index as usize),
        _ => None,
    });
    match member.map(SmolStr::as_str) {
        Some("bytes") => Unit::Bytes,
        Some("packets_and_bytes") => Unit::PacketsAndBytes,
        _ => Unit::Packets,
    }
}

fn argument(value: &CtorValue) -> Argument {
    match value {
        CtorValue::Int(value) => Argument::Int(value.clone()),
        CtorValue::Bool(value) => Argument::Bool(*value),
        CtorValue::String(text) => Argument::String(text.clone()),
        CtorValue::Member(id, index) => Argument::Member(*id, *index),
        CtorValue::Extern(object) => Argument::Object(*object),
        CtorValue::Absent => Argument::Absent,
    }
}
