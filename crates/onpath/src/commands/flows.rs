//! `onpath flows`

use super::instance::open;
use super::named::{not_done, one_or_all, print_array, with_text};
use crate::args::FlowsCommand;
use crate::output::{Done, out_line};
use control::flow::{
    Filter, Part, fields, find_state, json_field, parse_flow, show_fields, states,
};
use control::{Flow, Store, StoreError, errors};
use diag::{Diagnostic, Span, counted};
use schema::{Bits, Object, Schema};
use serde_json::{Map, Value, json};
use std::process::ExitCode;
use std::sync::Arc;

/// Reads or removes the flows of a running program.
pub(crate) fn run(command: FlowsCommand) -> Done {
    match command {
        FlowsCommand::List {
            instance,
            state,
            filter,
            json,
        } => {
            let store = open(&instance)?;
            list(&*store, state.as_deref(), &filter.join(" "), json)
        }
        FlowsCommand::Remove { instance, flow } => {
            let mut store = open(&instance)?;
            let schema = Arc::clone(store.schema());
            with_text(&flow.join(" "), |text| {
                let (state, key) = parse_flow(&schema, text)?;
                let name = &schema.objects[state].name;
                let what = format!("no flow was removed from `{name}`");
                store
                    .remove_flow(state, &key)
                    .map_err(|e| no_flow(text.span(), &what, &e))
            })?;
            Ok(ExitCode::SUCCESS)
        }
        FlowsCommand::Clear { instance, state } => {
            let mut store = open(&instance)?;
            let schema = Arc::clone(store.schema());
            with_text(&state, |text| {
                let state = find_state(&schema, text)?;
                let what = format!("the flows of `{}` are there", schema.objects[state].name);
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

fn list(store: &dyn Store, wanted: Option<&str>, filter: &str, as_json: bool) -> Done {
    let schema = &**store.schema();
    let all = states(schema).map(|(state, _)| state);
    let wanted = one_or_all(wanted, |text| find_state(schema, text), all)?;
    if wanted.is_empty() && !as_json {
        out_line!("the program has no flow_state");
    }
    let mut shown: Vec<Value> = Vec::new();
    for state in wanted {
        let data = &schema.objects[state];
        let name = &data.name;
        let filter = with_text(filter, |text| Filter::parse(schema, state, text))?;
        let unread = not_done(format!("the flows of `{name}` could not be read"));
        let mut flows = store.flows(state).map_err(unread)?;
        flows.retain(|flow| filter.matches(flow));
        // They lie as chance has it; people look for keys.
        flows.sort_by(|a, b| {
            a.key
                .iter()
                .map(Bits::value)
                .cmp(b.key.iter().map(Bits::value))
        });
        if as_json {
            let flows: Vec<Value> = flows.iter().map(|f| flow_json(schema, state, f)).collect();
            shown.push(json!({ "state": name.as_str(), "flows": flows }));
            continue;
        }
        out_line!("{name}: {}", counted(flows.len(), "flow"));
        for Flow { key, value } in &flows {
            let key = show_fields(schema, data, Part::Key, key);
            let value = show_fields(schema, data, Part::Value, value);
            out_line!("  {key}  {value}");
        }
    }
    if as_json {
        print_array(shown);
    }
    Ok(ExitCode::SUCCESS)
}

/// A flow as an object: names of fields with values.
fn flow_json(schema: &Schema, state: Object, flow: &Flow) -> Value {
    let part = |part: Part, values: &[Bits]| -> Map<String, Value> {
        let fields = fields(&schema.objects[state], part).iter().zip(values);
        fields
            .map(|(f, value)| (f.name.to_string(), json_field(schema, f, part, value)))
            .collect()
    };
    json!({
        "key": part(Part::Key, &flow.key),
        "value": part(Part::Value, &flow.value),
    })
}
