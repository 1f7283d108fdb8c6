//! Pipes and programs, from `/proc`.

use std::fs;
use std::time::Duration;

use nix::unistd::Pid;

use super::proc::{DescriptorAccess, ProcessDescriptor, descriptors};
use super::proc_root::proc_of;
use crate::{OpenPipes, ProcessProgram, cpu_time_used};

/// Returns the pipes that a process has open: none if they may not be read, and `None` past the time bound.
pub fn open_pipes(pid: Pid, until: Duration) -> Option<OpenPipes> {
    let mut found = OpenPipes::default();
    for open in descriptors(pid) {
        if cpu_time_used() >= until {
            return None;
        }
        let Some(name) = pipe_name(&open) else { continue };
        let DescriptorAccess { reads, writes } = open.access();
        if writes {
            found.writes.push(name.clone());
        }
        if reads {
            found.reads.push(name);
        }
    }
    Some(found)
}

/// Returns a name that is equal for all descriptors of a pipe. The name of a named pipe is not its path, since the pipe
/// may have several paths.
fn pipe_name(open: &ProcessDescriptor) -> Option<String> {
    let target = open.target()?.into_os_string().into_string().ok()?;
    let named = || open.fifo().map(|((major, minor), inode)| format!("fifo:[{major}:{minor}:{inode}]"));
    if target.starts_with('/') { named() } else { target.starts_with("pipe:[").then_some(target) }
}

/// Returns the program that a process runs. A field that may not be read is empty.
pub fn process_program(pid: Pid) -> ProcessProgram {
    let executable = fs::read_link(format!("{}/exe", proc_of(pid))).unwrap_or_default();
    let name = fs::read(format!("{}/comm", proc_of(pid))).unwrap_or_default();
    let line = fs::read(format!("{}/cmdline", proc_of(pid))).unwrap_or_default();
    let status = fs::read_to_string(format!("{}/status", proc_of(pid))).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    ProcessProgram {
        executable: executable.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        name: String::from_utf8_lossy(name.trim_ascii_end()).into_owned(),
        arguments: line
            .strip_suffix(&[0])
            .unwrap_or(&line)
            .split(|byte| *byte == 0)
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect(),
        handles_terminate: caught & 1 << (libc::SIGTERM - 1) != 0,
    }
}
