//! Schemas of every example program: they survive serialisation, their ids are unique, and their entries are read
//! back as they are shown.

use control::Piece;
use control::entry::{parse_default, parse_entry, show_action, show_entry};
use driver::Input;
use schema::Schema;
use std::collections::BTreeSet;
use std::path::PathBuf;
use testkit::files;

fn all() -> Vec<(String, Schema)> {
    let folders = ["programs", "tests/stf", "tests/scale"].into_iter();
    let files: Vec<PathBuf> = folders.flat_map(|f| files::below(f, "p4")).collect();
    assert!(files.len() > 20, "{files:?}");
    let schema = |file: PathBuf| {
        let name = file.display().to_string();
        match driver::elaborate(&Input::file(file)) {
            Ok(elaborated) => (name, Schema::of(&elaborated.program)),
            Err(refused) => panic!("{name}: {:?}", refused.diagnostics),
        }
    };
    files.into_iter().map(schema).collect()
}

#[test]
fn every_program_has_a_schema_that_can_be_kept() {
    for (name, schema) in all() {
        let json = serde_json::to_string(&schema).expect("it is data");
        let back: Schema = serde_json::from_str(&json).expect("it was just written");
        assert_eq!(back, schema, "{name}");
        let ids: Vec<u32> = schema.tables.values().map(|t| t.id).collect();
        let ids = ids
            .into_iter()
            .chain(schema.actions.values().map(|a| a.id))
            .chain(schema.value_sets.values().map(|s| s.id))
            .chain(schema.objects.values().map(|o| o.id).filter(|id| *id != 0))
            .chain(schema.digests.iter().map(|d| d.id));
        let ids: Vec<u32> = ids.collect();
        let distinct: BTreeSet<u32> = ids.iter().copied().collect();
        assert_eq!(distinct.len(), ids.len(), "{name}: {ids:x?}");
    }
}

#[test]
fn what_a_program_has_in_its_tables_is_read_back_as_it_is_shown() {
    let mut entries = 0;
    for (name, schema) in all() {
        for (table, data) in &schema.tables {
            for entry in &data.entries {
                // The text does not show that an entry is `const`, and has one canonical form for each match.
                let mut expected = entry.clone();
                expected.is_const = false;
                expected.keys = data.canonical(&entry.keys);
                if !data.has_priorities() {
                    expected.priority = 0;
                }
                let text = format!("{} {}", data.name, show_entry(&schema, table, &expected));
                let read = parse_entry(&schema, Piece::new(&text, 0));
                let read = read.unwrap_or_else(|why| panic!("{name}: {text}: {}", why.message));
                assert_eq!(read, (table, expected), "{name}: {text}");
                entries += 1;
            }
            let call = &data.default_action;
            if !data.actions[call.action as usize].table_only {
                let text = format!("{} {}", data.name, show_action(&schema, table, call));
                let read = parse_default(&schema, Piece::new(&text, 0));
                let read = read.unwrap_or_else(|why| panic!("{name}: {text}: {}", why.message));
                assert_eq!(read, (table, call.clone()), "{name}: {text}");
            }
        }
    }
    assert!(entries > 20, "{entries} entries in all programs");
}

#[test]
fn a_program_that_clones_says_so() {
    let clones = |name: &str| {
        let all = all();
        let found = all.iter().find(|(file, _)| file.ends_with(name));
        found.expect("it is one of them").1.clones
    };
    assert!(clones("v1model/clone_egress.p4"));
    assert!(!clones("v1model/recirculate.p4"));
}
