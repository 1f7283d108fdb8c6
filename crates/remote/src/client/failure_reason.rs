//! Why an attempt failed, read from what the transport said.

use super::target_address::{OTHER_POD, TargetKind};
use super::target_error::TargetErrorReason;

/// Words of a transport, in lower case, and what they mean. The first row that fits counts.
const WORDS: [(&str, TargetErrorReason); 19] = [
    ("host key verification failed", TargetErrorReason::HostKey),
    ("remote host identification has changed", TargetErrorReason::HostKey),
    ("no matching host key", TargetErrorReason::HostKey),
    ("permission denied (", TargetErrorReason::Auth),
    ("too many authentication failures", TargetErrorReason::Auth),
    ("unauthorized", TargetErrorReason::Auth),
    ("forbidden", TargetErrorReason::Auth),
    ("you must be logged in", TargetErrorReason::Auth),
    ("could not resolve hostname", TargetErrorReason::Unreachable),
    ("connection refused", TargetErrorReason::Unreachable),
    ("connection timed out", TargetErrorReason::Unreachable),
    ("connection reset", TargetErrorReason::Unreachable),
    ("connection closed", TargetErrorReason::Unreachable),
    ("no route to host", TargetErrorReason::Unreachable),
    ("network is unreachable", TargetErrorReason::Unreachable),
    ("broken pipe", TargetErrorReason::Unreachable),
    ("kex_exchange_identification", TargetErrorReason::Unreachable),
    // Clients of containers, where no program can be started.
    ("oci runtime", TargetErrorReason::Shell),
    ("executable file", TargetErrorReason::Shell),
];

/// The exit code of ssh for its own errors. Any other one is that of the login shell.
const SSH_FAILED: i32 = 255;

/// Returns why a transport ended before our text has answered.
pub fn classify_failure(kind: TargetKind, said: &str, exit_code: Option<i32>) -> TargetErrorReason {
    let said = said.to_lowercase();
    let known = WORDS.iter().find(|(words, _)| said.contains(words)).map(|(_, reason)| *reason);
    match (kind, exit_code) {
        (TargetKind::Kubernetes, _) if said.contains(OTHER_POD) => TargetErrorReason::Lost,
        _ if said.starts_with(supervisor::CANNOT_START) => TargetErrorReason::Unreachable,
        // What ssh prints and its login shell prints are in one stream.
        (TargetKind::Ssh, Some(code)) if code != SSH_FAILED => TargetErrorReason::Shell,
        (TargetKind::Ssh, _) => known.unwrap_or(TargetErrorReason::Unreachable),
        // Our text ends with nothing on standard error, and no start file runs before it.
        (TargetKind::Docker | TargetKind::Podman | TargetKind::Kubernetes, _) if !said.trim().is_empty() => {
            known.unwrap_or(TargetErrorReason::Unreachable)
        }
        _ => known.unwrap_or(TargetErrorReason::Shell),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_transport_says_why() {
        for (kind, said, exit_code, expected) in [
            (TargetKind::Ssh, "dev@build1: Permission denied (publickey).", Some(255), TargetErrorReason::Auth),
            (TargetKind::Ssh, "Host key verification failed.", Some(255), TargetErrorReason::HostKey),
            (
                TargetKind::Ssh,
                "ssh: connect to host b port 22: Connection refused",
                Some(255),
                TargetErrorReason::Unreachable,
            ),
            (TargetKind::Ssh, "anything else", Some(255), TargetErrorReason::Unreachable),
            (TargetKind::Ssh, "This account is currently not available.", Some(1), TargetErrorReason::Shell),
            (TargetKind::Ssh, "connection refused, says a start file", Some(1), TargetErrorReason::Shell),
            (TargetKind::Docker, "Error: No such container: web", Some(1), TargetErrorReason::Unreachable),
            (
                TargetKind::Podman,
                "Error: no container with name or ID \"web\" found",
                Some(125),
                TargetErrorReason::Unreachable,
            ),
            (
                TargetKind::Kubernetes,
                "Error from server (NotFound): pods \"p\" not found",
                Some(1),
                TargetErrorReason::Unreachable,
            ),
            (TargetKind::Kubernetes, OTHER_POD, Some(1), TargetErrorReason::Lost),
            (TargetKind::Command, OTHER_POD, Some(1), TargetErrorReason::Shell),
            (TargetKind::Kubernetes, "error: You must be logged in to the server", Some(1), TargetErrorReason::Auth),
            (
                TargetKind::Kubernetes,
                "error: cannot exec into a completed pod",
                Some(1),
                TargetErrorReason::Unreachable,
            ),
            (
                TargetKind::Docker,
                "Error response from daemon: Container web is paused",
                Some(1),
                TargetErrorReason::Unreachable,
            ),
            (
                TargetKind::Docker,
                "OCI runtime exec failed: \"/bin/sh\": stat /bin/sh",
                Some(126),
                TargetErrorReason::Shell,
            ),
            (TargetKind::Podman, "", Some(137), TargetErrorReason::Shell),
            (
                TargetKind::Ssh,
                "cannot be started: ssh: No such file or directory",
                Some(127),
                TargetErrorReason::Unreachable,
            ),
            (
                TargetKind::Command,
                "cannot be started: tsh: No such file or directory",
                Some(127),
                TargetErrorReason::Unreachable,
            ),
            (TargetKind::Command, "anything else", Some(126), TargetErrorReason::Shell),
        ] {
            assert_eq!(classify_failure(kind, said, exit_code), expected, "{said}");
        }
    }
}
