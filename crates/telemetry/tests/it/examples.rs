//! The documentation: every example runs, and the table of attributes is that of the program.

use crate::evaluation::run;
use crate::frames;
use std::path::PathBuf;
use telemetry::{Catalogue, NoMessages, Type, describe_fields};

fn readme() -> (PathBuf, String) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../telemetry/README.md");
    let text = std::fs::read_to_string(&path).expect("the documentation");
    (path, text)
}

#[test]
fn every_example_runs() {
    let (_, text) = readme();
    let blocks = text.split("```query\n").skip(1);
    let queries: Vec<&str> = blocks.filter_map(|b| b.split("```").next()).collect();
    assert!(queries.len() >= 20, "{}", queries.len());
    let packets = frames::mix();
    for query in queries {
        let report = run(query, &packets);
        assert_eq!(report.counts.packets as usize, packets.len(), "{query}");
    }
}

#[test]
fn the_table_of_attributes_is_true() {
    let (path, text) = readme();
    let (begin, end) = ("<!-- attributes: begin -->\n", "<!-- attributes: end -->");
    let (before, rest) = text.split_once(begin).expect("the begin");
    let (_, after) = rest.split_once(end).expect("the end");
    let mut table = "| attribute | type | what it is |\n|---|---|---|\n".to_string();
    for (name, ty, what) in describe_fields() {
        let ty = match ty {
            Type::Number(bits) => format!("number, {}", diag::counted(u64::from(bits), "bit")),
            ty => ty
                .name()
                .split_once(' ')
                .map_or("", |(_, name)| name)
                .to_string(),
        };
        table += &format!("| `{name}` | {ty} | {what} |\n");
    }
    let now = format!("{before}{begin}{table}{end}{after}");
    if std::env::var_os("ONPATH_BLESS").is_some() {
        std::fs::write(path, now).expect("written");
    } else {
        assert!(now == text, "the table is another one now:\n{table}");
    }
    assert_eq!(
        Catalogue::new(&NoMessages).names().len(),
        describe_fields().count()
    );
}
