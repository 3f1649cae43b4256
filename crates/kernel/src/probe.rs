//! Abilities of this machine, found out by trying.

use crate::features::{self, Kernel};
use crate::pins;
use crate::sys::{DetachedBpffs, Link, Map, Prog, Side, TcContext, XdpMode, filter};
use bpf::features::Feature;
use diag::system_message;
use host::{caps, linux};
use net::netns::NetNs;
use net::veth::make_pairs;
use nix::net::if_::if_nametoindex;
use std::io;
use std::path::Path;

/// Importance of what was looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// Nothing runs in the kernel without it.
    Needed,
    /// Some programs or commands need it.
    Useful,
}

/// Outcome of a probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeOutcome {
    /// The feature is there.
    Present,
    /// The feature is not there.
    Missing,
    /// The probe needs capabilities that this process lacks.
    Unknown,
}

impl ProbeOutcome {
    fn of(present: bool) -> ProbeOutcome {
        if present {
            ProbeOutcome::Present
        } else {
            ProbeOutcome::Missing
        }
    }
}

/// Result of a probe.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Finding {
    /// Name of what was looked for.
    pub name: &'static str,
    /// Outcome.
    pub state: ProbeOutcome,
    /// Details of what was found, or the reason why it is missing.
    pub detail: String,
    /// Importance.
    pub need: Need,
    /// Advice if it is missing.
    pub remedy: &'static str,
}

/// Examines everything that `onpath doctor` reports.
pub fn examine() -> Vec<Finding> {
    let mut all = vec![
        kernel(),
        type_information(),
        bpf_file_system(),
        capabilities(),
        compiler(),
        command(
            "ip",
            "ip",
            Need::Useful,
            "`apt-get install iproute2`; tests with `--target xdp` need it",
        ),
    ];
    all.extend(features());
    all.extend(Feature::ALL.map(|feature| {
        let tried_out = features::try_out(feature);
        tried(feature.name(), Need::Useful, feature.without(), tried_out)
    }));
    all
}

fn kernel() -> Finding {
    let refused = Kernel::This.check().err();
    Finding {
        name: "kernel",
        state: ProbeOutcome::of(refused.is_none()),
        detail: refused.map_or_else(linux::release, |refused| refused.message),
        need: Need::Needed,
        remedy: "use Linux 6.1 or newer; what newer ones have is listed below; Onpath is tested on 6.1, 6.12 and 6.18",
    }
}

fn type_information() -> Finding {
    let path = Path::new("/sys/kernel/btf/vmlinux");
    Finding {
        name: "BTF",
        state: ProbeOutcome::of(path.exists()),
        detail: if path.exists() {
            path.display().to_string()
        } else {
            "the kernel was built without its type information".into()
        },
        need: Need::Useful,
        remedy: "use a kernel built with CONFIG_DEBUG_INFO_BTF",
    }
}

fn bpf_file_system() -> Finding {
    let mounted = pins::is_bpffs(Path::new(pins::BPFFS));
    Finding {
        name: "bpffs",
        state: ProbeOutcome::of(mounted),
        detail: if mounted {
            format!("mounted at {}", pins::BPFFS)
        } else {
            format!("not mounted at {}", pins::BPFFS)
        },
        need: Need::Useful,
        remedy: "`onpath run --detach` mounts it; or `mount -t bpf bpf /sys/fs/bpf`",
    }
}

fn capabilities() -> Finding {
    let missing = caps::missing(&caps::RUN);
    Finding {
        name: "capabilities",
        state: ProbeOutcome::of(missing.is_empty()),
        detail: if missing.is_empty() {
            caps::effective().join(", ")
        } else {
            format!("without {}", missing.join(", "))
        },
        need: Need::Needed,
        remedy: "run as root; `onpath test --target interp` needs none",
    }
}

fn compiler() -> Finding {
    let found = clang::find();
    Finding {
        name: "clang",
        state: ProbeOutcome::of(found.is_ok()),
        detail: match &found {
            Ok(clang) => format!("version {} at {}", clang.version, clang.path.display()),
            Err(diagnostic) => diagnostic.message.clone(),
        },
        need: Need::Useful,
        remedy: "`apt-get install clang-19` (15 or newer) to compile programs; `onpath run` needs none for what `onpath build -o` wrote",
    }
}

fn command(name: &'static str, file: &str, need: Need, remedy: &'static str) -> Finding {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let sbin = ["/usr/sbin", "/sbin"].map(Into::into);
    let found = std::env::split_paths(&path)
        .chain(sbin)
        .map(|d| d.join(file))
        .find(|p| p.is_file());
    Finding {
        name,
        state: ProbeOutcome::of(found.is_some()),
        detail: found.map_or("not found".into(), |p| p.display().to_string()),
        need,
        remedy,
    }
}

