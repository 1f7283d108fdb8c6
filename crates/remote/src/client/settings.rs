//! The options of a target.

use std::path::PathBuf;
use std::time::Duration;

use super::address::Address;

/// The options of a target, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The address.
    pub address: Address,
    /// The name in results.
    pub id: String,
    /// The absolute directory there in which relative paths begin. `None`: the home.
    pub cwd: Option<String>,
    /// Time the program there goes on without a link.
    pub lease: Duration,
    /// Silence that counts as a cut.
    pub alive: Duration,
    /// Time an attempt to connect may take.
    pub patience: Duration,
    /// The path there of a program that is installed. `None`: it is searched for, or sent.
    pub installed: Option<String>,
    /// The programs that can be sent, one for each machine.
    pub programs: Vec<Program>,
}

/// A program that can be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The machine, as `uname -m` names it.
    pub machine: String,
    /// The SHA-256 of the program, in lower-case hexadecimal digits.
    pub sha256: String,
    /// The length of the program.
    pub bytes: u64,
    /// The file on this machine.
    pub path: PathBuf,
}
