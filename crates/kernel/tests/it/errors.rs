//! The text of every refusal of this crate.

use bpf::abi::Hook;
use diag::{Code, Diagnostic};
use kernel::attachment::Refused;
use kernel::errors::{bundle, contents, device, load, verifier};
use kernel::memory::{MapNeed, Need};
use kernel::verifier_log::{Location, Refusal};
use net::interface::LinkType;
use std::fmt::Write;
use std::io;
use std::path::Path;

fn shown(all: &[Box<Diagnostic>]) -> String {
    let mut text = String::new();
    for d in all {
        let Code(code) = d.code;
        let help = d.help.as_deref().expect("every error has help");
        let _ = writeln!(text, "{code} {}\n  {help}", d.message);
    }
    text
}

fn refused_for(reason: &str, remedy: Option<&str>) -> Refused {
    Refused {
        reason: reason.into(),
        remedy: remedy.map(String::from),
    }
}

fn refused(reason: &str) -> Box<Diagnostic> {
    let refusal = Refusal {
        reason: reason.into(),
        location: Some(("router.p4".into(), 45)),
        ..Refusal::default()
    };
    verifier::refused(&refusal, Location::Unknown)
}

#[test]
fn loading() {
    let table = MapNeed {
        map: "t".into(),
        role: "table",
        name: "sw.routes".into(),
        entries: 1 << 27,
        need: Need {
            loaded: 10 << 30,
            full: 10 << 30,
        },
    };
    let error = io::Error::from_raw_os_error(libc::EACCES);
    assert_eq!(
        shown(&[
            load::not_permitted("load a BPF program", &["CAP_BPF", "CAP_NET_ADMIN"], false),
            load::not_permitted("load a BPF program", &[], false),
            load::not_permitted("load a BPF program", &[], true),
            load::not_loaded(&error, "libbpf: map 'x': failed to create\n"),
            load::not_loaded(&io::Error::from_raw_os_error(libc::EMFILE), ""),
            load::too_old((5, 15), &["bpf_loop", "bpf_xdp_load_bytes"]),
            load::map_differs("routes", "it is not there"),
            load::no_program("xdp_main"),
            load::own_entries("t", "it is full (4 entries)"),
            load::own_port(3, 17, &io::Error::from_raw_os_error(libc::EINVAL)),
            load::too_much_memory(&table, table.need.full, 8 << 30, false),
            load::too_much_memory(&table, table.need.full + (1 << 30), 8 << 30, true),
            load::no_bpffs(Path::new("/sys/fs/bpf"), &error),
            load::pins(Path::new("/sys/fs/bpf/onpath/a"), "remove", &error),
            load::pins(Path::new("/sys/fs/bpf/onpath"), "make", &io::Error::from_raw_os_error(libc::EROFS)),
            load::pins(Path::new("/sys/fs/bpf/onpath"), "make", &io::Error::from_raw_os_error(libc::ENOMEM)),
            load::not_loaded(&io::Error::from_raw_os_error(libc::ENOMEM), ""),
            load::not_loaded(&io::Error::from_raw_os_error(libc::EAGAIN), ""),
            contents::unreadable(&io::Error::from_raw_os_error(libc::EINVAL), "libbpf: no ELF\n"),
            contents::pinned("m", "/sys/fs/bpf/m"),
            contents::unknown_kind("m", 33),
            contents::not_described("map", "m"),
            contents::twice("program", "f"),
            contents::other_hook("f", Hook::Xdp),
        ]),
        "\
E0760 not permitted to load a BPF program: this process lacks CAP_BPF, CAP_NET_ADMIN
  run it as root, or give it CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON; `onpath test --target interp` needs no rights
E0760 not permitted to load a BPF program: a security policy forbids it although the capabilities are there
  run it as root, or give it CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON; `onpath test --target interp` needs no rights
E0760 not permitted to load a BPF program: it takes capabilities of the machine, and those of this process are of a user namespace
  run it outside the user namespace, as root of the machine; `onpath test --target interp` needs no rights
E0761 the kernel did not load the program: Permission denied (libbpf: map 'x': failed to create)
  `onpath doctor` reports what this kernel supports; `onpath run --verbose` shows all messages
E0761 the kernel did not load the program: Too many open files
  `ulimit -n` raises the number of files, programs and maps that a process may have open
E0768 Linux 5.15 lacks bpf_loop and bpf_xdp_load_bytes; Onpath needs Linux 6.1
  the interpreter runs programs anywhere: `onpath test --target interp`; `onpath build --kernel 6.1` makes objects for another machine
E0762 the object and its description disagree about map `routes`: it is not there
  build both again with the same Onpath; files of different builds were mixed
E0763 the object holds no program `xdp_main`
  build it again with `onpath build`
E0764 the program's own entries of table `t` could not be set: it is full (4 entries)
  a larger `size` for the table may be needed
E0764 the program's own port 3 (interface 17) could not be set: Invalid argument
  `ip link` lists the interfaces of this network namespace with their numbers
E0767 table `sw.routes` with 134217728 entries takes 10 GB, but 8.0 GB is free
  give it a smaller size; `onpath build --report` shows what each map takes, and `onpath run --allow-memory 10G` loads it all the same
E0767 the program's maps take 11 GB, of which table `sw.routes` with 134217728 entries takes 10 GB, but `--allow-memory` allows 8.0 GB
  give it a smaller size; `onpath build --report` shows what each map takes, and `onpath run --allow-memory 11G` loads it all the same
E0765 no BPF file system at `/sys/fs/bpf`, and mounting one failed: Permission denied
  as root: `mount -t bpf bpf /sys/fs/bpf`; the kernel needs CONFIG_BPF_SYSCALL, and a container the host's mount or CAP_SYS_ADMIN
E0766 could not remove `/sys/fs/bpf/onpath/a`: Permission denied
  run it as the user who loaded the program, usually root
E0766 could not make `/sys/fs/bpf/onpath`: Read-only file system
  the BPF file system is mounted read-only: `mount -o remount,rw /sys/fs/bpf` as root, or give the container a writable one
E0766 could not make `/sys/fs/bpf/onpath`: Cannot allocate memory
  the kernel has no memory left for it: free some, and run the command again
E0761 the kernel did not load the program: Cannot allocate memory
  the kernel has no memory left for it, or the limit of this process's control group is reached: free some, or give tables a smaller size
E0761 the kernel did not load the program: Resource temporarily unavailable
  a signal came while the kernel verified the program: run the command again
E0939 the object is not one that clang makes for BPF: Invalid argument (libbpf: no ELF)
  build it again from the P4 program: `onpath build PROGRAM.p4 -o DIR`
E0940 map `m` of the object is to be pinned at `/sys/fs/bpf/m`
  Onpath pins maps itself, and no object that it builds asks for that: remove `pinning` from the map's declaration, or do not run the object
E0941 map `m` of the object is of type 33, whose memory Onpath cannot tell
  use an array, a hash, a trie or a ring buffer; the number is that of `enum bpf_map_type` in `linux/bpf.h`
E0942 map `m` of the object is not in its description
  `onpath build` did not write these files as they are: build the program again, or do not run the object
E0942 the object has several of the program `f`
  `onpath build` did not write these files as they are: build the program again, or do not run the object
E0942 program `f` of the object is not one for xdp
  `onpath build` did not write these files as they are: build the program again, or do not run the object
"
    );
}

