//! Interfaces at whose settings XDP programs would lose packets.

use crate::commands::attached;
use bpf::abi::{Hook, PacketsAbi};
use kernel::attachment::Mode;
use kernel::loss::{self, Loss, LossKind, Use};
use kernel::port::Port;
use net::interface;
use serde_json::Value;

/// Returns the losses of a program that forwards packets, at each interface that may have native XDP.
pub(super) fn examine() -> Vec<Loss> {
    let forwards = PacketsAbi {
        redirects: true,
        sends_back: false,
        updates_checksums: true,
        knows_tags: true,
        unsegmented: false,
    };
    let all = interface::all().into_iter();
    let all = all.filter(|(index, _)| kernel::sys::may_be_native(*index));
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

/// Returns a paragraph about the losses, empty if there are none.
pub(super) fn show(losses: &[Loss]) -> String {
    let of_kind = |kind| {
        let all: Vec<&Loss> = losses.iter().filter(|loss| loss.kind == kind).collect();
        attached::loss_text(kind, &all).map(|text| format!("  {text}\n"))
    };
    let lines: String = LossKind::ALL.into_iter().filter_map(of_kind).collect();
    match lines.is_empty() {
        true => String::new(),
        false => format!(
            "\nInterfaces where programs at XDP lose packets that they forward (`run --adjust` changes that while a program runs; programs \
             at tc lose none):\n{lines}"
        ),
    }
}

/// Returns the losses as JSON.
pub(super) fn as_json(losses: &[Loss]) -> Value {
    losses.iter().map(attached::loss_json).collect()
}
