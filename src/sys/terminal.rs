//! Pseudo-terminals: two ends, a size, and how lines are read.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// How large a terminal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalSize {
    /// Characters a row, at least 1.
    pub cols: u16,
    /// Rows, at least 1.
    pub rows: u16,
}

/// The end of a new pseudo-terminal that draws and types; not blocking, closed on exec.
pub fn open_terminal(size: TerminalSize) -> io::Result<OwnedFd> {
    // SAFETY: a plain system call.
    let fd = unsafe { libc::posix_openpt(libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just opened, nobody else knows it.
    let master = unsafe { OwnedFd::from_raw_fd(fd) };
    super::set_cloexec(&master)?;
    // SAFETY: a plain call with a descriptor that is open.
    if unsafe { libc::grantpt(fd) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: likewise.
    if unsafe { libc::unlockpt(fd) } < 0 {
        return Err(io::Error::last_os_error());
    }
    super::set_nonblocking(&master)?;
    // Some systems keep nothing for a terminal whose other end was never open.
    let other = open_other_end(&master)?;
    resize_terminal(&master, size)?;
    erase_whole_characters(&other)?;
    Ok(master)
}

/// The end of a pseudo-terminal that programs have; closed on exec, and nobody's controlling terminal yet.
pub fn open_other_end(master: &OwnedFd) -> io::Result<OwnedFd> {
    super::open_slave(master)
}

/// Tells the programs of a terminal that it has another size now.
pub fn resize_terminal(master: &OwnedFd, TerminalSize { cols, rows }: TerminalSize) -> io::Result<()> {
    let size = libc::winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the kernel reads one structure.
    if unsafe { libc::ioctl(master.as_raw_fd(), libc::TIOCSWINSZ, &raw const size) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// The group of processes that keys go to; `None` when there is none.
pub fn foreground_group(master: &OwnedFd) -> Option<i32> {
    // SAFETY: a plain call with a descriptor that is open.
    let group = unsafe { libc::tcgetpgrp(master.as_raw_fd()) };
    (group > 0).then_some(group)
}

/// Where programs read whole lines: the key that hands over what was typed of one. `None` where they read each key.
pub fn line_end_key(master: &OwnedFd) -> Option<u8> {
    let modes = modes(master).ok()?;
    let key = modes.c_cc[libc::VEOF];
    (modes.c_lflag & libc::ICANON != 0 && key != 0).then_some(key)
}

fn modes(terminal: &OwnedFd) -> io::Result<libc::termios> {
    let mut modes = std::mem::MaybeUninit::<libc::termios>::zeroed();
    // SAFETY: there is room for what the kernel writes.
    if unsafe { libc::tcgetattr(terminal.as_raw_fd(), modes.as_mut_ptr()) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: zeroed before and filled in by the kernel.
    Ok(unsafe { modes.assume_init() })
}

/// Backspace takes a whole character, and not the last byte of one.
fn erase_whole_characters(terminal: &OwnedFd) -> io::Result<()> {
    let mut modes = modes(terminal)?;
    modes.c_iflag |= libc::IUTF8;
    // SAFETY: the kernel reads one structure.
    if unsafe { libc::tcsetattr(terminal.as_raw_fd(), libc::TCSANOW, &raw const modes) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Has the terminal on standard input control this process, which leads a session. A system call only. Returns whether it does.
pub(super) fn take_control() -> bool {
    // SAFETY: a plain system call.
    unsafe { libc::ioctl(0, libc::TIOCSCTTY as _, 0) == 0 }
}
