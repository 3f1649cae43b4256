//! `onpath flows`

use super::instance::open;
use crate::args::FlowsCommand;
use crate::output::{Done, Stop, failed, print_json, refused, refused_in, say_line};
use control::flow::{Part, fields, find_state, is_number, parse_flow, show_fields, states};
use control::values::show_value;
use control::{Flow, Piece, Store, StoreError, errors};
use diag::{Diagnostic, SourceMap, Span};
use ir::{Bits, ExternInst, Program, Type};
use kernel::KernelStore;
use serde_json::{Map, Value, json};
use std::process::ExitCode;
use std::sync::Arc;

/// Reads or forgets the flows of a running program.
pub fn run(command: FlowsCommand) -> Done {
    match command {
        FlowsCommand::List {
            instance,
            state,
            json,
        } => {
            let (_, store) = open(&instance)?;
            list(&store, state.as_deref(), json)
        }
        FlowsCommand::Remove { instance, flow } => {
            let (_, mut store) = open(&instance)?;
            let program = Arc::clone(&store.program);
            with_text(&flow.join(" "), |text| {
                let (state, key) = parse_flow(&program, text)?;
                let name = &program.externs[state].name;
                let what = format!("no flow was removed from `{name}`");
                store
                    .remove_flow(state, &key)
                    .map_err(|e| no_flow(text.span(), &what, &e))
            })?;
            Ok(ExitCode::SUCCESS)
        }
        FlowsCommand::Clear { instance, state } => {
            let (_, mut store) = open(&instance)?;
            let program = Arc::clone(&store.program);
            with_text(&state, |text| {
                let state = find_state(&program, text)?;
                let what = format!("the flows of `{}` are there", program.externs[state].name);
                store
                    .clear_flows(state)
                    .map_err(|e| errors::store(text.span(), &what, &e))
            })?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// A refusal to remove a flow.
fn no_flow(span: Span, what: &str, error: &StoreError) -> Box<Diagnostic> {
    let refusal = errors::store(span, what, error);
    match error {
        StoreError::Missing => Box::new(Diagnostic {
            message: format!("{what}: there is none with this key"),
            help: Some("`onpath flows list` shows the flows that are known now".into()),
            ..*refusal
        }),
        _ => refusal,
    }
}

/// Gives text of the command line with places in it.
fn with_text<T>(
    text: &str,
    work: impl FnOnce(Piece) -> Result<T, Box<Diagnostic>>,
) -> Result<T, Stop> {
    let mut map = SourceMap::new();
    let Some(file) = map.add("command line", text) else {
        return failed("the command line is too long");
    };
    let text = map.file(file).text.clone();
    let start = map.span(file, 0..0).lo;
    work(Piece::new(&text, start)).map_err(|diagnostic| refused_in(diagnostic, &map))
}

fn list(store: &KernelStore, wanted: Option<&str>, as_json: bool) -> Done {
    let program = &store.program;
    let wanted: Vec<ExternInst> = match wanted {
        Some(name) => vec![with_text(name, |text| find_state(program, text))?],
        None => states(program).map(|(state, _)| state).collect(),
    };
    if wanted.is_empty() && !as_json {
        say_line!("the program has no flow_state");
    }
    let mut shown: Vec<Value> = Vec::new();
    for state in wanted {
        let data = &program.externs[state];
        let name = &data.name;
        let mut flows = store.flows(state).map_err(|e| -> Stop {
            let what = format!("the flows of `{name}` could not be read");
            refused(errors::store(Span::NONE, &what, &e))
        })?;
        // They lie as chance has it; people look for keys.
        flows.sort_by(|a, b| {
            a.key
                .iter()
                .map(Bits::value)
                .cmp(b.key.iter().map(Bits::value))
        });
        if as_json {
            let flows: Vec<Value> = flows.iter().map(|f| flow_json(program, state, f)).collect();
            shown.push(json!({ "state": name.as_str(), "flows": flows }));
            continue;
        }
        let count = flows.len();
        say_line!("{name}: {count} flow{}", if count == 1 { "" } else { "s" });
        for Flow { key, value } in &flows {
            let key = show_fields(program, data, Part::Key, key);
            let value = show_fields(program, data, Part::Value, value);
            say_line!("  {key}  {value}");
        }
    }
    if as_json {
        print_json(&Value::Array(shown));
    }
    Ok(ExitCode::SUCCESS)
}

/// A flow as an object: names of fields with values. Those of the key are texts as commands take them.
fn flow_json(program: &Program, state: ExternInst, flow: &Flow) -> Value {
    let data = &program.externs[state];
    let part = |part: Part, values: &[Bits]| -> Map<String, Value> {
        let fields = fields(data, part).zip(values);
        let member = |((name, ty), value): ((&str, Type), &Bits)| {
            let text = show_value(program, ty, name, value);
            let shown = match (part, ty, value.to_u64()) {
                (Part::Value, Type::Bool, _) => json!(!value.is_zero()),
                (Part::Value, ty, Some(number)) if is_number(ty) => json!(number),
                _ => json!(text),
            };
            (name.to_owned(), shown)
        };
        fields.map(member).collect()
    };
    json!({
        "key": part(Part::Key, &flow.key),
        "value": part(Part::Value, &flow.value),
    })
}
