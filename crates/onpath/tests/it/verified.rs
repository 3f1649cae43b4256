//! How much of the larger programs the verifier has to process on this kernel, in the form for it and in the one for the oldest
//! kernel. Needs root.

use crate::common;
use bpf::abi::Hook;
use bpf::features::FLOOR;
use diag::render_plain;
use driver::Input;
use driver::bpf_target::{self, Request};
use driver::strategy::STRATEGIES;
use kernel::features::Kernel;

/// The instructions that the verifier processes of a program of the repository, made by the first strategy.
fn verified(program: &str, hook: Hook, kernel: Kernel) -> u32 {
    let elaborated = driver::elaborate(&Input::file(common::root().join(program)));
    let elaborated = elaborated.ok().expect(program);
    let request = Request {
        kernel,
        ..Request::hook(hook)
    };
    let compiled = bpf_target::compile(&elaborated.program, &elaborated.map, request);
    let compiled =
        compiled.unwrap_or_else(|refused| panic!("{}", render_plain(&refused, &elaborated.map)));
    assert_eq!(compiled.strategy, &STRATEGIES[0], "{program}");
    let verified = kernel::verify(&compiled.object, &compiled.abi, &elaborated.map);
    verified.instructions.expect("this test needs root")
}

#[test]
fn pdm_stays_quick_to_verify() {
    let oldest = Kernel::Version(FLOOR);
    for (program, hook, kernel, most) in [
        (
            "programs/pdm/egress.p4",
            Hook::TcEgress,
            Kernel::This,
            20_000,
        ),
        ("programs/pdm/egress.p4", Hook::TcEgress, oldest, 20_000),
        (
            "programs/pdm/ingress.p4",
            Hook::TcIngress,
            Kernel::This,
            40_000,
        ),
        ("programs/pdm/ingress.p4", Hook::TcIngress, oldest, 50_000),
    ] {
        let processed = verified(program, hook, kernel);
        assert!(processed <= most, "{program} for {kernel:?}: {processed}");
    }
}
