//! Remedies for machines on which worlds cannot be made.

use std::fs;
use std::io;
use std::path::Path;

use super::network::DEVICES;
use super::step_failure::WorldStepFailure;

/// The remedy in gVisor, which makes namespaces only in part.
const OF_GVISOR: &str = "this system is gVisor, whose own sandbox is the boundary: leave these parts out of require, or \
                         run on a Linux kernel";

/// Returns the remedy for a failed step of making a world, as a sentence without its full stop, if this machine does
/// not support or permit the step. `None` for any other error.
pub fn of(error: &io::Error) -> Option<String> {
    if sys::is_gvisor() {
        return Some(OF_GVISOR.to_owned());
    }
    let remedy = match error.raw_os_error()? {
        libc::EPERM | libc::EACCES => of_permissions(),
        libc::ENOSPC | libc::EUSERS if sysctl_number("user/max_user_namespaces") == Some(0) => {
            "run agent-bash doctor --fix, which sets the sysctl user.max_user_namespaces to 10000"
        }
        libc::ENOSPC | libc::EUSERS => "raise the limits below /proc/sys/user, or end other sandboxes",
        libc::ENOSYS | libc::EINVAL | libc::ENODEV | libc::EOPNOTSUPP => {
            "use Linux 5.12 or later, with user namespaces"
        }
        _ => return None,
    };
    Some(remedy.to_owned())
}

/// Returns the remedy for a failure, like [`of`].
pub(super) fn of_failure(failure: &WorldStepFailure) -> Option<String> {
    match failure.source.raw_os_error() {
        Some(libc::ENODEV | libc::EOPNOTSUPP) if failure.step == DEVICES && !sys::is_gvisor() => Some(
            "load the kernel module veth, as agent-bash doctor --fix does, or use network 'none' without expose"
                .to_owned(),
        ),
        _ => of(&failure.source),
    }
}

fn of_permissions() -> &'static str {
    let is_container = ["/.dockerenv", "/run/.containerenv"].into_iter().any(|path| Path::new(path).exists());
    if sysctl_number("kernel/unprivileged_userns_clone") == Some(0) {
        "run agent-bash doctor --fix, which sets the sysctl kernel.unprivileged_userns_clone to 1"
    } else if sysctl_number("kernel/apparmor_restrict_unprivileged_userns") == Some(1) {
        "run agent-bash doctor --fix, which adds an AppArmor profile with the permission userns, or set the sysctl \
         kernel.apparmor_restrict_unprivileged_userns to 0"
    } else if is_container {
        "start the container with --security-opt seccomp=unconfined --security-opt systempaths=unconfined, or with a \
         seccomp profile that permits user namespaces and mounts, which agent-bash doctor --fix prints"
    } else {
        "permit this process to make user namespaces, and mounts in them"
    }
}

/// Returns the value of a sysctl.
fn sysctl_number(name: &str) -> Option<u64> {
    fs::read_to_string(Path::new("/proc/sys").join(name)).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_machine_lacks_has_a_remedy_and_other_errors_have_none() {
        for (errno, has) in [(libc::EPERM, true), (libc::ENOSYS, true), (libc::ENOSPC, true), (libc::ENOENT, false)] {
            assert_eq!(of(&io::Error::from_raw_os_error(errno)).is_some(), has, "{errno}");
        }
        assert_eq!(of(&io::ErrorKind::TimedOut.into()), None);
    }

    #[test]
    fn a_machine_without_veth_is_told_to_load_it() {
        let without = |step: &str| {
            let source = io::Error::from_raw_os_error(libc::EOPNOTSUPP);
            of_failure(&WorldStepFailure { step: step.to_owned(), source }).expect("there is a remedy")
        };
        assert!(without(DEVICES).contains("load the kernel module veth"), "{}", without(DEVICES));
        assert!(without("a mount").contains("Linux 5.12"), "{}", without("a mount"));
    }
}