#[test]
fn verifying() {
    assert_eq!(
        shown(&[
            refused("misaligned stack access off -3+0 size 8"),
            refused("BPF program is too large. Processed 1000001 insn"),
            refused("combined stack size of 2 calls is 704. Too large"),
            refused("infinite loop detected at insn 12"),
            refused("invalid access to packet, off=3 size=1, R1(id=0,off=3,r=0)"),
            refused("invalid func unknown#9999"),
        ]),
        "\
E0770 the kernel's verifier refused the program: misaligned stack access off -3+0 size 8 (at router.p4:45)
  `onpath run --verbose` shows the verifier's full log; if the program asks for nothing unusual, this is a bug in Onpath
E0771 the program has too many paths for the kernel to check: BPF program is too large. Processed 1000001 insn (at router.p4:45)
  parse fewer stack elements or options, replace nested `if`s by a table, or shorten loops; `onpath build --report` shows what each part costs
E0772 the program needs more than the 512 bytes of stack of a BPF program: combined stack size of 2 calls is 704. Too large (at router.p4:45)
  shrink large local variables and headers, or let fewer live at the same time
E0773 the kernel cannot see that a loop ends: infinite loop detected at insn 12 (at router.p4:45)
  bound the loop by a constant; in a parser, by the size of a header stack
E0774 the kernel cannot prove that an access stays in bounds: invalid access to packet, off=3 size=1, R1(id=0,off=3,r=0) (at router.p4:45)
  this is a bug in Onpath, or in a C file given by `--extern`; `onpath run --verbose` shows the full log to report with it
E0775 this kernel has no such helper for programs of this kind: invalid func unknown#9999 (at router.p4:45)
  `onpath doctor` reports what this kernel supports; a newer kernel may be needed
"
    );
}

