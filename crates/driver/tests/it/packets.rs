//! Recorded properties of programs' packet handling, which matter when they are attached.

use bpf::abi::{Hook, PacketsAbi};
use driver::Input;
use driver::bpf_target::{Request, generate};
use testkit::files;

fn recorded(program: &str, hook: Hook) -> PacketsAbi {
    let file = files::root().join(program);
    let elaborated = driver::elaborate(&Input::file(file)).ok().expect(program);
    let made = generate(&elaborated.program, &elaborated.map, Request::hook(hook));
    made.expect(program).abi.packets
}

#[test]
fn forwarding_is_recorded() {
    let forwards = |program| recorded(program, Hook::Xdp).forwards();
    for program in [
        "programs/router/router.p4",
        "programs/l2_switch/l2_switch.p4",
        "programs/v1model/router/router.p4",
        "programs/xdp15/xdp15.p4",
    ] {
        assert!(forwards(program), "{program}");
    }
    for program in [
        "programs/ipv4_counter/ipv4_counter.p4",
        "programs/firewall/firewall.p4",
    ] {
        assert!(!forwards(program), "{program}");
    }
    assert!(recorded("programs/nat/nat.p4", Hook::Xdp).updates_checksums);
    let sends_back = |program| recorded(program, Hook::Xdp).sends_back;
    assert!(sends_back("programs/xdp15/xdp15.p4"));
    assert!(!sends_back("programs/router/router.p4"));
}

#[test]
fn tags_are_known_to_programs_that_look_for_them() {
    let knows = |program| recorded(program, Hook::Xdp).knows_tags;
    assert!(knows("programs/vlan_stack/vlan_stack.p4"));
    assert!(knows("tests/scale/classifier.p4"));
    assert!(!knows("programs/router/router.p4"));
}

#[test]
fn headers_that_no_kernel_segments_behind_are_known() {
    let of = |program| recorded(program, Hook::TcIngress).unsegmented;
    for program in [
        "programs/mpls/mpls.p4",
        "tests/scale/gtp_user_plane.p4",
        "tests/scale/srv6.p4",
    ] {
        assert!(of(program), "{program}");
    }
    for program in [
        "programs/tunnel/tunnel.p4",
        "tests/scale/vxlan_gateway.p4",
        "programs/vlan_stack/vlan_stack.p4",
    ] {
        assert!(!of(program), "{program}");
    }
    assert!(!recorded("tests/scale/gtp_user_plane.p4", Hook::Xdp).unsegmented);
}
