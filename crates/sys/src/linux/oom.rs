//! The score by which the kernel chooses a process to kill when memory runs out.

use std::ffi::{CStr, CString};
use std::fs;
use std::sync::OnceLock;

/// The lowest `oom_score_adj` of a command: it should die before the host when memory runs out.
pub const OOM_SCORE: i32 = 500;

/// Returns an OOM score of at least 500 and not below the inherited one: when memory runs out, the command must die
/// before the host.
pub fn oom_score() -> &'static CStr {
    static SCORE: OnceLock<CString> = OnceLock::new();
    SCORE.get_or_init(|| {
        let text = fs::read_to_string("/proc/self/oom_score_adj").unwrap_or_default();
        let inherited: i32 = text.trim().parse().unwrap_or(0);
        CString::new(inherited.max(OOM_SCORE).to_string()).unwrap_or_default()
    })
}

/// Sets the OOM score of this process, if it may be raised so. Makes system calls only.
pub(crate) fn raise_oom_score(score: &CStr) {
    // SAFETY: a constant C string.
    let fd = unsafe { libc::open(c"/proc/self/oom_score_adj".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC) };
    if fd >= 0 {
        // SAFETY: the bytes of a C string.
        unsafe { libc::write(fd, score.as_ptr().cast(), score.count_bytes()) };
        // SAFETY: our own descriptor.
        unsafe { libc::close(fd) };
    }
}
