//! Whether the processor runs a guest, or QEMU emulates it.

use std::fs;

/// How a guest is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Accelerator {
    /// For people.
    pub name: &'static str,
    /// QEMU's arguments.
    pub arguments: [&'static str; 4],
}

/// By the processor.
const KVM: Accelerator = Accelerator {
    name: "KVM",
    arguments: ["-accel", "kvm", "-cpu", "host"],
};
/// By translation: ten to thirty times slower. Both processors take turns in one thread. With a thread each, a kernel that changed its own code (a
/// static key) ran into the trap of a change that it had finished, and panicked.
pub(crate) const TCG: Accelerator = Accelerator {
    name: "emulation",
    arguments: ["-accel", "tcg,thread=single", "-cpu", "max"],
};

impl Accelerator {
    /// The faster one of those that this machine has.
    ///
    /// A machine that is a guest without nested virtualisation may have `/dev/kvm` all the same, for guests whose
    /// kernel is made for it; Debian's is not. The processor's flags decide.
    pub(crate) fn of_this_machine() -> Accelerator {
        let mut device = fs::File::options();
        let opens = device.read(true).write(true).open("/dev/kvm").is_ok();
        let about = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        if opens && virtualises(&about) {
            KVM
        } else {
            TCG
        }
    }
}

/// Whether `/proc/cpuinfo` has the flag of Intel's or AMD's virtualisation.
fn virtualises(cpuinfo: &str) -> bool {
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags"));
    flags.is_some_and(|flags| flags.split_whitespace().any(|f| f == "vmx" || f == "svm"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_processor_that_virtualises_runs_guests() {
        assert!(virtualises("processor : 0\nflags\t\t: fpu vmx sse\n"));
        assert!(virtualises("flags\t\t: fpu svm\n"));
        assert!(!virtualises(
            "model name : vmx\nflags\t\t: fpu hypervisor\n"
        ));
    }
}
