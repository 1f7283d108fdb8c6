//! What a host has to know of this machine.

use std::path::Path;

use nix::sys::utsname::uname;
use nix::unistd::{User, geteuid, getpid};

use super::link_handover_socket::LinkHandoverSocket;
use super::login_lingering::outlives_login;
use super::machine_load::measure_load;
use crate::messages::TargetFacts;

pub fn collect_facts(door: &LinkHandoverSocket) -> TargetFacts {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let text =
        |path: Result<std::path::PathBuf, _>| path.map(|path: std::path::PathBuf| path.to_string_lossy().into_owned());
    let uid = geteuid().as_raw();
    let kernel = uname().map(|system| system.release().to_string_lossy().into_owned());
    let host_name = sys::host_name().unwrap_or_default();
    let cwd = text(std::env::current_dir()).unwrap_or_else(|_| "/".to_owned());
    // Containers start programs without such a variable.
    let known = || User::from_uid(geteuid()).ok().flatten().map(|user| user.name);
    let user = variable("USER").or_else(|| variable("LOGNAME")).or_else(known).unwrap_or_else(|| uid.to_string());
    TargetFacts {
        lingers: outlives_login(&user),
        machine: machine(&host_name),
        kernel: kernel.unwrap_or_default(),
        arch: std::env::consts::ARCH.to_owned(),
        user,
        uid,
        home: variable("HOME").filter(|home| home.starts_with('/')).unwrap_or_else(|| cwd.clone()),
        pid: getpid().as_raw(),
        bash: bash(&cwd),
        path: text(std::env::current_exe()).unwrap_or_default(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        environment: sys::environment(),
        umask: umask(),
        load: measure_load(),
        socket: door.path().to_owned(),
        token: door.token(),
        host_name,
        cwd,
    }
}

/// Names this machine or container. It stays the same through a restart, and differs between machines that share a
/// name.
fn machine(host_name: &str) -> String {
    let id = std::fs::read_to_string("/etc/machine-id").unwrap_or_default();
    format!("{host_name}/{}", id.trim())
}

/// Returns the path of the bash that commands get.
fn bash(cwd: &str) -> Option<String> {
    let path = std::env::var("PATH").ok();
    let found = protocol::plan::find_shell(None, path.as_deref(), Path::new(cwd)).ok()?;
    Some(found.to_string_lossy().into_owned())
}

/// Returns the mode mask. Nothing else runs in this process yet that makes files.
fn umask() -> u32 {
    let none = nix::sys::stat::Mode::empty();
    let mask = nix::sys::stat::umask(none);
    nix::sys::stat::umask(mask);
    mask.bits() as _
}
