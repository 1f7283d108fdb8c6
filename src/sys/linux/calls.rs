//! The system call that a thread is held up in, from `/proc/PID/task/TID/syscall` and the memory of its process.

use std::fs;

use nix::unistd::Pid;

use super::doing::fifo_of;
use crate::sys::{Call, Opened};

/// Descriptors of one call beyond these are not looked at.
const MOST: usize = 1024;
/// Whoever goes on by itself within this time, ms, may be at work: it draws something anew, or looks after something. A longer
/// time is that of a language that tidies up, or a patience.
const SOON: u64 = 3_500;
/// What a millisecond has of the smaller part of a time.
const MICROS: u64 = 1_000;
const NANOS: u64 = 1_000_000;

/// The numbers of calls that only older machines have are none of any call elsewhere.
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

/// What this line says; `None` when it says nothing that is known here.
pub(super) fn call_of(pid: Pid, line: &str, files: &[Opened]) -> Option<Call> {
    let mut words = line.split_ascii_whitespace();
    let number: libc::c_long = words.next()?.parse().ok()?;
    let values: Vec<u64> =
        words.map(|word| u64::from_str_radix(word.trim_start_matches("0x"), 16)).collect::<Result<_, _>>().ok()?;
    let [args @ .., stack, _] = values.as_slice() else { return None };
    let args: [u64; 6] = args.try_into().ok()?;
    // A program for a smaller machine, which has other numbers.
    if *stack <= u64::from(u32::MAX) {
        return None;
    }
    decode(pid, number, args, files)
}

fn decode(pid: Pid, number: libc::c_long, args: [u64; 6], files: &[Opened]) -> Option<Call> {
    let fd = |at: usize| args[at] as u32 as i32;
    let soon = |at: usize| u64::try_from(fd(at)).is_ok_and(|ms| ms < SOON);
    let unit = |at: usize, ns: u64| within(pid, args[at], ns);
    let call = match number {
        libc::SYS_read | libc::SYS_readv | libc::SYS_pread64 | libc::SYS_splice => Call::Read(fd(0)),
        libc::SYS_recvfrom | libc::SYS_recvmsg => Call::Read(fd(0)),
        libc::SYS_write | libc::SYS_writev => Call::Write(fd(0)),
        libc::SYS_openat => {
            let folder = fd(0);
            open(pid, (folder != libc::AT_FDCWD).then_some(folder), args[1], args[2])?
        }
        old::SYS_open => open(pid, None, args[0], args[1])?,
        libc::SYS_wait4 => {
            // 0 and below -1 are groups.
            let child = fd(0);
            Call::Child((child > 0).then_some(child))
        }
        libc::SYS_waitid => Call::Child((args[0] == u64::from(libc::P_PID)).then_some(fd(1))),
        libc::SYS_futex => Call::Idle { timed: args[3] != 0 },
        old::SYS_pause | libc::SYS_rt_sigsuspend => Call::Signal,
        libc::SYS_rt_sigtimedwait if args[2] == 0 => Call::Signal,
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

/// A descriptor that is not listed was opened since, or is not to be known.
fn known(call: &Call, files: &[Opened]) -> bool {
    let listed = |fd: &i32| files.iter().any(|file| file.fd == *fd);
    match call {
        Call::Read(fd) | Call::Write(fd) => listed(fd),
        Call::Poll { reads, writes, .. } => reads.iter().chain(writes).all(listed),
        _ => true,
    }
}

/// Only the open of a FIFO is held up by others.
fn open(pid: Pid, folder: Option<i32>, path: u64, flags: u64) -> Option<Call> {
    let mut bytes = Vec::new();
    // To the end of a page at a time: behind it there may be none.
    while bytes.len() < libc::PATH_MAX as usize {
        let at = usize::try_from(path).ok()? + bytes.len();
        let piece = read_memory(pid, at, 256 - at % 256)?;
        let end = memchr::memchr(0, &piece);
        bytes.extend_from_slice(&piece[..end.unwrap_or(piece.len())]);
        if end.is_some() {
            let mode = (flags & 0xffff_ffff) as i32 & libc::O_ACCMODE;
            let path = fifo_of(pid, folder, std::str::from_utf8(&bytes).ok()?)?;
            return Some(Call::Open { path, writes: mode == libc::O_WRONLY });
        }
    }
    None
}

/// Whether the time at this address, seconds and so many parts of a millisecond, is a short one; none is for ever.
fn within(pid: Pid, at: u64, parts: u64) -> Option<bool> {
    if at == 0 {
        return Some(false);
    }
    let bytes = read_memory(pid, usize::try_from(at).ok()?, 16)?;
    let (seconds, rest) = bytes.split_first_chunk::<8>()?;
    let (seconds, rest) = (u64::from_ne_bytes(*seconds), u64::from_ne_bytes(rest.try_into().ok()?));
    Some(seconds.saturating_mul(1_000).saturating_add(rest / parts) < SOON)
}

fn poll_call(mut reads: Vec<i32>, mut writes: Vec<i32>, timed: bool) -> Call {
    reads.sort_unstable();
    reads.dedup();
    writes.sort_unstable();
    writes.dedup();
    match (reads.is_empty() && writes.is_empty(), timed) {
        (true, true) => Call::Busy,
        (true, false) => Call::Signal,
        _ => Call::Poll { reads, writes, timed },
    }
}

fn polled(pid: Pid, at: u64, count: u64, timed: bool) -> Option<Call> {
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
        // Whoever asks for nothing hears of the end of the other side.
        if events & libc::POLLOUT == 0 || events & libc::POLLIN != 0 {
            reads.push(fd);
        }
    }
    Some(poll_call(reads, writes, timed))
}

fn selected(pid: Pid, args: [u64; 6], timed: bool) -> Option<Call> {
    let count = usize::try_from(args[0]).ok().filter(|count| *count <= MOST)?;
    let set = |at: u64| -> Option<Vec<i32>> {
        if at == 0 {
            return Some(Vec::new());
        }
        // The kernel reads whole words, which are in the order of the machine.
        let bytes = read_memory(pid, usize::try_from(at).ok()?, count.div_ceil(64) * 8)?;
        let words = bytes.chunks_exact(8).filter_map(|word| Some(u64::from_ne_bytes(word.try_into().ok()?)));
        let bits = words
            .enumerate()
            .flat_map(|(at, word)| (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 64 + bit));
        Some(bits.filter(|bit| *bit < count).filter_map(|bit| i32::try_from(bit).ok()).collect())
    };
    Some(poll_call(set(args[1])?, set(args[2])?, timed))
}

fn watched(pid: Pid, epoll: i32, timed: bool) -> Option<Call> {
    const READS: u32 = (libc::EPOLLIN | libc::EPOLLPRI | libc::EPOLLRDHUP) as u32;
    let text = fs::read_to_string(format!("/proc/{pid}/fdinfo/{epoll}")).ok()?;
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

/// So many bytes of the memory of a process below this one; `None` where it may not be read.
fn read_memory(pid: Pid, at: usize, count: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0_u8; count];
    if count == 0 {
        return Some(bytes);
    }
    let ours = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: count };
    let theirs = libc::iovec { iov_base: std::ptr::without_provenance_mut(at), iov_len: count };
    // SAFETY: writes into our vector only, no more than its length; the kernel checks what it reads.
    let read = unsafe { libc::process_vm_readv(pid.as_raw(), &raw const ours, 1, &raw const theirs, 1, 0) };
    (usize::try_from(read).ok()? == count).then_some(bytes)
}
