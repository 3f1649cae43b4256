//! `onpath doctor`

use crate::args::Doctor;
use crate::output::{Done, columns, print_json};
use kernel::probe::{self, Need};
use serde_json::{Value, json};
use std::process::ExitCode;

/// Says what this machine can do: status 0 if nothing that XDP programs need is missing, else 1.
pub fn run(args: Doctor) -> Done {
    let findings = probe::examine();
    let missing = findings
        .iter()
        .any(|f| !f.present && f.need == Need::Needed);
    if args.json {
        let list: Vec<Value> = findings
            .iter()
            .map(|f| {
                json!({
                    "name": f.name,
                    "present": f.present,
                    "required": f.need == Need::Needed,
                    "detail": f.detail,
                    "remedy": if f.present { Value::Null } else { json!(f.remedy) },
                })
            })
            .collect();
        print_json(&json!({ "kernel": probe::release(), "findings": list }));
        return Ok(ExitCode::from(u8::from(missing)));
    }
    let rows: Vec<Vec<String>> = findings
        .iter()
        .map(|f| {
            let sign = match (f.present, f.need) {
                (true, _) => "ok",
                (false, Need::Needed) => "MISSING",
                (false, _) => "absent",
            };
            vec![sign.to_string(), f.name.to_string(), f.detail.clone()]
        })
        .collect();
    print!("Linux {}\n\n{}", probe::release(), columns(&rows));
    let remedies: Vec<_> = findings.iter().filter(|f| !f.present).collect();
    if !remedies.is_empty() {
        println!("\nWhat to do:");
        for finding in remedies {
            println!("  {}: {}", finding.name, finding.remedy);
        }
    }
    println!(
        "\n{}",
        if missing {
            "This machine cannot run programs by XDP yet; the interpreter runs anywhere."
        } else {
            "This machine can run programs by XDP."
        }
    );
    Ok(ExitCode::from(u8::from(missing)))
}
