//! Sources of facts that come from neither a file nor a command: a closed list of codes, worded by
//! the catalogues. The code of an emulated fact says that it is emulated.

/// The device model of an emulated device.
pub const DESCRIPTION: &str = "EMULATED:description";
/// The state of wear that an emulated device was put into.
pub const STATE: &str = "EMULATED:state";
/// Measured in virtual time before the first point.
pub const VIRTUAL: &str = "EMULATED:before-the-first-point";
/// Written by the run before its first point.
pub const WRITTEN: &str = "run:before-the-first-point";
/// The calibration before the run.
pub const CALIBRATION: &str = "run:calibration";
/// The command line of the run.
pub const COMMAND_LINE: &str = "run:command-line";

/// Every code.
pub const ALL: [&str; 6] = [DESCRIPTION, STATE, VIRTUAL, WRITTEN, CALIBRATION, COMMAND_LINE];

/// True if a fact is a parameter of an emulated device, taken from its device model.
pub fn is_description(source: &str) -> bool {
    source == DESCRIPTION
}
