//! List of attributes.

use crate::output::{Done, Stop, out, print_json};
use diag::columns;
use serde_json::{Value, json};
use std::process::ExitCode;
use telemetry::{Catalogue, Described, OnPath, Type, describe};

/// Prints the attributes whose names begin with a prefix.
pub(super) fn run(catalogue: &Catalogue, prefix: &str, as_json: bool) -> Done {
    let all = describe(catalogue).into_iter();
    let found: Vec<Described> = all.filter(|a| a.name.starts_with(prefix)).collect();
    if found.is_empty() {
        return Err(Stop::Usage(format!(
            "no attribute begins with `{prefix}`: `onpath query --list` lists all"
        )));
    }
    if as_json {
        let list: Vec<Value> = found.iter().map(object).collect();
        print_json(&json!({ "attributes": list }));
        return Ok(ExitCode::SUCCESS);
    }
    let heads = ["ATTRIBUTE", "TYPE", "MESSAGE", "ON THE PATH", "WHAT IT IS"];
    let rows = found.iter().map(|a| {
        vec![
            a.name.clone(),
            type_name(a),
            a.kind.clone().unwrap_or_else(|| "-".into()),
            a.on_path.name().into(),
            a.text.into(),
        ]
    });
    let rows: Vec<Vec<String>> = std::iter::once(heads.map(String::from).to_vec())
        .chain(rows)
        .collect();
    out!("{}", columns(&rows));
    Ok(ExitCode::SUCCESS)
}

/// Returns an attribute's type in a few words.
pub(crate) fn type_name(attribute: &Described) -> String {
    let ty = match attribute.ty {
        Type::Number(bits) => format!("number, {}", diag::counted(u64::from(bits), "bit")),
        ty => ty
            .name()
            .split_once(' ')
            .map_or("", |(_, name)| name)
            .into(),
    };
    match attribute.several {
        true => format!("{ty}, several"),
        false => ty,
    }
}

/// Returns an attribute as JSON.
pub(crate) fn object(attribute: &Described) -> Value {
    let ty = match attribute.ty {
        Type::Number(_) => "number",
        ty => ty.name().split_once(' ').map_or("", |(_, name)| name),
    };
    let bits = match attribute.ty {
        Type::Number(bits) => Some(bits),
        _ => None,
    };
    json!({
        "name": attribute.name,
        "type": ty,
        "bits": bits,
        "several": attribute.several,
        "message": attribute.kind,
        "on_path": match attribute.on_path {
            OnPath::Yes => "all",
            OnPath::First => "first",
            OnPath::No => "none",
        },
        "text": attribute.text,
        "also": attribute.also,
    })
}
