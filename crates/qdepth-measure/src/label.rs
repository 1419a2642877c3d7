//! Texts of findings that are codes: they are stored as they are, and catalogues word them. Every
//! other text is a name, a number, or words of the system or another program.

/// The machine was suspended while the point was measured.
pub const SUSPENDED: &str = "suspended";
/// The CPU time that the hypervisor took.
pub const STEAL: &str = "cpu-steal";
/// The kernel's counters of a device.
pub const DEVICE_COUNTERS: &str = "device-counters";
/// The kernel took a request for direct I/O and did buffered I/O.
pub const IGNORED: &str = "ignored-by-the-kernel";
/// Errors that came before or behind the measured window alone.
pub const OUTSIDE: &str = "outside-the-window";
/// Directions of requests.
pub const DIRECTIONS: [&str; 3] = ["read", "write", "trim"];
/// What rounds came to.
pub const ROUNDS: [&str; 5] = ["too-short", "steady", "cyclic", "drifting", "never-steady"];
/// Counts that must be equal.
pub const COUNTS: [&str; 2] = ["issued", "histogram"];

/// Every code.
pub fn all() -> impl Iterator<Item = &'static str> {
    let alone = [SUSPENDED, STEAL, DEVICE_COUNTERS, IGNORED, OUTSIDE];
    alone.into_iter().chain(DIRECTIONS).chain(ROUNDS).chain(COUNTS)
}

#[cfg(test)]
mod tests {
    use super::ROUNDS;
    use crate::SteadyState;

    #[test]
    fn rounds_come_to_nothing_else() {
        let all = [
            SteadyState::TooShort,
            SteadyState::Steady,
            SteadyState::Cyclic { period: 3.0 },
            SteadyState::Drifting { rises: true },
            SteadyState::NeverSteady,
        ];
        assert_eq!(all.map(SteadyState::as_str), ROUNDS);
    }
}
