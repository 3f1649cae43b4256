//! `onpath plan`

use super::firewall;
use crate::args::PlanArgs;
use crate::output::{Done, Stop, failed, out, out_line, print_diagnostics, print_json, refused};
use asic::Technique;
use diag::{SourceMap, columns, counted};
use host::files::read_text;
use payload::Schema;
use payload::builtin::{self, Builtin};
use payload::plan::{AttributePlan, Platform, Question, errors, find, plan};
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;

/// Plans how an attribute is found on the targets. The status is 0 if the plan fits one of them, and 1 if it fits
/// none.
pub(crate) fn run(args: PlanArgs) -> Done {
    if args.list {
        return list(args.json);
    }
    if !args.names.is_empty() {
        return firewall::plan(&firewall::read(&args.names, false)?, args.json);
    }
    let (Some(message), Some(name)) = (&args.schema, &args.attribute) else {
        return Err(Stop::Usage(
            "a message and `--attribute NAME` are needed".to_string(),
        ));
    };
    let schema = schema(message)?;
    if find(&schema, name).is_none() {
        return Err(refused(errors::unknown_attribute(&schema, name)));
    }
    let question = Question {
        bytes: args.bytes,
        attributes: args.attributes,
    };
    let targets = match args.target {
        Some(target) => vec![target.target()],
        None => Platform::ALL.to_vec(),
    };
    let mut plans = Vec::new();
    for target in targets {
        let Some(plan) = plan(&schema, name, target, question) else {
            return Err(refused(errors::unreachable_attribute(&schema, name)));
        };
        plans.push(plan);
    }
    if args.json {
        let plans: Vec<Value> = plans.iter().map(as_json).collect();
        print_json(&json!({ "message": schema.name, "attribute": name, "plans": plans }));
    } else {
        for plan in &plans {
            show(&schema, name, plan);
        }
    }
    let fits = plans.iter().any(AttributePlan::fits);
    Ok(ExitCode::from(u8::from(!fits)))
}

/// Reads the schema of a built-in message, or one in a file.
fn schema(name: &str) -> Result<Schema, Stop> {
    let mut map = SourceMap::new();
    let (shown, text) = match Builtin::named(name) {
        Some(builtin) => (format!("messages/{name}.toml"), builtin.text.to_string()),
        None => match read_text(Path::new(name)) {
            Ok(text) => (name.to_string(), text),
            Err(why) => return Err(refused(errors::unknown_message(name, &why))),
        },
    };
    let Some(file) = map.add(shown, text) else {
        return failed(format!("`{name}` is too large"));
    };
    payload::load(&map, file).map_err(|wrong| {
        print_diagnostics(&wrong, &map);
        Stop::AlreadyReported(1)
    })
}

/// Prints the built-in messages.
fn list(as_json: bool) -> Done {
    let mut rows = Vec::new();
    let mut objects = Vec::new();
    for builtin in builtin::ALL {
        let schema = schema(builtin.name)?;
        let transport = schema.transport.name();
        let names = schema.names();
        objects.push(json!({
            "name": schema.name, "title": schema.title, "reference": schema.reference,
            "transport": transport, "ports": schema.ports, "attributes": names,
        }));
        let ports: Vec<String> = schema.ports.iter().map(u16::to_string).collect();
        let carrier = match ports.is_empty() {
            true => transport.to_string(),
            false => format!("{transport} {}", ports.join(", ")),
        };
        let names = names.join(", ");
        rows.push(vec![schema.name, carrier, schema.title]);
        rows.push(vec![String::new(), String::new(), format!("  {}", names)]);
    }
    match as_json {
        true => print_json(&Value::Array(objects)),
        false => out!("{}", columns(&rows)),
    }
    Ok(ExitCode::SUCCESS)
}

fn show(schema: &Schema, name: &str, plan: &AttributePlan) {
    let target = plan.target.name();
    let answer = match plan.fits() {
        true => plan.technique.name().to_string(),
        false => format!("does not fit {}", plan.technique.name()),
    };
    let answer = match plan.target.is_model() {
        true => format!("{answer} (by a model of the hardware)"),
        false => answer,
    };
    out_line!("{}.{name} on {target}: {answer}", schema.name);
    out_line!("  why    {}", plan.why);
    out_line!("  needs  {}", needs(plan));
    let limit = &plan.limit;
    let most = match limit.attributes {
        Some(attributes) => format!(
            "{} of {}",
            counted(attributes, "attribute"),
            counted(plan.needs.attribute_bytes, "byte")
        ),
        None => counted(limit.bytes, "byte"),
    };
    match limit.resource {
        Some(resource) => out_line!("  limit  {most}, by {resource}"),
        None => out_line!("  limit  {most}, the size of a packet"),
    }
    match (&plan.refused_by, plan.cost_ns) {
        (Some(short), _) => out_line!(
            "  short  {}: needs {}, has {}",
            short.resource.name(),
            short.needed,
            short.available
        ),
        (None, Some(cost)) => out_line!(
            "  cost   at most about {} ns a packet (estimate)",
            cost.round()
        ),
        (None, None) => out_line!("  cost   not known"),
    }
    for remedy in &plan.remedies {
        out_line!("  would fit: {remedy}");
    }
}

fn needs(plan: &AttributePlan) -> String {
    let needs = plan.needs;
    match plan.technique {
        Technique::SkipAhead => format!(
            "{} of payload with {}",
            counted(needs.bytes, "byte"),
            counted(needs.attributes, "attribute")
        ),
        Technique::DirectJump => format!("the first {} of payload", counted(needs.bytes, "byte")),
        _ => format!(
            "{} of payload, with {} compared at each",
            counted(needs.bytes, "byte"),
            counted(needs.attribute_bytes, "byte")
        ),
    }
}

fn as_json(plan: &AttributePlan) -> Value {
    let usage = |usage: &asic::Usage| json!({ "resource": usage.resource.name(), "needed": usage.needed, "available": usage.available });
    json!({
        "target": plan.target.name(),
        "model": plan.target.is_model(),
        "technique": plan.technique.name(),
        "why": plan.why,
        "fits": plan.fits(),
        "needs": {
            "bytes": plan.needs.bytes,
            "attributes": plan.needs.attributes,
            "attribute_bytes": plan.needs.attribute_bytes,
        },
        "limit": {
            "bytes": plan.limit.bytes,
            "attributes": plan.limit.attributes,
            "resource": plan.limit.resource,
        },
        "usage": plan.usage.iter().map(usage).collect::<Vec<_>>(),
        "refused_by": plan.refused_by.as_ref().map(usage),
        "cost_ns": plan.cost_ns.map(|cost| cost.round()),
        "cost_is": "estimate",
        "remedies": plan.remedies,
    })
}
