//! Which act a call asks for.

use nix::errno::Errno;

use super::super::asked::Asked;
use super::super::names::Two;
use super::super::reply::Reply;
use super::{entries, network, open, processes, watch};
use crate::filter::{Entry, Question};

const AT_FDCWD: i32 = libc::AT_FDCWD;
/// `AT_REMOVEDIR`
const REMOVE_DIRECTORY: i32 = 0x200;
/// The flags of `creat`.
const CREAT: i32 = libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC;

/// Performs a call. `None`: the call is answered as in a world with mounts.
pub(in crate::listener) fn reply(asked: &mut Asked<'_>, entry: &Entry) -> Option<Result<Reply, Errno>> {
    let two = |from, to| Two { from, to };
    let flags = |at: usize| asked.int(at);
    Some(match entry.question {
        Question::OpenAt => open::open(asked, asked.int(0), 1, asked.int(2), asked.unsigned(3)),
        Question::Open => open::open(asked, AT_FDCWD, 0, asked.int(1), asked.unsigned(2)),
        Question::Creat => open::open(asked, AT_FDCWD, 0, CREAT, asked.unsigned(1)),
        Question::Link => entries::link(asked, &two((AT_FDCWD, 0), (AT_FDCWD, 1)), 0),
        Question::LinkAt => entries::link(asked, &two((asked.int(0), 1), (asked.int(2), 3)), asked.int(4)),
        Question::Rename => entries::rename(asked, &two((AT_FDCWD, 0), (AT_FDCWD, 1)), 0),
        Question::RenameAt => {
            let flags = entry.rename_flags(&asked.call);
            entries::rename(asked, &two((asked.int(0), 1), (asked.int(2), 3)), flags)
        }
        Question::Entry(0) => entries::remove(asked, AT_FDCWD, 0, entry.name == "rmdir"),
        Question::Entry(at) => entries::remove(asked, asked.int(0), at, flags(2) & REMOVE_DIRECTORY != 0),
        Question::Watch => watch::watch(asked),
        Question::Process => processes::reach(asked, entry),
        Question::Socket if matches!(asked.int(0), libc::AF_INET | libc::AF_INET6) => network::socket(asked),
        Question::Listen => network::listen(asked),
        Question::Name => network::name(asked, entry.name == "getpeername"),
        _ => return None,
    })
}
