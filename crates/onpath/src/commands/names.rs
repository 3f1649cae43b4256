//! `onpath names`

use super::changes::{self, How};
use super::instance::open;
use super::named::{not_done, one_or_all, print_array, with_text};
use crate::args::NamesCommand;
use crate::output::{Done, Stop, failed, out_line};
use control::name_set::{find_name_set, name_sets, parse_add, parse_remove, show};
use control::{Change, Store};
use diag::{counted, shown};
use schema::{NameRule, NameRules, Object, ObjectKind, RuleValue, Schema};
use serde_json::{Value, json};
use std::process::ExitCode;

/// Reads or changes the rules of a running program's name sets and pattern sets.
pub(crate) fn run(command: NamesCommand) -> Done {
    match command {
        NamesCommand::List {
            instance,
            set,
            entries,
            json,
        } => {
            let form = match (entries, json) {
                (true, _) => Form::Entries,
                (_, true) => Form::Json,
                _ => Form::Text,
            };
            list(&*open(&instance)?, set.as_deref(), form)
        }
        NamesCommand::Lookup {
            instance,
            set,
            names,
            json,
        } => look_up(&*open(&instance)?, &set, &names, json),
        NamesCommand::Add { instance, rule } => {
            changes::from_words(&instance, &rule, How::default(), |schema, text| {
                let (set, rule) = parse_add(schema, text)?;
                Ok(Change::InsertName(set, rule))
            })
        }
        NamesCommand::Remove { instance, rule } => {
            changes::from_words(&instance, &rule, How::default(), |schema, text| {
                let (set, name) = parse_remove(schema, text)?;
                Ok(Change::RemoveName(set, name))
            })
        }
    }
}

/// Form in which rules are printed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    Entries,
    Json,
}

fn list(store: &dyn Store, wanted: Option<&str>, form: Form) -> Done {
    let schema = &**store.schema();
    let every = name_sets(schema).map(|(set, _)| set);
    let sets = one_or_all(wanted, |text| find_name_set(schema, text), every)?;
    if sets.is_empty() && form == Form::Text {
        out_line!("the program has no name sets");
    }
    let mut all: Vec<Value> = Vec::new();
    for set in sets {
        let rules = read(store, set)?;
        let name = schema.objects[set].name.as_str();
        match form {
            Form::Entries => {
                for line in show(schema, set, &rules) {
                    out_line!("{}", shown(&line));
                }
            }
            Form::Text => {
                out_line!("{}: {}", shown(name), counted(rules.len(), "rule"));
                for NameRule { name, value } in &rules {
                    out_line!("  {} {}", shown(&name.to_string()), described(*value));
                }
            }
            Form::Json => all.push(json!({
                "name_set": name,
                "rules": rules.iter().map(as_json).collect::<Vec<_>>(),
            })),
        }
    }
    if form == Form::Json {
        print_array(all);
    }
    Ok(ExitCode::SUCCESS)
}

fn look_up(store: &dyn Store, set: &str, names: &[String], prints_json: bool) -> Done {
    let schema = &**store.schema();
    let set = with_text(set, |text| find_name_set(schema, text))?;
    if let ObjectKind::PatternSet { .. } = schema.objects[set].kind {
        let name = shown(&schema.objects[set].name);
        return failed(format!(
            "`{name}` has patterns, which are not looked up by names"
        ));
    }
    let mut rules = NameRules::default();
    for rule in read(store, set)? {
        rules.insert(&rule);
    }
    let found = names
        .iter()
        .map(|name| (name, rules.look_up_rule(name.as_bytes())));
    if prints_json {
        print_array(
            found.map(|(name, rule)| json!({"name": name, "rule": rule.as_ref().map(as_json)})),
        );
        return Ok(ExitCode::SUCCESS);
    }
    for (name, rule) in found {
        match rule {
            Some(NameRule { name: by, value }) => {
                out_line!(
                    "{}: {} decides, {}",
                    shown(name),
                    shown(&by.to_string()),
                    described(value)
                );
            }
            None => out_line!("{}: no rule covers it", shown(name)),
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn read(store: &dyn Store, set: Object) -> Result<Vec<NameRule>, Stop> {
    let schema: &Schema = store.schema();
    let name = &schema.objects[set].name;
    let unread = not_done(format!("the rules of `{name}` could not be read"));
    store.names(set).map_err(unread)
}

fn described(RuleValue { number, lists }: RuleValue) -> String {
    format!("number {number}, lists 0x{lists:x}")
}

fn as_json(rule: &NameRule) -> Value {
    json!({
        "name": rule.name.to_string(),
        "number": rule.value.number,
        "lists": rule.value.lists,
    })
}
