//! `connect`, `bind` and `sendto`.
//!
//! The listener decides on a duplicate of the caller's socket with a copy of its address. The kernel gets a call only
//! if the caller cannot exchange the socket, because it has a single thread, and the socket cannot reach a path,
//! because it is an internet socket.

use std::ffi::{CStr, OsStr};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::errno::Errno;

use super::caller_path::CallerPath;
use super::pending_syscall::PendingSyscall;
use super::perform::{datagram_placeholders, internet_sockets};
use super::proc_links::{c_string, link_of, path_of};
use super::settings::ListenerSettings;
use super::socket_address::CopiedSocketAddress;
use super::syscall_reply::SyscallReply;
use confine_policy::{DenialKind, NetworkScope};
use sys::LinkResolution;

/// Returns whether the kernel decides about an address, as Landlock bounds it. This process has no Landlock.
fn is_left_to_kernel(asked: &PendingSyscall<'_>, address: &CopiedSocketAddress) -> bool {
    let performs = asked.shared.bounds.is_some() && address.path().is_some();
    !asked.shared.settings.mounts && !address.is_abstract() && !performs
}

/// `connect`
pub(super) fn connect(asked: &mut PendingSyscall<'_>) -> Result<SyscallReply, Errno> {
    let address = CopiedSocketAddress::read(asked, 1, 2)?;
    if let Some(outside) = address.address_outside_world() {
        record_connection(asked, outside);
    }
    if asked.shared.beside.is_some() && !address.is_local() {
        return match datagram_placeholders::find(asked) {
            Some(placeholder) => datagram_placeholders::connect(asked, placeholder, &address),
            None => internet_sockets::connect(asked, address),
        };
    }
    if is_left_to_kernel(asked, &address) && address.path().is_none() {
        return Ok(SyscallReply::CONTINUE);
    }
    let socket = asked.socket();
    let Some(path) = address.path() else {
        asked.check_caller()?;
        if address.is_abstract() {
            stay_inside(asked, &address)?;
        }
        return connect_duplicate(asked, socket?, address, None);
    };
    let place = CallerPath::of(asked.caller()?, libc::AT_FDCWD, c_string(path)?)?;
    asked.check_caller()?;
    let (base, path) = place.path().map_err(|_| Errno::ECONNREFUSED)?;
    let target = sys::open_place(base.descriptor(), &path, true, LinkResolution::Texts)?;
    let found = path_of(target.as_fd())?;
    let found = Path::new(OsStr::from_bytes(found.to_bytes()));
    if !may_reach(asked, &target, found) {
        let program = asked.program();
        asked.record.denials.add(DenialKind::Network, &found.to_string_lossy(), &program, None);
        return Err(Errno::EACCES);
    }
    let address = CopiedSocketAddress::of_path(link_of(target.as_fd())?.to_bytes())?;
    match socket {
        // Containers forbid a duplicate of the socket. Where no part is at stake, the kernel connects it.
        Err(Errno::EPERM | Errno::ENOSYS) if !asked.shared.settings.mounts => Ok(SyscallReply::CONTINUE),
        socket => connect_duplicate(asked, socket?, address, Some(target)),
    }
}

/// Returns whether the socket at a path may be reached: it is that of the world's agent, or it lies where the command
/// may change files, and is not older than the world. Others listen at older ones.
fn may_reach(asked: &PendingSyscall<'_>, target: &OwnedFd, found: &Path) -> bool {
    if asked.shared.settings.agent.as_deref() == Some(found) {
        return true;
    }
    let may_change = match &asked.shared.bounds {
        Some(bounds) => bounds.may_change(found),
        None => sys::is_read_only(target.as_fd()) == Ok(false),
    };
    may_change && asked.shared.paths.may_reach(found) && !is_older(target, asked.shared.settings.begun)
}

/// The time for which a clock of the kernel may stand still, ns.
const TICK: i128 = 10_000_000;

/// Returns whether a file was made before a time. No program can change the time at which a file was made.
fn is_older(file: &OwnedFd, begun: (i64, u32)) -> bool {
    let at = |(seconds, rest): (i64, u32)| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
    let Ok(born) = sys::birth_time(file.as_fd()) else { return true };
    at(born) + TICK < at(begun)
}

/// Connects the duplicate. If that may take time, a thread connects it, and `target` lives as long.
fn connect_duplicate(
    asked: &mut PendingSyscall<'_>,
    socket: OwnedFd,
    address: CopiedSocketAddress,
    target: Option<OwnedFd>,
) -> Result<SyscallReply, Errno> {
    if sys::is_nonblocking(socket.as_fd()) {
        sys::connect_to(socket.as_fd(), address.bytes())?;
        return Ok(SyscallReply::DONE);
    }
    let internet = matches!(sys::family_of(socket.as_fd()), Ok(libc::AF_INET | libc::AF_INET6));
    if internet && asked.caller()?.is_alone() {
        return Ok(SyscallReply::CONTINUE);
    }
    let work = move || {
        let _target = target;
        sys::connect_to(socket.as_fd(), address.bytes()).map(|()| SyscallReply::DONE)
    };
    asked.shared.threads.answer_in_thread(asked.listener, asked.call, work)
}

