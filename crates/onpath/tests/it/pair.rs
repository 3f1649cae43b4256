//! The measurement's two shipped programs, compiled for their hooks and loaded with shared state.

use bpf::abi::Hook;
use control::{Store, entries};
use diag::{SourceMap, render_plain};
use driver::Input;
use driver::bpf_target::{self, Request};
use ir::{ExternInst, Program};
use kernel::Instance;
use kernel::bundle::{self, SharedMap, Source};
use std::path::Path;
use std::sync::Arc;

/// One of the programs, compiled.
pub(crate) struct Compiled {
    name: &'static str,
    program: Arc<Program>,
    sources: SourceMap,
    built: bpf_target::Compiled,
}

/// Compiles a program for a hook. `observe` is for [`kernel::TestRun`], which supplies its clock.
pub(crate) fn compile(
    file: &Path,
    hook: Hook,
    observe: bool,
) -> (Arc<Program>, SourceMap, bpf_target::Compiled) {
    let elaborated = driver::elaborate(&Input::file(file))
        .unwrap_or_else(|refused| panic!("{}", render_plain(&refused.diagnostics, &refused.map)));
    let (program, sources) = (Arc::new(elaborated.program), elaborated.map);
    let request = Request {
        observe,
        ..Request::hook(hook)
    };
    let built = compile_for(&program, &sources, request);
    (program, sources, built)
}

/// Compiles a program that must be accepted.
pub(crate) fn compile_for(
    program: &Program,
    sources: &SourceMap,
    request: Request<'_>,
) -> bpf_target::Compiled {
    bpf_target::compile(program, sources, request)
        .unwrap_or_else(|diagnostics| panic!("{}", render_plain(&diagnostics, sources)))
}

/// Loads the programs of one host, which share their states.
pub(crate) fn load<const N: usize>(members: [&Compiled; N]) -> [Instance; N] {
    let sources = members.map(|member| Source {
        name: member.name,
        object: &member.built.object,
        abi: &member.built.abi,
        schema: &member.built.schema,
        sources: &member.sources,
    });
    let shared = ["flows", "paths"].map(|name| {
        let map = |member: &Compiled| {
            let mut states = member.built.abi.contents.flow_states.iter();
            let state = states.find(|state| state.name == name);
            state.map(|state| state.map.clone()).expect("the state")
        };
        let maps = members.iter().enumerate();
        SharedMap {
            maps: maps.map(|(at, member)| (at, map(member))).collect(),
        }
    });
    let loaded = bundle::load(&sources, &shared).unwrap_or_else(|refused| {
        let failure = refused.failure;
        panic!(
            "this test needs root: {}\n{}",
            failure.diagnostic.message, failure.log
        )
    });
    loaded.try_into().expect("as many as there are")
}

impl Compiled {
    /// Compiles the program for outgoing packets; see [`compile`].
    pub(crate) fn egress(observe: bool) -> Compiled {
        Compiled::new("egress", Hook::TcEgress, observe)
    }

    /// Compiles the program for incoming packets.
    pub(crate) fn ingress(observe: bool) -> Compiled {
        Compiled::new("ingress", Hook::TcIngress, observe)
    }

    fn new(name: &'static str, hook: Hook, observe: bool) -> Compiled {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let file = root.join(format!("programs/pdm/{name}.p4"));
        let (program, sources, built) = compile(&file, hook, observe);
        Compiled {
            name,
            program,
            sources,
            built,
        }
    }

    /// Returns an extern object by name, such as `flows` or `egress.egress_packets`.
    pub(crate) fn object(&self, name: &str) -> ExternInst {
        let mut all = self.program.externs.iter();
        let found = all.find(|(_, object)| object.name == name);
        found.unwrap_or_else(|| panic!("no `{name}`")).0
    }

    /// Returns the index of a field in a flow's value.
    pub(crate) fn field(&self, state: ExternInst, name: &str) -> usize {
        let fields = &self.program.externs[state].type_arg_names[1];
        let index = fields.iter().position(|field| field == name);
        index.unwrap_or_else(|| panic!("no `{name}` in {fields:?}"))
    }

    /// Applies a line of an entries file.
    pub(crate) fn set(&self, store: &mut dyn Store, line: &str) {
        let mut map = SourceMap::new();
        let file = map.add("entries", line).expect("a line");
        let changes = entries::parse(&self.built.schema, &map, file)
            .unwrap_or_else(|diagnostics| panic!("{}", render_plain(&diagnostics, &map)));
        entries::apply(store, &changes).unwrap_or_else(|refused| panic!("{}", refused.message));
    }
}
