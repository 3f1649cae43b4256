//! What is reported of a program at an interface.

use kernel::attach::{How, Mode, Refused};
use kernel::bundle::Port;

/// Where a program runs now, and why it is not attached in a better way. `label` is the program's, `hook` its hook's name.
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
