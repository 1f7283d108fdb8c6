//! The system call that blocks a thread, from `/proc/PID/task/TID/syscall` and the memory of its process.

use std::fs;

use nix::unistd::Pid;

use super::fifo::fifo_of;
use super::proc_root::proc_of;
use crate::{LONG, OpenFile, SOON, ThreadActivity};

/// Descriptors of one call that are read at most.
const MOST: usize = 1024;
/// Microseconds in a millisecond, as parts of a timeout.
const MICROS: u64 = 1_000;
const NANOS: u64 = 1_000_000;

/// Calls that only older machines have share no number with another call elsewhere.
#[cfg(target_arch = "x86_64")]
mod old {
    pub use libc::{SYS_epoll_wait, SYS_open, SYS_pause, SYS_poll, SYS_select};
}
#[cfg(not(target_arch = "x86_64"))]
#[expect(non_upper_case_globals, reason = "as the others are called")]
mod old {
    use libc::c_long;
    pub const SYS_open: c_long = -2;
    pub const SYS_pause: c_long = -3;
    pub const SYS_poll: c_long = -4;
    pub const SYS_select: c_long = -5;
    pub const SYS_epoll_wait: c_long = -6;
}

/// Parses such a line. Returns `None` for a call that is not analysed.
pub(super) fn call_of(pid: Pid, line: &str, files: &[OpenFile]) -> Option<ThreadActivity> {
    let mut words = line.split_ascii_whitespace();
    let number: libc::c_long = words.next()?.parse().ok()?;
    let values: Vec<u64> =
        words.map(|word| u64::from_str_radix(word.trim_start_matches("0x"), 16)).collect::<Result<_, _>>().ok()?;
    let [args @ .., stack, _] = values.as_slice() else { return None };
    let args: [u64; 6] = args.try_into().ok()?;
    // A program for a 32-bit machine, which has other numbers.
    if *stack <= u64::from(u32::MAX) {
        return None;
    }
    decode(pid, number, args, files)
}

fn decode(pid: Pid, number: libc::c_long, args: [u64; 6], files: &[OpenFile]) -> Option<ThreadActivity> {
    let fd = |at: usize| args[at] as u32 as i32;
    let soon = |at: usize| u64::try_from(fd(at)).is_ok_and(|ms| ms < SOON);
    let unit = |at: usize, ns: u64| within(pid, args[at], ns);
    let call = match number {
        libc::SYS_read | libc::SYS_readv | libc::SYS_pread64 | libc::SYS_splice => ThreadActivity::Read(fd(0)),
        libc::SYS_recvfrom | libc::SYS_recvmsg => ThreadActivity::Read(fd(0)),
        libc::SYS_write | libc::SYS_writev => ThreadActivity::Write(fd(0)),
        libc::SYS_openat => {
            let folder = fd(0);
            open(pid, (folder != libc::AT_FDCWD).then_some(folder), args[1], args[2])?
        }
        old::SYS_open => open(pid, None, args[0], args[1])?,
        libc::SYS_wait4 => {
            // 0 and numbers below -1 name groups.
            let child = fd(0);
            ThreadActivity::Child((child > 0).then_some(child))
        }
        libc::SYS_waitid => ThreadActivity::Child((args[0] == u64::from(libc::P_PID)).then_some(fd(1))),
        libc::SYS_nanosleep => sleep(pid, args[0])?,
        // Without flags the time is a duration.
        libc::SYS_clock_nanosleep if fd(1) == 0 => sleep(pid, args[2])?,
        libc::SYS_futex => ThreadActivity::Idle { timed: args[3] != 0 },
        old::SYS_pause | libc::SYS_rt_sigsuspend => ThreadActivity::Signal,
        libc::SYS_rt_sigtimedwait if args[2] == 0 => ThreadActivity::Signal,
        old::SYS_poll => polled(pid, args[0], args[1], soon(2))?,
        libc::SYS_ppoll => polled(pid, args[0], args[1], unit(2, NANOS)?)?,
        old::SYS_select => selected(pid, args, unit(4, MICROS)?)?,
        libc::SYS_pselect6 => selected(pid, args, unit(4, NANOS)?)?,
        old::SYS_epoll_wait | libc::SYS_epoll_pwait => watched(pid, fd(0), soon(3))?,
        libc::SYS_epoll_pwait2 => watched(pid, fd(0), unit(3, NANOS)?)?,
        _ => return None,
    };
    known(&call, files).then_some(call)
}

/// Returns whether all descriptors of the call are listed. A missing one was opened since, or may not be read.
fn known(call: &ThreadActivity, files: &[OpenFile]) -> bool {
    let listed = |fd: &i32| files.iter().any(|file| file.fd == *fd);
    match call {
        ThreadActivity::Read(fd) | ThreadActivity::Write(fd) => listed(fd),
        ThreadActivity::Poll { reads, writes, .. } => reads.iter().chain(writes).all(listed),
        _ => true,
    }
}

