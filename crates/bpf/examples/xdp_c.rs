//! Prints the C that a P4 program becomes: `cargo run -p bpf --example xdp_c -- prog.p4 [--abi] [--copy] [--spill]`.

use diag::SourceMap;
use std::process::ExitCode;
use syntax::{LoadError, Loaded, SourceLoader};

/// Files as named, and those of `p4include`.
struct Files;

impl SourceLoader for Files {
    fn load(&self, path: &str, _from: Option<&str>, _system: bool) -> Result<Loaded, LoadError> {
        let built_in = format!("{}/../../p4include/{path}", env!("CARGO_MANIFEST_DIR"));
        for name in [path.to_string(), built_in] {
            if let Ok(text) = std::fs::read_to_string(&name) {
                return Ok(Loaded {
                    name,
                    text: text.into(),
                });
            }
        }
        Err(LoadError::NotFound { tried: Vec::new() })
    }
}

fn main() -> ExitCode {
    let Some(file) = std::env::args().nth(1) else {
        return ExitCode::from(2);
    };
    let mut map = SourceMap::new();
    let parsed = syntax::parse(&mut map, &Files, &file, &[]);
    let checked = sema::check(&parsed.program, &map);
    let Some(module) = checked.module else {
        eprintln!("{:?}", checked.diagnostics);
        return ExitCode::FAILURE;
    };
    let mut program = match elab::elaborate(&module) {
        Ok((program, _)) => program,
        Err(errors) => {
            eprintln!("{errors:?}");
            return ExitCode::FAILURE;
        }
    };
    ir::passes::pipeline(&mut program, ir::passes::Level::Optimize);
    let options = bpf::Options {
        source_name: file,
        spill_everything: std::env::args().any(|a| a == "--spill"),
        copy_headers: std::env::args().any(|a| a == "--copy"),
        ..bpf::Options::default()
    };
    match bpf::compile(&program, &map, &options) {
        Ok(output) if std::env::args().any(|a| a == "--abi") => {
            println!(
                "{}",
                serde_json::to_string_pretty(&output.abi).unwrap_or_default()
            );
            println!("{:#?}", output.report);
            ExitCode::SUCCESS
        }
        Ok(output) => {
            print!("{}", output.c_source);
            ExitCode::SUCCESS
        }
        Err(errors) => {
            eprintln!("{errors:?}");
            ExitCode::FAILURE
        }
    }
}
