//! Hooks by the names that users write.

use bpf::abi::Hook;

/// Every hook.
pub const ALL: [Hook; 3] = [Hook::Xdp, Hook::TcIngress, Hook::TcEgress];

/// A hook's name on the command line and in bundles.
pub fn name(hook: Hook) -> &'static str {
    match hook {
        Hook::Xdp => "xdp",
        Hook::TcIngress => "tc-ingress",
        Hook::TcEgress => "tc-egress",
    }
}

/// The hook of this name.
pub fn by_name(wanted: &str) -> Option<Hook> {
    ALL.into_iter().find(|hook| name(*hook) == wanted)
}

/// Where a program of this architecture (its package) runs if nobody gives it a hook.
pub fn usual(package: &str) -> Hook {
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
