//! Which of the features that generated code can do without a kernel has.

use crate::probe::kernel_version;
use crate::sys::Prog;
use bpf::features::{Feature, Features, Version};
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
}

/// Tries a feature.
pub(crate) fn try_out(feature: Feature) -> io::Result<()> {
    match feature {
        Feature::MayGoto => Prog::may_goto().map(|_| ()),
        Feature::TrackedSpills => Prog::tracked_spill().map(|_| ()),
        Feature::KernelContext => Prog::calls_kernel(c"bpf_cast_to_kern_ctx").map(|_| ()),
    }
}
