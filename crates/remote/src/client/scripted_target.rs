//! A target whose program says only what a unit test makes it say.

use std::sync::Arc;
use std::time::Duration;

use super::program_instance::ProgramInstance;
use super::remote_target::RemoteTarget;
use super::target_address::{TargetAddress, TransportQuoting};
use super::target_settings::TargetSettings;
use crate::messages::{MachineLoad, ProgramToken, TargetFacts};

/// Returns the target.
pub(super) fn scripted_target() -> Arc<RemoteTarget> {
    let text = String::new;
    let facts = TargetFacts {
        machine: text(),
        host_name: text(),
        kernel: text(),
        arch: text(),
        user: text(),
        uid: 0,
        home: "/home/dev".to_owned(),
        cwd: text(),
        pid: 0,
        bash: None,
        path: text(),
        version: text(),
        environment: text(),
        umask: 0,
        lingers: None,
        load: MachineLoad::default(),
        socket: "/none".into(),
        token: ProgramToken([0; 32]),
    };
    let settings = TargetSettings {
        address: TargetAddress::Command { command: Vec::new(), quoting: TransportQuoting::Argv },
        via: None,
        id: text(),
        cwd: None,
        lease: Duration::ZERO,
        alive: Duration::ZERO,
        patience: Duration::ZERO,
        installed: None,
        programs: Vec::new(),
        missing: String::new(),
    };
    let instance = ProgramInstance { post: Arc::default(), facts: Arc::new(facts), sent: false };
    RemoteTarget::new(settings, instance, tokio::sync::watch::channel(false).1)
}
