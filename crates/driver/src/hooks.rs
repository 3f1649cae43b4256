//! Hooks by the names that users write, and what goes without saying about them.

use bpf::abi::Hook;

/// The hook of this name.
pub fn by_name(wanted: &str) -> Option<Hook> {
    Hook::ALL.into_iter().find(|hook| hook.name() == wanted)
}

/// Where a program of this architecture (its package) runs if no hook is given.
pub fn default_hook(package: &str) -> Hook {
    if package == arch::tc::ARCHITECTURE.package {
        Hook::TcIngress
    } else {
        Hook::Xdp
    }
}

/// Which packets a hook sees.
pub fn direction(hook: Hook) -> &'static str {
    match hook {
        Hook::Xdp | Hook::TcIngress => "in",
        Hook::TcEgress => "out",
    }
}