/// Makes a finding from the result of trying a feature.
fn tried(name: &'static str, need: Need, remedy: &'static str, result: io::Result<()>) -> Finding {
    let denied = |e: &io::Error| e.kind() == io::ErrorKind::PermissionDenied;
    let (state, detail) = match result {
        Ok(()) => (ProbeOutcome::Present, "works".to_owned()),
        Err(error) if denied(&error) && !caps::missing(&caps::RUN).is_empty() => (
            ProbeOutcome::Unknown,
            "not tried: needs the capabilities".to_owned(),
        ),
        Err(error) => (ProbeOutcome::Missing, system_message(&error)),
    };
    Finding {
        name,
        state,
        detail,
        need,
        remedy,
    }
}

fn features() -> Vec<Finding> {
    use libbpf_sys as bpf;
    const NO_PREALLOC: u32 = bpf::BPF_F_NO_PREALLOC;
    let map = |kind, key, value, entries, flags| {
        Map::create(kind, "onpath_probe", key, value, entries, flags).map(|_| ())
    };
    let pass = || Prog::constant_xdp(2);
    vec![
        tried(
            "XDP programs",
            Need::Needed,
            "use a kernel with CONFIG_BPF_SYSCALL",
            pass().map(|_| ()),
        ),
        tried(
            "test runs",
            Need::Useful,
            "`onpath test --fast` needs them; omit `--fast`",
            pass().and_then(|p| p.run_xdp(&[0; 64], &mut [0; 256], 0, 1).map(|_| ())),
        ),
        tried(
            "native XDP on veth",
            Need::Useful,
            "`onpath test --target xdp` needs it; use `--fast`",
            on_veth(|index| Link::attach_xdp(&pass()?, index, XdpMode::Native)),
        ),
        tried(
            "generic XDP",
            Need::Useful,
            "needed on interfaces whose drivers have no XDP",
            on_veth(|index| Link::attach_xdp(&pass()?, index, XdpMode::Generic)),
        ),
        tried(
            "hash maps",
            Need::Needed,
            "exact tables need them",
            map(bpf::BPF_MAP_TYPE_HASH, 4, 4, 1, 0),
        ),
        tried(
            "LPM tries",
            Need::Needed,
            "lpm tables need them (CONFIG_BPF_SYSCALL, Linux 4.11)",
            map(bpf::BPF_MAP_TYPE_LPM_TRIE, 8, 4, 1, NO_PREALLOC),
        ),
        tried(
            "tcx",
            Need::Useful,
            "tc programs attach by it (Linux 6.6); filters do the same on older kernels",
            on_veth(|index| Link::attach_tcx(&Prog::constant_tc(-1)?, index, Side::Ingress)),
        ),
        tried(
            "tc filters",
            Need::Useful,
            "needed for tc without tcx (CONFIG_NET_CLS_BPF, CONFIG_NET_SCH_INGRESS)",
            on_veth(|index| {
                filter::make_qdisc(index)?;
                filter::add_filter(&Prog::constant_tc(-1)?, index, Side::Ingress)
            }),
        ),
        tried(
            "test runs at tc",
            Need::Useful,
            "`onpath test --target tc-ingress --fast` needs them (Linux 4.12); omit `--fast`",
            Prog::constant_tc(-1).and_then(|p| {
                p.run_tc(&[0; 64], &mut [0; 256], &mut TcContext::default(), 1)
                    .map(|_| ())
            }),
        ),
        tried(
            "detached mounts",
            Need::Useful,
            "attaching several programs, or one at several interfaces, atomically needs them (CAP_SYS_ADMIN)",
            DetachedBpffs::new().map(|_| ()),
        ),
    ]
}

/// Tries something on a device of a namespace made for it.
fn on_veth<T>(attach: impl FnOnce(u32) -> io::Result<T> + Send) -> io::Result<()> {
    NetNs::new()?.run(|| {
        make_pairs(&[("probe0".into(), "probe1".into())])?;
        attach(if_nametoindex("probe0")?).map(|_| ())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_that_the_kernel_has_not_is_missing() {
        let found = |function| Prog::calls_kernel(function).map(|_| ());
        let row = tried("f", Need::Useful, "", found(c"no_such_function_of_it"));
        assert_eq!(row.state, ProbeOutcome::Missing, "{row:?}");
    }

    #[test]
    fn what_the_tests_of_this_crate_need_is_found() {
        let all = examine();
        let newer = Feature::ALL.map(|feature| (feature.name(), feature.since()));
        for (name, since) in newer.into_iter().chain([("tcx", (6, 6))]) {
            let finding = all.iter().find(|f| f.name == name).expect(name);
            let there = linux::kernel_version() >= since;
            // Debian's 6.1 has it as well: a stable release may bring what a later version introduced.
            let is_brought =
                name == Feature::LongJumps.name() && finding.state == ProbeOutcome::Present;
            assert_eq!(
                finding.state,
                ProbeOutcome::of(there || is_brought),
                "{finding:?}"
            );
        }
        for name in [
            "kernel",
            "clang",
            "XDP programs",
            "test runs",
            "native XDP on veth",
            "tc filters",
            "test runs at tc",
            "detached mounts",
        ] {
            let finding = all.iter().find(|f| f.name == name).expect(name);
            assert_eq!(finding.state, ProbeOutcome::Present, "{finding:?}");
        }
    }
}
