//! Pseudo-terminals: both ends, the size, and line modes.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use serde::{Deserialize, Serialize};

/// The size of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalSize {
    /// Characters per row, at least 1.
    pub cols: u16,
    /// Rows, at least 1.
    pub rows: u16,
}

/// Opens the controlling end of a new pseudo-terminal, non-blocking and closed on exec.
pub fn open_terminal(size: TerminalSize) -> io::Result<OwnedFd> {
    // SAFETY: a plain system call.
    let fd = unsafe { libc::posix_openpt(libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just opened, and no other code knows it.
    let master = unsafe { OwnedFd::from_raw_fd(fd) };
    super::set_cloexec(&master)?;
    // SAFETY: a plain call with a descriptor that is open.
    if unsafe { libc::grantpt(fd) } < 0 {
        return Err(io::Error::last_os_error());
    }
    prepare(&master, size)?;
    Ok(master)
}

/// Opens a new pseudo-terminal like [`open_terminal`], among the pseudo-terminals of a directory.
pub fn open_terminal_in(directory: &OwnedFd, size: TerminalSize) -> io::Result<OwnedFd> {
    let flags = libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC;
    // SAFETY: a constant C string, and a directory that is open.
    let fd = unsafe { libc::openat(directory.as_raw_fd(), c"ptmx".as_ptr(), flags) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just opened, and no other code knows it.
    let master = unsafe { OwnedFd::from_raw_fd(fd) };
    prepare(&master, size)?;
    Ok(master)
}

/// Makes a new pseudo-terminal usable.
fn prepare(master: &OwnedFd, size: TerminalSize) -> io::Result<()> {
    // SAFETY: a plain call with a descriptor that is open.
    if unsafe { libc::unlockpt(master.as_raw_fd()) } < 0 {
        return Err(io::Error::last_os_error());
    }
    super::set_nonblocking(master)?;
    // Some systems keep no state for a terminal whose other end was never open.
    let other = open_other_end(master)?;
    resize_terminal(master, size)?;
    erase_whole_characters(&other)
}

/// Opens a program's end of a pseudo-terminal, closed on exec. It is not yet a controlling terminal.
pub fn open_other_end(master: &OwnedFd) -> io::Result<OwnedFd> {
    super::open_slave(master)
}

/// Changes the size of a terminal, which signals its programs.
pub fn resize_terminal(master: &OwnedFd, TerminalSize { cols, rows }: TerminalSize) -> io::Result<()> {
    let size = libc::winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the kernel reads one structure.
    if unsafe { libc::ioctl(master.as_raw_fd(), libc::TIOCSWINSZ, &raw const size) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Returns the process group that receives keys, or `None` without one.
pub fn foreground_group(master: &OwnedFd) -> Option<i32> {
    // SAFETY: a plain call with a descriptor that is open.
    let group = unsafe { libc::tcgetpgrp(master.as_raw_fd()) };
    (group > 0).then_some(group)
}

/// Returns the key that flushes an unfinished line, or `None` if programs read each key.
pub fn line_end_key(master: &OwnedFd) -> Option<u8> {
    let modes = modes(master).ok()?;
    let key = modes.c_cc[libc::VEOF];
    (modes.c_lflag & libc::ICANON != 0 && key != 0).then_some(key)
}

fn modes(terminal: &OwnedFd) -> io::Result<libc::termios> {
    let mut modes = std::mem::MaybeUninit::<libc::termios>::zeroed();
    // SAFETY: the variable has room for the kernel's answer.
    if unsafe { libc::tcgetattr(terminal.as_raw_fd(), modes.as_mut_ptr()) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: zeroed before and filled in by the kernel.
    Ok(unsafe { modes.assume_init() })
}

/// Makes Backspace erase a whole character instead of its last byte.
fn erase_whole_characters(terminal: &OwnedFd) -> io::Result<()> {
    let mut modes = modes(terminal)?;
    modes.c_iflag |= libc::IUTF8;
    // SAFETY: the kernel reads one structure.
    if unsafe { libc::tcsetattr(terminal.as_raw_fd(), libc::TCSANOW, &raw const modes) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Makes the terminal on standard input the controlling terminal of this session leader. A system call only. Returns
/// whether it succeeded.
pub(super) fn take_control() -> bool {
    // SAFETY: a plain system call.
    unsafe { libc::ioctl(0, libc::TIOCSCTTY as _, 0) == 0 }
}
