//! Program in the kernel, with the hook at which it may run.

use crate::sys::Prog;
use bpf::abi::Hook;
use std::io;

/// Loaded program with the hook it was made for. The kernel has confirmed that the two fit, so a function that takes
/// this type cannot be given a program of another kind.
#[derive(Debug)]
pub struct HookProg {
    prog: Prog,
    hook: Hook,
}

impl HookProg {
    /// Joins a program and a hook. Fails if the program is of a kind that does not run at the hook.
    pub fn new(prog: Prog, hook: Hook) -> io::Result<HookProg> {
        if prog.info()?.kind == kernel_kind(hook) {
            Ok(HookProg { prog, hook })
        } else {
            Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("it is not a program for {}", hook.name()),
            ))
        }
    }

    /// Loads a program that does nothing but return a verdict.
    pub fn constant(hook: Hook, verdict: i32) -> io::Result<HookProg> {
        let prog = match hook {
            Hook::Xdp => Prog::constant_xdp(verdict)?,
            Hook::TcIngress | Hook::TcEgress => Prog::constant_tc(verdict)?,
        };
        Ok(HookProg { prog, hook })
    }

    /// Returns the hook at which it runs.
    pub fn hook(&self) -> Hook {
        self.hook
    }

    /// The program.
    pub fn prog(&self) -> &Prog {
        &self.prog
    }

    /// The program, without its hook.
    pub fn into_prog(self) -> Prog {
        self.prog
    }
}

/// The kernel's program type for a hook.
pub(crate) fn kernel_kind(hook: Hook) -> u32 {
    match hook {
        Hook::Xdp => libbpf_sys::BPF_PROG_TYPE_XDP,
        Hook::TcIngress | Hook::TcEgress => libbpf_sys::BPF_PROG_TYPE_SCHED_CLS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_another_kind_is_refused() {
        let xdp = Prog::constant_xdp(2).expect("this test needs root");
        let refused = HookProg::new(xdp, Hook::TcIngress).expect_err("not for tc");
        assert_eq!(refused.to_string(), "it is not a program for tc-ingress");
        let tc = Prog::constant_tc(-1).expect("loads");
        let both = HookProg::new(tc, Hook::TcEgress).expect("fits");
        assert_eq!(both.hook(), Hook::TcEgress);
    }
}
