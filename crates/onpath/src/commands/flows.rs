//! `onpath flows`

use super::instance::open;
use super::named::{not_done, one_or_all, print_array, with_text};
use crate::args::FlowsCommand;
use crate::output::{Done, Stop, err_line, out_line};
use control::flow::{
    Filter, FlowPart, fields, find_state, json_field, parse_flow, show_fields, states,
};
use control::{Flow, Store, StoreError, errors};
use diag::{Diagnostic, Span, counted};
use schema::{Bits, Object, ObjectSchema, Schema};
use serde_json::{Map, Value, json};
use std::cmp::Reverse;
use std::process::ExitCode;
use std::sync::Arc;

/// Reads or removes the flows of a running program.
pub(crate) fn run(command: FlowsCommand) -> Done {
    match command {
        FlowsCommand::List {
            instance,
            state,
            mut filter,
            by,
            most,
            json,
        } => {
            let store = open(&instance)?;
            // A filter without the name of the only state.
            let is_filter =
                |word: &String| word.contains([':', '=']) && states(store.schema()).count() == 1;
            let (first, state): (Option<String>, _) = match state {
                Some(word) if is_filter(&word) => (Some(word), None),
                state => (None, state),
            };
            filter.splice(0..0, first);
            let order = Order { by, most };
            list(&*store, state.as_deref(), &filter.join(" "), &order, json)
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

/// Order of the flows in the output, and their maximum number.
struct Order {
    by: Option<String>,
    most: Option<usize>,
}

/// Criterion by which flows are ordered.
enum By {
    Keys,
    Age,
    Field(FlowPart, usize),
}

impl Order {
    /// Returns the criterion for the flows of a state.
    fn by(&self, state: &ObjectSchema) -> Result<By, Stop> {
        match self.by.as_deref() {
            None => Ok(By::Keys),
            Some("age") => Ok(By::Age),
            Some(name) => field_of(state, name).map(|(part, at)| By::Field(part, at)),
        }
    }

    /// Sorts flows, which come in no order, by key and then by the criterion.
    fn apply(&self, by: &By, flows: &mut Vec<Flow>) {
        flows.sort_by(|a, b| {
            let [a, b] = [a, b].map(|flow| flow.key.iter().map(Bits::value));
            a.cmp(b)
        });
        match by {
            By::Keys => {}
            By::Age => flows.sort_by_key(|flow| Reverse(flow.age)),
            By::Field(part, at) => {
                let value = |flow: &Flow| match part {
                    FlowPart::Key => flow.key.get(*at).cloned(),
                    FlowPart::Value => flow.value.get(*at).cloned(),
                };
                flows.sort_by_cached_key(|flow| {
                    Reverse(value(flow).map(|bits| bits.value().clone()))
                });
            }
        }
        flows.truncate(self.most.unwrap_or(usize::MAX));
    }
}

/// Finds a field of a state's key or value by its name, or the end of its name.
fn field_of(state: &ObjectSchema, name: &str) -> Result<(FlowPart, usize), Stop> {
    let all = [FlowPart::Key, FlowPart::Value];
    let all = all.iter().flat_map(|part| {
        let fields = fields(state, *part).iter().enumerate();
        fields.map(move |(at, field)| (*part, at, field.name.as_str()))
    });
    let all: Vec<(FlowPart, usize, &str)> = all.collect();
    let end = format!(".{name}");
    let exact = all.iter().find(|(.., known)| *known == name);
    let found = exact.or_else(|| all.iter().find(|(.., known)| known.ends_with(&end)));
    found.map(|(part, at, _)| (*part, *at)).ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|(.., known)| *known).collect();
        let known = known.join(", ");
        Stop::Usage(format!(
            "the flows of `{}` have no field `{name}`: they have {known}, and age",
            state.name
        ))
    })
}

fn list(
    store: &dyn Store,
    wanted: Option<&str>,
    filter: &str,
    order: &Order,
    as_json: bool,
) -> Done {
    let schema = &**store.schema();
    let all = states(schema).map(|(state, _)| state);
    let wanted = one_or_all(wanted, |text| find_state(schema, text), all)?;
    if wanted.is_empty() && !as_json {
        out_line!("the program has no flow_state");
    }
    let mut asked = Vec::new();
    // Errors about any state are reported before one is shown.
    for state in wanted {
        let by = order.by(&schema.objects[state])?;
        let filter = with_text(filter, |text| Filter::parse(schema, state, text))?;
        asked.push((state, by, filter));
    }
    let mut shown: Vec<Value> = Vec::new();
    for (state, by, filter) in asked {
        let data = &schema.objects[state];
        let name = &data.name;
        let unread = not_done(format!("the flows of `{name}` could not be read"));
        let mut flows = store.flows(state).map_err(&unread)?;
        let room = store.flow_room(state).map_err(unread)?;
        flows.retain(|flow| filter.matches(flow));
        let found = flows.len();
        if matches!(by, By::Age) && found > 0 && flows.iter().all(|flow| flow.age.is_none()) {
            err_line!(
                "note: the flows of `{name}` have no age, because they do not end when unused: they are in the order of their keys"
            );
        }
        order.apply(&by, &mut flows);
        if as_json {
            let flows: Vec<Value> = flows.iter().map(|f| flow_json(schema, state, f)).collect();
            shown.push(json!({
                "state": name.as_str(),
                "capacity": room.capacity,
                "evicted": room.evicted,
                "flows": flows,
            }));
            continue;
        }
        let evicted = room.evicted.map(|evicted| format!(", {evicted} evicted"));
        let evicted = evicted.unwrap_or_default();
        let found = counted(found, "flow");
        match room.capacity {
            // The program's code does not use the state.
            0 => out_line!("{name}: {found}"),
            capacity => out_line!("{name}: {found}, room for {capacity}{evicted}"),
        }
        for Flow { key, value, age } in &flows {
            let key = show_fields(schema, data, FlowPart::Key, key);
            let value = show_fields(schema, data, FlowPart::Value, value);
            let age = age.map(|age| format!("  {:.1} s unused", age as f64 / 1e9));
            out_line!("  {key}  {value}{}", age.unwrap_or_default());
        }
    }
    if as_json {
        print_array(shown);
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns a flow as JSON: the names of fields with their values.
fn flow_json(schema: &Schema, state: Object, flow: &Flow) -> Value {
    let part = |part: FlowPart, values: &[Bits]| -> Map<String, Value> {
        let fields = fields(&schema.objects[state], part).iter().zip(values);
        fields
            .map(|(f, value)| (f.name.to_string(), json_field(schema, f, part, value)))
            .collect()
    };
    json!({
        "key": part(FlowPart::Key, &flow.key),
        "value": part(FlowPart::Value, &flow.value),
        "age_ns": flow.age,
    })
}
