//! Settings of the interfaces at which XDP programs would lose packets.

use crate::commands::attached;
use bpf::abi::{Hook, PacketsAbi};
use kernel::attach::Mode;
use kernel::bundle::Port;
use kernel::interface;
use kernel::loss::{self, Kind, Loss, Use};
use serde_json::Value;

/// What a program would lose at each interface that forwards packets by native XDP.
pub(super) fn examine() -> Vec<Loss> {
    let forwards = PacketsAbi {
        forwards: true,
        sends_back: false,
        changes: true,
        knows_tags: true,
        unsegmented: false,
    };
    let all = interface::all().into_iter();
    let all = all.filter(|(_, name)| !interface::is_loopback(name));
    all.flat_map(|(index, name)| {
        let port = Port {
            number: 0,
            name,
            index,
        };
        loss::at(&port, Use::Runs(Hook::Xdp, Mode::Native), forwards)
    })
    .collect()
}

/// A paragraph about them, empty if there are none.
pub(super) fn show(losses: &[Loss]) -> String {
    let of_kind = |kind| {
        let all: Vec<&Loss> = losses.iter().filter(|loss| loss.kind == kind).collect();
        attached::loss_text(kind, &all).map(|text| format!("  {text}\n"))
    };
    let lines: String = Kind::ALL.into_iter().filter_map(of_kind).collect();
    match lines.is_empty() {
        true => String::new(),
        false => format!(
            "\nInterfaces where programs at XDP lose packets that they forward (`run --adjust` changes that while a program runs; programs \
             at tc lose none):\n{lines}"
        ),
    }
}

/// The same for programs.
pub(super) fn as_json(losses: &[Loss]) -> Value {
    losses.iter().map(attached::loss_json).collect()
}
