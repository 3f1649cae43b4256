//! When and where figures were taken.

/// The machine, as far as it matters to a figure.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct Machine {
    /// The day, as `2026-01-31`.
    pub date: String,
    /// The kernel's release.
    pub kernel: String,
    /// The processor's name.
    pub processor: String,
    /// How many there are.
    pub processors: usize,
    /// The compiler's major version.
    pub clang: u32,
}

impl Machine {
    /// This one, now.
    pub(crate) fn this() -> Machine {
        let lab::Machine {
            date,
            kernel,
            processor,
            processors,
        } = lab::Machine::this();
        Machine {
            date,
            kernel,
            processor,
            processors,
            clang: clang::find().map_or(0, |c| c.version),
        }
    }
}
