//! Which act a call asks for.

use nix::errno::Errno;

use super::super::name_creation::SyscallPathPair;
use super::super::pending_syscall::PendingSyscall;
use super::super::syscall_reply::SyscallReply;
use super::{datagram_placeholders, entries, inotify_watch, internet_sockets, open, processes};
use confine_world::{filter::SyscallEntry, filter::SyscallHandling};

const AT_FDCWD: i32 = libc::AT_FDCWD;
/// `AT_REMOVEDIR`
const REMOVE_DIRECTORY: i32 = 0x200;
/// The flags of `creat`.
const CREAT: i32 = libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC;

/// Performs a call. `None`: the call is answered as in a world with mounts.
pub(crate) fn perform_call(
    asked: &mut PendingSyscall<'_>,
    entry: &SyscallEntry,
) -> Option<Result<SyscallReply, Errno>> {
    let two = |from, to| SyscallPathPair { from, to };
    let flags = |at: usize| asked.int(at);
    Some(match entry.handling {
        SyscallHandling::OpenAt => open::open(asked, asked.int(0), 1, asked.int(2), asked.unsigned(3)),
        SyscallHandling::Open => open::open(asked, AT_FDCWD, 0, asked.int(1), asked.unsigned(2)),
        SyscallHandling::Creat => open::open(asked, AT_FDCWD, 0, CREAT, asked.unsigned(1)),
        SyscallHandling::Link => entries::link(asked, &two((AT_FDCWD, 0), (AT_FDCWD, 1)), 0),
        SyscallHandling::LinkAt => entries::link(asked, &two((asked.int(0), 1), (asked.int(2), 3)), asked.int(4)),
        SyscallHandling::Rename => entries::rename(asked, &two((AT_FDCWD, 0), (AT_FDCWD, 1)), 0),
        SyscallHandling::RenameAt => {
            let flags = entry.rename_flags(&asked.call);
            entries::rename(asked, &two((asked.int(0), 1), (asked.int(2), 3)), flags)
        }
        SyscallHandling::Entry(0) => entries::remove(asked, AT_FDCWD, 0, entry.name == "rmdir"),
        SyscallHandling::Entry(at) => entries::remove(asked, asked.int(0), at, flags(2) & REMOVE_DIRECTORY != 0),
        SyscallHandling::Watch => inotify_watch::watch(asked),
        SyscallHandling::Process => processes::reach_process(asked, entry),
        SyscallHandling::Socket if matches!(asked.int(0), libc::AF_INET | libc::AF_INET6) => {
            if datagram_placeholders::is_wanted(asked) {
                datagram_placeholders::create(asked)
            } else {
                internet_sockets::socket(asked)
            }
        }
        SyscallHandling::Listen => internet_sockets::listen(asked),
        SyscallHandling::Name => {
            let peer = entry.name == "getpeername";
            match datagram_placeholders::find(asked) {
                Some(placeholder) => datagram_placeholders::name(asked, placeholder, peer),
                None => internet_sockets::name(asked, peer),
            }
        }
        _ => return None,
    })
}
