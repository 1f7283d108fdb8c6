//! The memory in which the witness writes events and the host reads them: a header, slots for events, then texts.

use core::sync::atomic::{AtomicI32, AtomicU32};

/// Where the area begins in the file, behind the library. A multiple of every page size.
pub const AREA: usize = 64 * 1024;
/// The number of events: a process has three.
pub const SLOTS: usize = 3 * 4096;
/// Where the texts begin in the area. A multiple of every page size.
pub const TEXT: usize = 768 * 1024;
/// Bytes of all texts.
pub const TEXTS: usize = 2 * 1024 * 1024;
/// Bytes that are kept of a program's words.
pub const WORDS: u32 = 1024;
/// Most bytes of an entry of the environment in whose place the library's own one stands.
pub const ENTRY: usize = 104;
/// The size of the area.
pub const SIZE: usize = TEXT + TEXTS;
/// The first bytes of the area.
pub const MAGIC: u32 = 0x6177_6974;

const _: () = assert!(
    size_of::<WitnessAreaHeader>() + SLOTS * size_of::<WitnessEventSlot>() <= TEXT,
    "events and texts do not overlap"
);

/// The beginning of the area.
#[repr(C)]
pub struct WitnessAreaHeader {
    /// [`MAGIC`]
    pub magic: u32,
    /// 1 once the library runs in bash.
    pub begun: AtomicU32,
    /// Slots in use.
    pub events: AtomicU32,
    /// Bytes of texts in use.
    pub text: AtomicU32,
    /// 1 once an event or a text found no room.
    pub lost: AtomicU32,
    /// [`TAP_WANTED`], [`TAP_TAKEN`], [`TAP_REFUSED`], or 0: the command has no tap.
    pub tap: AtomicU32,
    /// The numbers of a tap's ends: one to read from, and one to write to. 0: the shell has none.
    pub tap_ends: [AtomicI32; 2],
    /// The length of `entry`. 0: the library takes its own entry out and puts none there.
    pub entry_length: u32,
    /// The entry of the environment that stands in the place of the library's own one.
    pub entry: [u8; ENTRY],
}

/// The first pipe of the command leads through the host.
pub const TAP_WANTED: u32 = 1;
/// It does, since it was made.
pub const TAP_TAKEN: u32 = 2;
/// The first pipe of the command was none that may, and the ends are closed.
pub const TAP_REFUSED: u32 = 3;

/// A process was forked: `pid`.
pub const KIND_FORK: u32 = 1;
/// A process ended: `pid`, `value` is its status.
pub const KIND_WAIT: u32 = 2;
/// A process executes a program: `words_at`.
pub const KIND_EXEC: u32 = 3;
/// A shell exits: `value` is its code.
pub const KIND_EXIT: u32 = 4;

/// Bits of [`WitnessEventSlot::flags`].
pub mod flag {
    /// `set -e`
    pub const ERREXIT: u32 = 1;
    /// `set -o pipefail`
    pub const PIPEFAIL: u32 = 2;
    /// `shopt -s lastpipe`
    pub const LASTPIPE: u32 = 4;
    /// A trap runs.
    pub const TRAP: u32 = 8;
    /// The command runs, and not a file that bash reads before it.
    pub const COMMAND: u32 = 16;
}

/// One event.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct WitnessEventSlot {
    /// What happened. 0 while the event is written.
    pub kind: u32,
    /// The process in which it happened: the number of the fork that made it, counted from 1. 0 is the first shell.
    pub process: u32,
    /// The pid that was forked or waited for.
    pub pid: i32,
    /// The status of a wait, the code of an exit.
    pub value: i32,
    /// Bash's `subshell_environment`.
    pub environment: u32,
    /// Options and state of the shell.
    pub flags: u32,
    /// `$?`
    pub status: i32,
    /// The command as bash prints it.
    pub text_at: u32,
    /// The length of the text.
    pub text_length: u32,
    /// The command that bash keeps for the time of traps.
    pub kept_at: u32,
    /// The length of that text.
    pub kept_length: u32,
    /// The words of a program, each with a null byte.
    pub words_at: u32,
    /// The length of the words.
    pub words_length: u32,
    /// The directory of a program, and of a shell that did not find one.
    pub directory_at: u32,
    /// The length of the directory. 0: it is not known.
    pub directory_length: u32,
}
