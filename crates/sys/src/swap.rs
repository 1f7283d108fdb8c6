//! Memory that is not written to swap.

use std::io;

/// Keeps the pages of these bytes in memory, until this process ends.
///
/// # Errors
/// If the limit of locked memory is reached (`ulimit -l`).
pub fn keep_out_of_swap(bytes: &[u8]) -> io::Result<()> {
    // SAFETY: no memory is accessed. The range is one of this process.
    match unsafe { libc::mlock(bytes.as_ptr().cast(), bytes.len()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn locked_pages_are_counted_by_the_system() {
        let locked = || {
            let status = std::fs::read_to_string("/proc/self/status").expect("read");
            let line = status.lines().find_map(|line| line.strip_prefix("VmLck:")).expect("a number").to_owned();
            line.trim().trim_end_matches(" kB").parse::<u64>().expect("kB")
        };
        let before = locked();
        let bytes = vec![1; 20_000];
        keep_out_of_swap(&bytes).expect("within the limit");
        assert!(locked() >= before + bytes.len() as u64 / 1024, "{} after {before}", locked());
    }
}
