//! Time from P4 text to a program in the kernel.

use crate::error::Error;
use driver::Input;
use driver::bpf_target::{self, Request};
use kernel::bench::median;
use serde::Serialize;
use std::path::Path;
use std::time::Instant;

/// Program that is compiled.
const PROGRAM: &str = "programs/router/router.p4";
/// Number of compilations.
const ROUNDS: usize = 9;

/// Medians of the times, in milliseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct CompileTime {
    /// The compiler's time: from text to C.
    pub compiler: f64,
    /// clang's time.
    pub clang: f64,
    /// libbpf's and the kernel's time: loading and verifying.
    pub load: f64,
    /// Whole time.
    pub all: f64,
}

/// Compiles and loads the router repeatedly.
pub(crate) fn measure(root: &Path) -> Result<CompileTime, Error> {
    let (mut compiler, mut clang, mut load, mut all) = (vec![], vec![], vec![], vec![]);
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        let elaborated = driver::elaborate(&Input::file(root.join(PROGRAM)))
            .map_err(|r| Error::diagnostics(&r.diagnostics, &r.map))?;
        let front = elaborated.took;
        let (program, sources) = (elaborated.program, elaborated.map);
        let compiled = bpf_target::compile(&program, &sources, Request::default())
            .map_err(|d| Error::diagnostics(&d, &sources))?;
        let loading = Instant::now();
        kernel::load(&compiled.object, &compiled.abi, &compiled.schema, &sources)?;
        load.push(loading.elapsed());
        all.push(begun.elapsed());
        compiler.push(front + compiled.compiler_time);
        clang.push(compiled.clang_time);
    }
    let milliseconds = |times: Vec<std::time::Duration>| {
        median(
            &times
                .iter()
                .map(|t| t.as_secs_f64() * 1e3)
                .collect::<Vec<_>>(),
        )
    };
    Ok(CompileTime {
        compiler: milliseconds(compiler),
        clang: milliseconds(clang),
        load: milliseconds(load),
        all: milliseconds(all),
    })
}