/// Refuses abstract names where the network is the host's, because a command could reach a server of the host there, or
/// impersonate one. Elsewhere the names belong to the network of the world.
fn stay_inside(asked: &mut PendingSyscall<'_>, address: &CopiedSocketAddress) -> Result<(), Errno> {
    if asked.shared.settings.own_network {
        return Ok(());
    }
    let name = format!("@{}", String::from_utf8_lossy(&address.bytes()[3..]));
    let program = asked.program();
    asked.record.denials.add(DenialKind::Network, name.trim_end_matches('\0'), &program, None);
    Err(Errno::EPERM)
}

/// `bind`
pub(super) fn bind(asked: &mut PendingSyscall<'_>) -> Result<SyscallReply, Errno> {
    let address = CopiedSocketAddress::read(asked, 1, 2)?;
    if asked.shared.beside.is_some() && !address.is_local() {
        return match datagram_placeholders::find(asked) {
            Some(_) => Err(Errno::EACCES),
            None => internet_sockets::bind(asked, &address),
        };
    }
    if is_left_to_kernel(asked, &address) {
        return Ok(SyscallReply::CONTINUE);
    }
    let socket = asked.socket()?;
    let Some(path) = address.path() else {
        asked.check_caller()?;
        if address.is_abstract() {
            stay_inside(asked, &address)?;
        }
        sys::bind_to(socket.as_fd(), address.bytes())?;
        return Ok(SyscallReply::DONE);
    };
    let place = CallerPath::of(asked.caller()?, libc::AT_FDCWD, c_string(path)?)?;
    asked.take_umask()?;
    asked.check_caller()?;
    let (base, path) = place.path().map_err(|_| Errno::EADDRINUSE)?;
    let (base, name) = asked.creation_target(base, &path)?;
    let super::caller_path::PathStart::Directory(directory) = &base else { return Err(Errno::EADDRINUSE) };
    let (here, address) = match as_written(asked, directory.as_fd(), &name, &address)? {
        Some(here) => (here, address),
        // The address has no room for a long path to the directory.
        None => {
            let here = sys::open_path(directory.as_fd(), c".", 0o200_000, 0, LinkResolution::Texts)
                .or_else(|_| directory.try_clone().map_err(|_| Errno::EMFILE))?;
            (here, CopiedSocketAddress::of_path(name.to_bytes())?)
        }
    };
    // No other code here uses the current directory.
    nix::unistd::fchdir(&here)?;
    // The path may have become a link to the root of another process. Only this capability permits to follow such a
    // link.
    sys::use_tracing(false)?;
    let bound = sys::bind_to(socket.as_fd(), address.bytes());
    sys::use_tracing(true)?;
    nix::unistd::chdir("/")?;
    match bound {
        Ok(()) => Ok(SyscallReply::DONE),
        Err(errno) => Err(asked.record_failed_change(&base, &name, errno)),
    }
}

/// Returns the directory from which a socket can be bound by the path that the caller wrote. Programs ask for that path
/// later, and give it to others. `None`: the name is guarded in some directory, or the path leads through links, which
/// may mean other places here. A name that is guarded nowhere may be created wherever the path then leads.
fn as_written(
    asked: &mut PendingSyscall<'_>,
    directory: BorrowedFd<'_>,
    name: &CStr,
    address: &CopiedSocketAddress,
) -> Result<Option<OwnedFd>, Errno> {
    let Some(path) = address.path().filter(|_| asked.names.directories(name.to_bytes()).is_none()) else {
        return Ok(None);
    };
    let current = asked.caller()?.open_current_directory()?;
    let written = Path::new(OsStr::from_bytes(path_of(current.as_fd())?.to_bytes())).join(OsStr::from_bytes(path));
    let found = Path::new(OsStr::from_bytes(path_of(directory)?.to_bytes())).join(OsStr::from_bytes(name.to_bytes()));
    Ok((written.as_os_str() == found.as_os_str()).then_some(current))
}

/// `sendto` with an address. No socket exists that could send to a path, so the call is only recorded, and refused
/// where a socket stands for one of UDP.
pub(super) fn send(asked: &mut PendingSyscall<'_>) -> Result<SyscallReply, Errno> {
    if let Ok(address) = CopiedSocketAddress::read(asked, 4, 5)
        && let Some(outside) = address.address_outside_world()
        && asked.check_caller().is_ok()
    {
        record_connection(asked, outside);
    }
    match datagram_placeholders::find(asked) {
        Some(_) => datagram_placeholders::send(asked),
        None => Ok(SyscallReply::CONTINUE),
    }
}

fn record_connection(asked: &mut PendingSyscall<'_>, outside: SocketAddr) {
    let ListenerSettings { policy, own_network, .. } = &asked.shared.settings;
    let is_bounded = *own_network || asked.shared.beside.is_some() || sys::landlock_bounds_tcp();
    if policy.network == NetworkScope::Full || !is_bounded {
        return;
    }
    let program = asked.program();
    let settings = &asked.shared.settings;
    asked.record.record_connection(&settings.policy.network, settings.gate, outside, &program);
}
