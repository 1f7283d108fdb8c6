//! The options of a target.

use std::sync::Arc;
use std::time::Duration;

use super::target_address::TargetAddress;
use super::target_programs::TargetProgram;
use super::transport_via::TransportOrigin;

/// The machines for which programs are published, as `uname -sm` names them.
pub const MACHINES: [&str; 2] = ["Linux x86_64", "Linux aarch64"];

/// The options of a target, checked.
#[derive(Clone)]
pub struct TargetSettings {
    /// The address.
    pub address: TargetAddress,
    /// The target whose program starts the transport. `None`: this machine does.
    pub via: Option<Arc<dyn TransportOrigin>>,
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
    /// The programs, one for each machine.
    pub programs: Vec<TargetProgram>,
    /// Why there is no program for another machine of [`MACHINES`], and the remedy.
    pub missing: String,
}
