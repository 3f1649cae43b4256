//! Hooks by the names that users write, and what goes without saying about them.

use bpf::abi::Hook;
use ir::Program;

/// The hook of this name.
pub fn by_name(wanted: &str) -> Option<Hook> {
    Hook::ALL.into_iter().find(|hook| hook.name() == wanted)
}

/// Where a program, as elaborated, runs if no hook is given: at XDP, if it can.
pub fn default_hook(program: &Program) -> Hook {
    let arch = arch::by_package(&program.arch);
    let place = arch.and_then(|arch| arch.default_place(program));
    place.map_or(Hook::Xdp, Hook::at)
}

/// Which packets a hook sees.
pub fn direction(hook: Hook) -> &'static str {
    match hook {
        Hook::Xdp | Hook::TcIngress => "in",
        Hook::TcEgress => "out",
    }
}
