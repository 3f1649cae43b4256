//! Choice between virtualisation and emulation of guests.

use std::fs;

/// Way of running a guest's instructions in QEMU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Accelerator {
    /// Name, for output.
    pub name: &'static str,
    /// QEMU's arguments.
    pub arguments: [&'static str; 4],
}

/// Virtualisation by the processor.
const KVM: Accelerator = Accelerator {
    name: "KVM",
    arguments: ["-accel", "kvm", "-cpu", "host"],
};
/// Emulation by translation, ten to thirty times slower. One thread runs both virtual processors in turn. With a thread
/// for each, a guest's kernel panicked after it had changed its own code (a static key): it ran into the trap of a
/// change that was already complete.
pub(crate) const TCG: Accelerator = Accelerator {
    name: "emulation",
    arguments: ["-accel", "tcg,thread=single", "-cpu", "max"],
};

impl Accelerator {
    /// Returns the faster accelerator that this machine supports.
    ///
    /// `/dev/kvm` does not decide: a guest without nested virtualisation may have it for kernels that are made for it,
    /// and Debian's are not. The processor's flags decide.
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

/// Returns true if `/proc/cpuinfo` has the flag of Intel's or AMD's virtualisation.
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
