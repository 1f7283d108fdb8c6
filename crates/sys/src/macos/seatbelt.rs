//! Seatbelt, the sandbox of macOS.

use std::ffi::{CStr, c_char, c_int};

/// Whether profiles of Seatbelt confine processes.
pub const HAS_SEATBELT: bool = true;

unsafe extern "C" {
    // Of libSystem. Deprecated without a successor, and used by browsers and sandbox-exec.
    fn sandbox_init(profile: *const c_char, flags: u64, error: *mut *mut c_char) -> c_int;
}

/// Confines this process and all that it starts by the text of a profile, for ever. Not async-signal-safe: called in
/// the child of a process with one thread.
pub(crate) fn apply_profile(profile: &CStr) -> Result<(), i32> {
    let mut error = std::ptr::null_mut();
    // SAFETY: the profile is a C string and the other pointer is valid. The message is never freed: this process ends
    // or executes a program next.
    let result = unsafe { sandbox_init(profile.as_ptr(), 0, &raw mut error) };
    if result == 0 { Ok(()) } else { Err(libc::EPERM) }
}
