//! Statements of help texts that the code could contradict.

use bpf::abi::Hook;
use clap::CommandFactory;
use driver::Input;
use driver::hooks::default_hook;
use onpath::args::Cli;
use testkit::files::root;

/// Programs of every architecture, and the hook that the help of `--target` promises.
const DEFAULTS: [(&str, Hook); 7] = [
    ("programs/block/block.p4", Hook::Xdp),
    ("programs/router/router.p4", Hook::Xdp),
    ("programs/guard/in.p4", Hook::TcIngress),
    ("programs/requests/requests.p4", Hook::Xdp),
    ("programs/v1model/router/router.p4", Hook::Xdp),
    (
        "programs/v1model/learning_switch/learning_switch.p4",
        Hook::TcIngress,
    ),
    ("programs/v1model/load_balancer/load_balancer.p4", Hook::Xdp),
];

#[test]
fn the_default_hook_is_the_one_that_help_names() {
    let command = Cli::command();
    let claim = "tc-ingress for a program of tc_model, or one of v1model that copies packets; xdp for others";
    for name in ["build", "run"] {
        let help = command
            .find_subcommand(name)
            .and_then(|command| {
                command
                    .get_arguments()
                    .find(|flag| flag.get_id() == "target")
            })
            .and_then(|flag| flag.get_help())
            .unwrap_or_else(|| panic!("{name} has no help on --target"));
        assert!(help.to_string().contains(claim), "{help}");
    }
    let mut packages = std::collections::BTreeSet::new();
    for (file, hook) in DEFAULTS {
        let elaborated = driver::elaborate(&Input::file(root().join(file)));
        let program = elaborated.ok().expect("it is accepted").program;
        assert_eq!(default_hook(&program), hook, "{file}");
        packages.insert(program.arch.to_string());
    }
    assert_eq!(packages.len(), arch::OWN.len(), "{packages:?}");
}
