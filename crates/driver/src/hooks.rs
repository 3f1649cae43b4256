//! Hooks: their names, defaults and directions.

use bpf::abi::Hook;
use ir::Program;

/// Returns the hook of this name.
pub fn by_name(wanted: &str) -> Option<Hook> {
    Hook::ALL.into_iter().find(|hook| hook.name() == wanted)
}

/// Returns the hook at which an elaborated program runs if none is given: XDP, if it can run there.
pub fn default_hook(program: &Program) -> Hook {
    let arch = arch::by_package(&program.arch);
    let place = arch.and_then(|arch| arch.default_place(program));
    place.map_or(Hook::Xdp, Hook::at)
}

/// Returns the direction of the packets that a hook sees.
pub fn direction(hook: Hook) -> &'static str {
    match hook {
        Hook::Xdp | Hook::TcIngress => "in",
        Hook::TcEgress => "out",
    }
}