fn occupant(user: Option<&str>) -> device::Occupant {
    device::Occupant {
        instance: "fw".into(),
        of: user.map(String::from),
    }
}

#[test]
fn devices() {
    let present = ["fw".to_owned(), "router".to_owned()];
    assert_eq!(
        shown(&[
            device::occupied("eth0", 12, None),
            device::occupied("eth0", 12, Some(&occupant(None))),
            device::occupied("eth0", 12, Some(&occupant(Some("alice")))),
            device::upper_occupied("eth0", Some("br0")),
            device::upper_occupied("eth0", None),
            device::not_attached("eth0", &refused_for("LRO is on", None), &refused_for("Invalid argument", None)),
            device::not_attached("eth0", &refused_for("the MTU is too large", Some("lower it")), &refused_for("Invalid argument", None)),
            device::instance_exists("fw"),
            device::no_instance("gw", &present, false),
            device::no_instance("gw", &[], false),
            device::no_instance("gw", &[], true),
            device::none_loaded(false),
            device::does_not_stay(),
            device::which_instance(&present),
            device::bad_instance_name("../x"),
            device::bad_port(900, 256),
            device::no_test_network("a network namespace", &io::Error::from_raw_os_error(libc::EPERM)),
        ]),
        "\
E0781 interface `eth0` has an XDP program already (id 12), not one of Onpath's; nothing was changed
  XDP takes one program at an interface, traffic control many: `--target tc-ingress` runs this one beside it; `bpftool net` shows whose the other one is, and `ip link show dev eth0` how it is attached
E0781 interface `eth0` has an XDP program already (id 12), `fw`; nothing was changed
  XDP takes one program at an interface, traffic control many: `--target tc-ingress` runs this one beside it; or end that one with `onpath unload fw`
E0781 interface `eth0` has an XDP program already (id 12), `fw`, which alice runs; nothing was changed
  XDP takes one program at an interface, traffic control many: `--target tc-ingress` runs this one beside it; or ask alice to end that one
E0781 interface `br0`, to which `eth0` belongs, has an XDP program already; nothing was changed
  the kernel runs XDP at one of the two: run the program at `br0`, or end what runs there (`onpath ls`, `bpftool net`)
E0781 an interface to which `eth0` belongs has an XDP program already; nothing was changed
  the kernel runs XDP at one of the two: run the program there, or end what runs there (`onpath ls`, `bpftool net`)
E0782 the program could not be attached to `eth0`: native XDP: LRO is on; generic XDP: Invalid argument
  the interface may be of a kind that has no XDP; programs of tc_model run at most kinds
E0782 the program could not be attached to `eth0`: native XDP: the MTU is too large; generic XDP: Invalid argument
  lower it
E0783 a program is loaded as `fw` already
  detach it with `onpath unload fw`, or give this one another name
E0784 no program is loaded as `gw`
  loaded programs: fw, router
E0784 no program is loaded as `gw`
  none is loaded; `onpath run PROG.p4 --dev IF --detach` loads one and leaves it running
E0784 no program is loaded as `gw`
  programs loaded elsewhere are not visible from this mount namespace (`ip netns exec` creates one for each command); use `onpath --netns NAME ...`
E0784 no program is loaded
  `onpath run PROG.p4 --dev IF --detach` loads one and leaves it running
E0779 a detached program would end at once, together with this mount namespace; nothing was changed
  `ip netns exec` creates a mount namespace for each command; `onpath --netns NAME ...` does not
E0785 several programs are loaded; specify one
  add `--name` and one of: fw, router
E0786 `../x` cannot name an instance
  use letters, digits, `-` and `_`, up to 64 of them
E0787 there is no room for port 900: the program has 256 ports at most
  give it 256 interfaces or fewer
E0788 the test network could not be made: a network namespace: Operation not permitted
  it needs root (CAP_SYS_ADMIN and CAP_NET_ADMIN); `--fast` needs no network, `--target interp` no rights
"
    );
}

