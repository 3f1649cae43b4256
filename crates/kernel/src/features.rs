//! Detection of the kernel features that generated code may use.

use crate::errors;
use crate::sys::{Map, Prog};
use bpf::features::{FLOOR, Feature, Features, Version};
use diag::Diagnostic;
use host::caps;
use host::linux::kernel_version;
use std::io;

/// Kernel for which an object is compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Kernel {
    /// Running kernel of this machine.
    #[default]
    This,
    /// Published version of Linux, without a distribution's changes.
    Version(Version),
}

impl Kernel {
    /// Returns the features of the kernel. Those of another kernel follow from its version.
    ///
    /// On this kernel a feature is tried out if generated code has a fallback for it, or if the version does not
    /// promise it: distributions add features to old kernels. Where this process may not load programs, the version
    /// decides.
    pub fn features(self) -> Features {
        let version = self.version();
        Features::which(|feature| {
            let published = feature.since() <= version;
            if self != Kernel::This || (published && !feature.has_fallback()) {
                return published;
            }
            match try_out(feature) {
                Ok(()) => true,
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => published,
                Err(_) => false,
            }
        })
    }

    /// Returns the kernel's version.
    pub fn version(self) -> Version {
        match self {
            Kernel::This => kernel_version(),
            Kernel::Version(version) => version,
        }
    }

    /// Fails if the kernel is too old for any program. This kernel passes even with an old version if it has all
    /// features that have no fallback, although such kernels are untested.
    pub fn check(self) -> Result<(), Box<Diagnostic>> {
        let version = self.version();
        if version >= FLOOR {
            return Ok(());
        }
        let features = self.features();
        let lacks: Vec<&str> = Feature::ALL
            .into_iter()
            .filter(|feature| !feature.has_fallback() && !features.has(*feature))
            .map(Feature::name)
            .collect();
        match self {
            Kernel::This if lacks.is_empty() => Ok(()),
            _ => Err(errors::load::too_old(version, &lacks)),
        }
    }
}

/// Tries out a feature. Fails if the running kernel lacks it.
pub(crate) fn try_out(feature: Feature) -> io::Result<()> {
    match feature {
        Feature::MayGoto => Prog::may_goto().map(|_| ()),
        Feature::TrackedSpills => Prog::tracked_spill().map(|_| ()),
        Feature::LongJumps => Prog::long_jump().map(|_| ()),
        Feature::KernelContext => Prog::calls_kernel(c"bpf_cast_to_kern_ctx").map(|_| ()),
        Feature::XdpBytes => has_helper(libbpf_sys::BPF_FUNC_xdp_load_bytes),
        Feature::LoopCalls => has_helper(libbpf_sys::BPF_FUNC_loop),
        Feature::CheckMtu => has_helper(libbpf_sys::BPF_FUNC_check_mtu),
        Feature::CoarseClock => has_helper(libbpf_sys::BPF_FUNC_ktime_get_coarse_ns),
        Feature::RingBuffers => has_helper(libbpf_sys::BPF_FUNC_ringbuf_reserve),
        Feature::ProbeReadKernel => has_helper(libbpf_sys::BPF_FUNC_probe_read_kernel),
        Feature::DeviceMaps => {
            let kind = libbpf_sys::BPF_MAP_TYPE_DEVMAP_HASH;
            Map::create(kind, "onpath_probe", 4, 4, 1, 0).map(|_| ())
        }
        Feature::Locks => has_helper(libbpf_sys::BPF_FUNC_spin_lock),
    }
}

fn has_helper(id: libbpf_sys::bpf_func_id) -> io::Result<()> {
    // libbpf reports every failure except a verifier's refusal as support.
    if !caps::missing(&caps::RUN).is_empty() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    // SAFETY: no options.
    let answer = unsafe {
        libbpf_sys::libbpf_probe_bpf_helper(libbpf_sys::BPF_PROG_TYPE_XDP, id, std::ptr::null())
    };
    match answer {
        1 => Ok(()),
        0 => Err(io::ErrorKind::Unsupported.into()),
        code => Err(io::Error::from_raw_os_error(-code)),
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
            Err("Linux 5.10 lacks bpf_xdp_load_bytes, bpf_loop, bpf_check_mtu and bpf_ktime_get_coarse_ns; Onpath needs Linux 6.1".into())
        );
        assert_eq!(
            message((5, 15)),
            Err("Linux 5.15 lacks bpf_xdp_load_bytes and bpf_loop; Onpath needs Linux 6.1".into())
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
    fn a_kernel_has_what_its_version_promises() {
        let published = |feature: &Feature| feature.since() <= kernel_version();
        for feature in Feature::ALL.into_iter().filter(published) {
            let tried = try_out(feature);
            assert!(tried.is_ok(), "{feature:?}: {tried:?}");
        }
    }

    #[test]
    fn this_kernel_has_what_the_oldest_has() {
        for feature in Feature::ALL.into_iter().filter(|f| !f.has_fallback()) {
            assert!(try_out(feature).is_ok(), "{feature:?}");
        }
        assert!(has_helper(9999).is_err());
    }
}
