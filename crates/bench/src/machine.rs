//! Machine and date of a measurement.

/// Machine and date of a measurement.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct Machine {
    /// The day, as `2026-01-31`.
    pub date: String,
    /// The kernel's release.
    pub kernel: String,
    /// The processor's name.
    pub processor: String,
    /// Number of processors.
    pub processors: usize,
    /// clang's major version.
    pub clang: u32,
}

impl Machine {
    /// Describes this machine, today.
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
