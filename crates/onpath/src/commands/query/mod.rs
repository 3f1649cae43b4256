//! `onpath query`

pub mod args;
mod live;

use crate::output::{Done, Stop, out, print_diagnostics, refused};
use args::Query;
use diag::SourceMap;
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::process::ExitCode;
use telemetry::view::{csv, json, table};
use telemetry::{Catalogue, Evaluator, Schemas, capture, errors};

/// Answers a query, or explains it.
pub fn run(args: Query) -> Done {
    let messages = Schemas::builtin();
    let catalogue = Catalogue::new(&messages);
    let mut map = SourceMap::new();
    let query = telemetry::compile(&args.query, &catalogue, &mut map).map_err(|diagnostics| {
        print_diagnostics(&diagnostics, &map);
        Stop::AlreadyReported(1)
    })?;
    let groups = args.groups.map(|groups| groups as usize);
    if args.explain {
        out!(
            "{}",
            telemetry::explain(&query, catalogue.messages(), groups)
        );
        return Ok(ExitCode::SUCCESS);
    }
    if args.p4 {
        let text = telemetry::program(&query, &args.query, groups).map_err(refused)?;
        out!("{text}");
        return Ok(ExitCode::SUCCESS);
    }
    let header = csv::header(&query);
    // Whoever sends packets should not know which values share a counter.
    let seed = RandomState::new().build_hasher().finish();
    let mut evaluator = Evaluator::new(query, catalogue.messages(), groups, seed);
    if args.csv {
        out!("{header}");
    }
    if let Some(device) = &args.dev {
        return live::run(&args, device, evaluator);
    }
    let Some(path) = &args.read else {
        return Err(Stop::Usage("write --read or --off-path".into()));
    };
    let name = path.display().to_string();
    let file = File::open(path).map_err(|e| refused(errors::capture::unreadable(&name, &e)))?;
    let read = capture::read(&name, file, |frame| evaluator.packet(frame));
    if read.is_err() && evaluator.counts().packets == 0 {
        read.map_err(refused)?;
        return Ok(ExitCode::SUCCESS);
    }
    let seconds = evaluator.seconds();
    let report = evaluator.report(seconds);
    if args.json {
        out!("{}\n", json::object(&report));
    } else if args.csv {
        out!("{}", csv::lines(&report, seconds));
        live::report_notes(&report, 0);
    } else {
        out!("{}", table::text(&report, args.rows));
    }
    // What was read is shown all the same.
    read.map_err(refused)?;
    Ok(ExitCode::SUCCESS)
}