#[test]
fn several_programs_and_tc() {
    let denied = io::Error::from_raw_os_error(libc::EPERM);
    let four = ("in", "flows", "8 flows of (bit<32> at 0) to (bit<64> at 4)");
    let eight = (
        "out",
        "seen",
        "16 flows of (bit<32> at 0) to (bit<64> at 4)",
    );
    assert_eq!(
        shown(&[
            device::elsewhere("fw"),
            bundle::no_state("in", "outputs"),
            bundle::states_differ(four, eight),
            bundle::needs_mount(&["CAP_SYS_ADMIN"]),
            device::tc_not_attached("eth0", Some(&refused_for("this kernel has no tcx", None)), &refused_for("no clsact", None)),
            device::tc_not_attached("eth0", None, &refused_for("no clsact", Some("load the module"))),
            device::interface_gone("eth0"),
            device::no_ethernet("tun0", LinkType(0xfffe)),
            device::link_settings("eth0", &denied),
            device::link_settings_left("eth0", &denied),
            device::not_one(&denied),
            device::busy(),
            device::filters_left(&denied),
            device::which_member("fw", None, &["in", "out"]),
            device::which_member("fw", Some("up"), &["in", "out"]),
        ]),
        "\
E0789 `fw` was loaded from another mount namespace, such as a container's
  unload it there; `onpath unload --all` detaches it from here
E0790 map `outputs` of program `in` has no state of flows and no metrics, and cannot be shared
  share states that both programs use; one that is never used is not kept
E0791 `flows` of program `in` and `seen` of program `out` cannot share one state: the first has 8 flows of (bit<32> at 0) to (bit<64> at 4), the second 16 flows of (bit<32> at 0) to (bit<64> at 4)
  declare both with the same types, size and idle time, best in a file that both include
E0792 not permitted to attach several programs, or one at several interfaces, atomically: this process lacks CAP_SYS_ADMIN
  run it as root, or grant that capability too; one program at one interface does not need it
E0793 the program could not be attached to `eth0`: tcx: this kernel has no tcx; clsact: no clsact
  tcx takes Linux 6.6, filters CONFIG_NET_CLS_BPF and CONFIG_NET_SCH_INGRESS; `onpath doctor` reports what this kernel has
E0793 the program could not be attached to `eth0`: clsact: no clsact
  load the module
E0794 interface `eth0` went away meanwhile; nothing was changed
  `ip link` lists what there is
E0800 packets of interface `tun0` have no Ethernet header (link type 65534), and tc programs begin with one; nothing was changed
  `ip link show dev tun0` shows its kind; Ethernet, Wi-Fi, tap, gretap and vxlan interfaces have Ethernet headers, tun, ipip, gre and wireguard ones have none
E0795 the settings of interface `eth0` could not be changed: Operation not permitted
  it takes CAP_NET_ADMIN; `ip -details link show` shows them
E0795 the program was detached, but the settings of interface `eth0` could not be restored: Operation not permitted
  it takes CAP_NET_ADMIN; the next `onpath` command that may do so, such as `onpath ls` as root, restores them
E0796 a BPF file system for the program's pins could not be mounted: Operation not permitted
  it takes CAP_SYS_ADMIN, no security policy against mounts, and fewer of them than `sysctl fs.mount-max` allows; one program at one interface needs none
E0797 another onpath command is loading or removing programs, and does not end
  look for it with `pgrep -a onpath`
E0798 filters that a killed command left behind could not be removed: Operation not permitted
  they let packets pass; removing them takes CAP_NET_ADMIN and CAP_SYS_ADMIN
E0799 `fw` has several programs; specify one
  add `--name` and one of: fw/in, fw/out
E0799 `fw` has no program `up`
  add `--name` and one of: fw/in, fw/out
"
    );
}