/// Analyses the open of a FIFO. No other open blocks on other processes.
fn open(pid: Pid, folder: Option<i32>, path: u64, flags: u64) -> Option<ThreadActivity> {
    let mut bytes = Vec::new();
    // One page at a time, because the next one may be unmapped.
    while bytes.len() < libc::PATH_MAX as usize {
        let at = usize::try_from(path).ok()? + bytes.len();
        let piece = read_memory(pid, at, 256 - at % 256)?;
        let end = memchr::memchr(0, &piece);
        bytes.extend_from_slice(&piece[..end.unwrap_or(piece.len())]);
        if end.is_some() {
            let mode = (flags & 0xffff_ffff) as i32 & libc::O_ACCMODE;
            let path = fifo_of(pid, folder, std::str::from_utf8(&bytes).ok()?)?;
            return Some(ThreadActivity::Open { path, writes: mode == libc::O_WRONLY });
        }
    }
    None
}

/// Returns whether the timeout at this address, in seconds and parts of a millisecond, is short. A null address means
/// no timeout.
fn within(pid: Pid, at: u64, parts: u64) -> Option<bool> {
    if at == 0 {
        return Some(false);
    }
    let bytes = read_memory(pid, usize::try_from(at).ok()?, 16)?;
    let (seconds, rest) = bytes.split_first_chunk::<8>()?;
    let (seconds, rest) = (u64::from_ne_bytes(*seconds), u64::from_ne_bytes(rest.try_into().ok()?));
    Some(seconds.saturating_mul(1_000).saturating_add(rest / parts) < SOON)
}

/// Reads the seconds of the duration at this address.
fn sleep(pid: Pid, at: u64) -> Option<ThreadActivity> {
    let bytes = read_memory(pid, usize::try_from(at).ok()?, 8)?;
    let seconds = i64::from_ne_bytes(bytes.try_into().ok()?);
    let long = u64::try_from(seconds).is_ok_and(|seconds| seconds >= LONG);
    Some(if long { ThreadActivity::Asleep } else { ThreadActivity::Busy })
}

fn poll_call(mut reads: Vec<i32>, mut writes: Vec<i32>, timed: bool) -> ThreadActivity {
    reads.sort_unstable();
    reads.dedup();
    writes.sort_unstable();
    writes.dedup();
    match (reads.is_empty() && writes.is_empty(), timed) {
        (true, true) => ThreadActivity::Busy,
        (true, false) => ThreadActivity::Signal,
        _ => ThreadActivity::Poll { reads, writes, timed },
    }
}

fn polled(pid: Pid, at: u64, count: u64, timed: bool) -> Option<ThreadActivity> {
    let count = usize::try_from(count).ok().filter(|count| *count <= MOST)?;
    let bytes = read_memory(pid, usize::try_from(at).ok()?, count * 8)?;
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    for entry in bytes.chunks_exact(8) {
        let (fd, events) = entry.split_first_chunk::<4>()?;
        let (fd, events) = (i32::from_ne_bytes(*fd), i16::from_ne_bytes([events[0], events[1]]));
        if fd < 0 {
            continue;
        }
        if events & libc::POLLOUT != 0 {
            writes.push(fd);
        }
        // A poll for no event still reports that the other side is closed.
        if events & libc::POLLOUT == 0 || events & libc::POLLIN != 0 {
            reads.push(fd);
        }
    }
    Some(poll_call(reads, writes, timed))
}

fn selected(pid: Pid, args: [u64; 6], timed: bool) -> Option<ThreadActivity> {
    let count = usize::try_from(args[0]).ok().filter(|count| *count <= MOST)?;
    let set = |at: u64| -> Option<Vec<i32>> {
        if at == 0 {
            return Some(Vec::new());
        }
        // The kernel reads whole words in the machine's byte order.
        let bytes = read_memory(pid, usize::try_from(at).ok()?, count.div_ceil(64) * 8)?;
        let words = bytes.chunks_exact(8).filter_map(|word| Some(u64::from_ne_bytes(word.try_into().ok()?)));
        let bits = words
            .enumerate()
            .flat_map(|(at, word)| (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 64 + bit));
        Some(bits.filter(|bit| *bit < count).filter_map(|bit| i32::try_from(bit).ok()).collect())
    };
    Some(poll_call(set(args[1])?, set(args[2])?, timed))
}

fn watched(pid: Pid, epoll: i32, timed: bool) -> Option<ThreadActivity> {
    const READS: u32 = (libc::EPOLLIN | libc::EPOLLPRI | libc::EPOLLRDHUP) as u32;
    let text = fs::read_to_string(format!("{}/fdinfo/{epoll}", proc_of(pid))).ok()?;
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    for line in text.lines().filter_map(|line| line.strip_prefix("tfd:")) {
        let mut words = line.split_ascii_whitespace();
        let fd = words.next()?.parse().ok()?;
        let events = u32::from_str_radix(words.nth(1)?, 16).ok()?;
        if events & READS != 0 {
            reads.push(fd);
        }
        if events & libc::EPOLLOUT as u32 != 0 {
            writes.push(fd);
        }
    }
    Some(poll_call(reads, writes, timed))
}

/// Reads memory of a descendant process. Returns `None` if that is not permitted.
fn read_memory(pid: Pid, at: usize, count: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0_u8; count];
    if count == 0 {
        return Some(bytes);
    }
    let ours = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: count };
    let theirs = libc::iovec { iov_base: std::ptr::without_provenance_mut(at), iov_len: count };
    // SAFETY: writes into our vector only, no more than its length. The kernel checks the source.
    let read = unsafe { libc::process_vm_readv(pid.as_raw(), &raw const ours, 1, &raw const theirs, 1, 0) };
    (usize::try_from(read).ok()? == count).then_some(bytes)
}
