//! Compilation of the C file around a program's functions.

use crate::target::{LINKAGE, Native, Shared, number};
use arch::Model;
use cgen::tree::{Item, Type, Unit};
use clang::{Effort, Jumps, Source};
use diag::{Diagnostic, Diagnostics, SourceMap, Span};
use ir::Program;
use ir::passes::{self, Level};
use schema::Schema;
use std::path::PathBuf;
use std::sync::Arc;

/// Options of the compilation.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// True if headers are in a parse record in memory.
    pub record: bool,
    /// C files of extern functions.
    pub externs: Vec<PathBuf>,
}

/// Compiled program.
#[derive(Clone, Debug)]
pub struct Built {
    /// C source of the program.
    pub c: String,
    /// Executable for this machine.
    pub(crate) executable: Vec<u8>,
    /// Description of its memory.
    pub(crate) memory: Arc<shm::Program>,
}

/// Models that the target supports.
const MODELS: [Model; 3] = [Model::Filter, Model::Switch, Model::Pipeline];
/// Function of the first stage.
const STAGE: &str = "stage_0";
/// Header of the target, and the C around the program.
const OWN: [(&str, &str); 2] = [
    ("native.h", include_str!("../include/native.h")),
    ("main.c", include_str!("../include/main.c")),
];

/// Compiles a program, as elaborated.
///
/// # Errors
/// The target does not support the program's architecture, or something that the program uses.
pub fn build(program: &Program, map: &SourceMap, options: &Options) -> Result<Built, Diagnostics> {
    let (mut optimised, rejects) = arch::for_targets(program);
    let all = passes::Options {
        level: Level::Optimize,
        function_params: 6,
        follows_iterations: false,
        rejects,
    };
    passes::pipeline(&mut optimised, &all);
    let (c, file) = emitted(&optimised, map, options)?;
    let clang = clang::find()?;
    let folders = options.externs.iter().filter_map(|file| file.parent());
    let folders: Vec<PathBuf> = folders.map(PathBuf::from).collect();
    let headers: Vec<_> = [
        &OWN[..],
        &emit::HEADERS,
        &tables::HEADERS,
        &state::HEADERS,
        &messages::HEADERS,
        &shm::HEADERS,
    ]
    .concat();
    let source = Source {
        text: &c,
        headers: &headers,
        include_dirs: &folders,
        defines: &[],
        effort: Effort::Reduced,
        jumps: Jumps::Short,
    };
    let executable = clang::compile_program(&clang, source)?;
    let memory = shm::Program {
        contents: file.kept.contents,
        schema: Arc::new(Schema::of(program)),
        maps: file.maps,
        groups: None,
        sessions: None,
        drops: None,
    };
    Ok(Built {
        c,
        executable,
        memory: Arc::new(memory),
    })
}

fn wrong_architecture(package: &str) -> Diagnostic {
    let message = format!("the native target has no architecture with the package `{package}`");
    Diagnostic::error("E0720", Span::NONE, message)
}

/// Returns the C, and the state that the file's functions share.
fn emitted(
    program: &Program,
    map: &SourceMap,
    options: &Options,
) -> Result<(String, Shared), Diagnostics> {
    let (model, stages) = arch::by_package(&program.arch)
        .filter(|arch| MODELS.contains(&arch.model))
        .and_then(|arch| Some((arch.model, arch.stages_of(program)?)))
        .ok_or_else(|| Box::new(wrong_architecture(&program.arch)))?;
    let target = Native::new(model, options.record, !options.externs.is_empty());
    let mut file: emit::File<Native> = emit::File::default();
    file.own.payload = messages::calls::Shared::of(program);
    let mut stages_in_c = Vec::new();
    for joined in emit::joined(program, stages, &mut file.names) {
        let (body, after) = emit::stage(program, map, &joined, &target, file)?;
        file = after;
        let packet = (Type::Struct("packet".into()).ptr(), "ctx".into());
        stages_in_c.push(Item::Function {
            linkage: LINKAGE.into(),
            result: Type::U32,
            name: match joined.name.is_empty() {
                true => STAGE.into(),
                false => joined.name.clone(),
            },
            params: std::iter::once(packet).chain(joined.params()).collect(),
            body,
        });
    }
    let emit::File {
        prototypes,
        structs,
        functions,
        mut own,
        ..
    } = file;
    let kept = &own.kept.contents;
    let (tables, payload) = (&own.tables, &own.payload);
    let includes = [
        (!kept.flow_states.is_empty(), "onpath/flow_state.h"),
        (!kept.metrics.is_empty(), "onpath/metrics.h"),
        (payload.reads_payload(), "onpath/message.h"),
        (payload.holds_streams(), "onpath/stream_bytes.h"),
        (payload.reads_quic(), "onpath/quic.h"),
        (payload.reads_documents(), "onpath/document.h"),
        (!kept.name_sets.is_empty(), "onpath/name.h"),
        (!kept.pattern_sets.is_empty(), "onpath/pattern_set.h"),
        (kept.logs.is_some(), "onpath/log.h"),
        (tables.bit_vectors, "onpath/bit_vectors.h"),
        (tables.perfect_hash, "onpath/perfect_hash.h"),
        (tables.multibit_trie, "onpath/multibit_trie.h"),
        (tables.buckets, "onpath/buckets.h"),
    ];
    let mut items = vec![Item::Include("native.h".into())];
    let needed = includes.into_iter().filter(|(needed, _)| *needed);
    items.extend(needed.map(|(_, header)| Item::Include(header.into())));
    items.extend(prototypes.into_iter().map(|(_, prototype)| prototype));
    let externs = options.externs.iter().filter_map(|file| file.file_name());
    items.extend(externs.map(|name| Item::Include(name.to_string_lossy().into_owned())));
    let verdicts = model
        .verdicts()
        .into_iter()
        .map(|(name, n)| (name.into(), n));
    items.push(Item::Enum(verdicts.collect()));
    items.extend(structs);
    items.append(&mut own.items);
    if let Some(globals) = own.kept.finish_globals("globals") {
        items.push(Item::Struct {
            name: "globals_of_program".into(),
            members: globals.record.members,
        });
        items.push(number("GLOBALS", own.maps.len()));
    }
    items.extend(functions.into_iter().map(emit::Function::item));
    items.extend(stages_in_c);
    items.push(Item::Include("main.c".into()));
    tables::complete(&mut own.kept.contents.tables, program);
    Ok((cgen::print(&Unit { items }), own))
}
