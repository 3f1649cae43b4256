//! What is recorded of programs' dealings with packets, for those who attach them.

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
fn forwarding_and_changes_are_recorded() {
    let of = |program| {
        let recorded = recorded(program, Hook::Xdp);
        (recorded.forwards, recorded.changes)
    };
    assert_eq!(of("programs/router/router.p4"), (true, true));
    assert_eq!(of("programs/l2_switch/l2_switch.p4"), (true, false));
    assert_eq!(of("programs/ipv4_counter/ipv4_counter.p4"), (false, false));
    assert_eq!(of("programs/firewall/firewall.p4"), (false, false));
    // Sends back.
    assert!(of("programs/xdp15/xdp15.p4").0);
    assert!(recorded("programs/xdp15/xdp15.p4", Hook::Xdp).sends_back);
    assert!(!recorded("programs/router/router.p4", Hook::Xdp).sends_back);
    assert_eq!(of("programs/v1model/router/router.p4"), (true, true));
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
