//! Programs that get rights from the mode or the capabilities of their file.
//!
//! A recorded process gets no such rights (`no_new_privs`), so these programs would fail.

use crate::lists::has_word;

/// The programs, also those that start one.
pub static PROGRAMS: &str = "\
    sudo sudoedit su doas pkexec run0 runuser sg newgrp passwd chsh chfn gpasswd crontab at atq atrm batch mount umount \
    fusermount fusermount3 sshfs newuidmap newgidmap podman buildah apptainer singularity ping ping6 traceroute mtr \
    dumpcap tcpdump";

/// The name of such a program, by its name or path.
pub fn program(name: &str) -> Option<&str> {
    let base = name.rsplit('/').next().unwrap_or(name);
    has_word(PROGRAMS, base).then_some(base)
}
