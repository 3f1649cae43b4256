//! Which of the features that generated code can do without a kernel has.

use crate::errors;
use crate::probe::{has_helper, kernel_version};
use crate::sys::Prog;
use bpf::features::{FLOOR, Feature, Features, NEEDED, Version};
use diag::Diagnostic;
use std::io;

/// The kernel that an object is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Kernel {
    /// The one that runs here.
    #[default]
    This,
    /// A version of Linux as it was published.
    Version(Version),
}

impl Kernel {
    /// What it has: of this kernel by trying, where this process may load programs, else by its version.
    pub fn features(self) -> Features {
        match self {
            Kernel::Version(version) => Features::of(version),
            Kernel::This => Features::which(|feature| match try_out(feature) {
                Ok(()) => true,
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    feature.since() <= kernel_version()
                }
                Err(_) => false,
            }),
        }
    }

    /// Fails if it is too old for any program. An old kernel to which a distribution has added what is needed
    /// is not, although nobody has tested it.
    pub fn check(self) -> Result<(), Box<Diagnostic>> {
        let version = match self {
            Kernel::Version(version) => version,
            Kernel::This => kernel_version(),
        };
        if version >= FLOOR {
            return Ok(());
        }
        let has = |helper: u32, since: Version| match self {
            Kernel::Version(_) => since <= version,
            Kernel::This => has_helper(helper).is_ok(),
        };
        let lacks: Vec<&str> = NEEDED
            .iter()
            .filter(|(_, helper, since)| !has(*helper, *since))
            .map(|(name, _, _)| *name)
            .collect();
        match self {
            Kernel::This if lacks.is_empty() => Ok(()),
            _ => Err(errors::load::too_old(version, &lacks)),
        }
    }
}

/// Tries a feature.
pub(crate) fn try_out(feature: Feature) -> io::Result<()> {
    match feature {
        Feature::MayGoto => Prog::may_goto().map(|_| ()),
        Feature::TrackedSpills => Prog::tracked_spill().map(|_| ()),
        Feature::KernelContext => Prog::calls_kernel(c"bpf_cast_to_kern_ctx").map(|_| ()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_is_too_old_is_told_what_it_lacks() {
        let message = |version| Kernel::Version(version).check().map_err(|d| d.message);
        assert_eq!(
            message((5, 10)),
            Err("Linux 5.10 lacks bpf_ktime_get_coarse_ns, bpf_loop and bpf_xdp_load_bytes; Onpath needs Linux 6.1".into())
        );
        assert_eq!(
            message((5, 15)),
            Err("Linux 5.15 lacks bpf_loop and bpf_xdp_load_bytes; Onpath needs Linux 6.1".into())
        );
        assert_eq!(
            message((5, 17)),
            Err("Linux 5.17 lacks bpf_xdp_load_bytes; Onpath needs Linux 6.1".into())
        );
        assert_eq!(
            message((5, 19)),
            Err("Onpath is not tested on Linux 5.19; Onpath needs Linux 6.1".into())
        );
        assert_eq!(message((6, 1)), Ok(()));
        assert_eq!(Kernel::This.check(), Ok(()));
    }

    #[test]
    fn this_kernel_has_the_helpers_that_are_needed() {
        for (name, helper, _) in NEEDED {
            assert!(has_helper(helper).is_ok(), "{name}");
        }
        assert!(has_helper(9999).is_err());
    }
}
