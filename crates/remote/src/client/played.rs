//! A target whose program says only what a unit test makes it say.

use std::sync::Arc;
use std::time::Duration;

use super::address::{Address, Quoting};
use super::begin::Instance;
use super::settings::Settings;
use super::target::Target;
use crate::messages::{Facts, Token};

/// Returns the target.
pub(super) fn target() -> Arc<Target> {
    let text = String::new;
    let facts = Facts {
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
        socket: "/none".into(),
        token: Token([0; 32]),
    };
    let settings = Settings {
        address: Address::Command { command: Vec::new(), quoting: Quoting::Argv },
        id: text(),
        cwd: None,
        lease: Duration::ZERO,
        alive: Duration::ZERO,
        patience: Duration::ZERO,
        installed: None,
        programs: Vec::new(),
        missing: String::new(),
    };
    let instance = Instance { post: Arc::default(), facts: Arc::new(facts), sent: false };
    Target::new(settings, instance, tokio::sync::watch::channel(false).1)
}
