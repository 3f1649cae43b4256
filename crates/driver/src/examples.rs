//! Example programs, and the kernel features that each needs. They are found without clang.

use crate::bpf_target::{Request, generate};
use crate::loader::PROGRAMS;
use crate::{BUILT_IN_FOLDER, Input, bundle, elaborate, hooks};
use bpf::abi::Hook;
use bpf::features::Feature;
use bpf::uses::Use;
use diag::{Diagnostics, SourceMap};
use kernel::features::Kernel;
use std::path::Path;

/// Bundles among the examples. They name the hooks of their programs.
const BUNDLES: [(&str, &str); 2] = [
    (
        "guard/guard.toml",
        include_str!("../../../programs/guard/guard.toml"),
    ),
    (
        "pdm/pdm.toml",
        include_str!("../../../programs/pdm/pdm.toml"),
    ),
];

/// A program of an example.
#[derive(Clone, PartialEq, Debug)]
pub struct Example {
    /// Name of the example: its folder below `programs`. The programs of a bundle share it.
    pub name: &'static str,
    /// Hook at which the program runs.
    pub hook: Hook,
    /// Kernel features that its object uses.
    pub uses: Vec<Use>,
}

/// Examines every program of every example, compiled for a kernel.
///
/// # Errors
///
/// Onpath refuses one of its own programs.
pub fn examine(kernel: Kernel) -> Result<Vec<Example>, Diagnostics> {
    let programs = PROGRAMS.iter().filter(|(file, _)| file.ends_with(".p4"));
    let hooks = hooks_of_bundles()?;
    programs
        .map(|(file, _)| {
            let (name, _) = file.rsplit_once('/').unwrap_or((file, ""));
            let path = format!("{BUILT_IN_FOLDER}{file}");
            let hook = hooks.iter().find(|(of, _)| *of == path).map(|(_, h)| *h);
            example(name, &path, hook, kernel)
        })
        .collect()
}

fn example(
    name: &'static str,
    path: &str,
    hook: Option<Hook>,
    kernel: Kernel,
) -> Result<Example, Diagnostics> {
    let elaborated = elaborate(&Input::file(path)).map_err(|refused| refused.diagnostics)?;
    let program = &elaborated.program;
    let hook = hook.unwrap_or_else(|| hooks::default_hook(program));
    let request = Request {
        kernel,
        ..Request::hook(hook)
    };
    // A program that an older kernel cannot run is compiled for the first kernel that can.
    let able = Request {
        kernel: Kernel::Version(Feature::MayGoto.since()),
        ..request
    };
    let output = generate(program, &elaborated.map, request)
        .or_else(|_| generate(program, &elaborated.map, able))?;
    Ok(Example {
        name,
        hook,
        uses: output.abi.uses,
    })
}

/// Returns the hooks of programs in bundles, with the programs' paths.
fn hooks_of_bundles() -> Result<Vec<(String, Hook)>, Diagnostics> {
    let mut found = Vec::new();
    for (name, text) in BUNDLES {
        let mut map = SourceMap::new();
        let Some(file) = map.add(format!("{BUILT_IN_FOLDER}{name}"), text) else {
            continue;
        };
        for member in bundle::read(&map, file)?.programs {
            let source: &Path = &member.source.value;
            let hook = member
                .hook
                .map(|hook| (source.display().to_string(), hook.value));
            found.extend(hook);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bpf::features::FLOOR;
    use bpf::uses::{Construct, loads_from};

    #[test]
    fn every_example_is_examined_at_its_hook() {
        let all = examine(Kernel::Version(FLOOR)).expect("accepted");
        assert!(all.len() > 15, "{all:?}");
        let hooks = |name: &str| -> Vec<Hook> {
            let of = all.iter().filter(|example| example.name == name);
            of.map(|example| example.hook).collect()
        };
        assert_eq!(hooks("pdm"), [Hook::TcEgress, Hook::TcIngress]);
        assert_eq!(hooks("guard"), [Hook::TcIngress, Hook::TcEgress]);
        assert_eq!(hooks("router"), [Hook::Xdp]);
        // Copies, and loops over the payload, need a newer kernel.
        let newer = all.iter().filter(|e| loads_from(&e.uses) != FLOOR);
        let newer: Vec<_> = newer.map(|e| (e.name, loads_from(&e.uses))).collect();
        let since = Feature::MayGoto.since();
        let expected = [
            "deep4r",
            "payload/names",
            "payload/recirculation",
            "requests",
            "url_firewall",
        ];
        let expected = expected.map(|name| (name, since));
        assert_eq!(newer, expected);
    }

    #[test]
    fn a_newer_kernel_gives_an_example_newer_variants() {
        let bounds = |kernel| {
            let all = examine(Kernel::Version(kernel)).expect("accepted");
            let firewall = all.into_iter().find(|example| example.name == "firewall");
            let uses = firewall.expect("there").uses;
            let bounds = uses.iter().find(|u| u.construct == Construct::Bounds);
            bounds.expect("it has options").variant().name
        };
        assert_eq!(bounds((6, 7)), "barriers");
        assert_eq!(bounds((6, 8)), "tracked spills");
    }
}
