//! Reports of a program at its interfaces.

use kernel::attachment::{How, Mode, Refused};
use kernel::loss::{Loss, LossKind};
use kernel::port::Port;
use serde_json::{Value, json};

/// Returns the lines about a program at one interface: its mode, and why it has no better one. `label` names the
/// program, and `hook` its hook.
pub(super) fn lines(label: &str, port: &Port, hook: &str, how: &How) -> Vec<String> {
    let (number, interface) = (port.number, &port.name);
    let mode = match how.mode {
        Mode::Native => "native XDP".to_string(),
        Mode::Generic => "generic XDP".to_string(),
        Mode::Tcx => format!("{hook} by a tcx link"),
        Mode::Clsact => format!("{hook} by a clsact filter"),
    };
    let mut lines = vec![format!("{label}: port {number} is {interface}, {mode}")];
    if let Some(Refused { reason, remedy }) = &how.better_refused {
        lines.push(match how.mode {
            Mode::Native | Mode::Generic => {
                format!("{label}: the driver of {interface} refuses native XDP: {reason}")
            }
            Mode::Tcx | Mode::Clsact => {
                format!("{label}: the kernel refuses a tcx link at {interface}: {reason}")
            }
        });
        lines.extend(remedy.iter().map(|remedy| format!("{label}: {remedy}")));
    }
    if let Some(Refused { reason, remedy }) = &how.slower {
        let all = std::iter::once(reason).chain(remedy);
        lines.extend(all.map(|line| format!("{label}: {line}")));
    }
    lines
}

/// Returns the warnings about a program's packet losses: a line for each kind, with the command that prevents it.
/// `label` names the program.
pub(super) fn loss_lines(label: &str, losses: &[&Loss]) -> Vec<String> {
    let mut lines = Vec::new();
    for kind in LossKind::ALL {
        let of_kind = losses.iter().copied().filter(|loss| loss.kind == kind);
        let of_kind: Vec<&Loss> = of_kind.collect();
        if let Some(text) = loss_text(kind, &of_kind) {
            lines.push(format!("{label}: warning: {text}"));
        }
    }
    lines
}

/// Returns a text about losses of one kind, with the command that prevents them, or `None` if there are none.
pub(super) fn loss_text(kind: LossKind, losses: &[&Loss]) -> Option<String> {
    let mut at: Vec<&str> = losses.iter().map(|loss| loss.interface.as_str()).collect();
    at.dedup();
    let at = (!at.is_empty()).then(|| at.join(", "))?;
    let happens = match kind {
        LossKind::Tags => format!(
            "VLAN tags of packets that come in at {at} are not among their bytes: a program at XDP sees none, and natively forwards packets without them"
        ),
        LossKind::Checksums => format!(
            "packets come in at {at} before their transport checksums are computed, and natively a program at XDP forwards or updates \
             them so: TCP through it fails"
        ),
        LossKind::Sent => format!(
            "packets that a program at XDP sends to {at} are lost, since the other end takes none from XDP"
        ),
        LossKind::Back => format!(
            "packets that a program at XDP sends back to {at} wait there until others come by another way; an XDP program at the other end \
             changes that, and so does running this one at tc"
        ),
        LossKind::Segments => format!(
            "packets of several segments (TSO, GRO) that come to {at} are dropped where the program puts a header in front behind which the \
             kernel does not segment"
        ),
        LossKind::Long => format!(
            "packets of several segments (TSO) that come to {at} are dropped where a program at generic XDP sends them on: TCP through it \
             fails"
        ),
    };
    let mut commands: Vec<String> = losses.iter().filter_map(|loss| loss.command()).collect();
    commands.dedup();
    if commands.is_empty() {
        return Some(happens);
    }
    let hidden = losses.iter().filter(|loss| loss.at.is_none());
    let hidden: Vec<&str> = hidden.map(|loss| loss.interface.as_str()).collect();
    let whose = match hidden.is_empty() {
        true => String::new(),
        false => format!(
            " (IF is the other end of {}, in a network namespace that cannot be seen from here: it may be set so already)",
            hidden.join(", ")
        ),
    };
    Some(format!(
        "{happens}; `{}` changes that{whose}",
        commands.join("; ")
    ))
}

/// Returns a loss as JSON.
pub(super) fn loss_json(loss: &Loss) -> Value {
    json!({
        "kind": match loss.kind {
            LossKind::Tags => "vlan_tags",
            LossKind::Checksums => "checksums",
            LossKind::Sent => "sent",
            LossKind::Back => "sent_back",
            LossKind::Segments => "segments",
            LossKind::Long => "long",
        },
        "interface": loss.interface,
        "setting_of": loss.at.as_ref().map(|at| &at.name),
        "command": loss.command(),
    })
}
