//! Programs that have the same code at both hooks of traffic control.

use bpf::abi::Hook;
use bpf::same_code;
use driver::Input;
use driver::bpf_target::{Request, generate};
use testkit::files::root;

/// Returns true if a program's code is declared the same at both hooks, and checks in that case that it is.
fn is_same(file: &str) -> bool {
    let elaborated = driver::elaborate(&Input::file(root().join(file)));
    let elaborated = elaborated.ok().expect("a program");
    let is_same = same_code(&elaborated.program, Hook::TcIngress, Hook::TcEgress);
    if is_same {
        let of = |hook| {
            generate(&elaborated.program, &elaborated.map, Request::hook(hook))
                .expect("it runs there")
        };
        let (ingress, egress) = (of(Hook::TcIngress), of(Hook::TcEgress));
        assert_eq!(ingress.c_source, egress.c_source, "{file}");
        assert_eq!(ingress.abi.at(Hook::TcEgress), egress.abi, "{file}");
        assert_ne!(ingress.abi, egress.abi);
    }
    is_same
}

#[test]
fn what_only_looks_at_packets_or_lets_them_pass_is_the_same_in_both_directions() {
    let taps = [
        "programs/requests/requests.p4",
        "programs/talkers/talkers.p4",
    ];
    for file in taps
        .into_iter()
        .chain(["programs/ipv4_counter/ipv4_counter.p4"])
    {
        assert!(is_same(file), "{file}");
    }
    for file in ["programs/guard/in.p4", "programs/router/router.p4"] {
        assert!(!is_same(file), "{file}");
    }
}

#[test]
fn xdp_has_code_of_its_own() {
    let elaborated = driver::elaborate(&Input::file(root().join("programs/talkers/talkers.p4")));
    let program = elaborated.ok().expect("a program").program;
    assert!(!same_code(&program, Hook::Xdp, Hook::TcIngress));
    assert!(same_code(&program, Hook::Xdp, Hook::Xdp));
}
