//! The tap: the first pipe of a command leads through the host, which keeps what flows.
//!
//! Bash has inherited one end of each of two pipes, whose other ends the host holds. When it makes the first pipe of
//! its command, these ends get the numbers that the system gave for it. Bash and its children see a pipe like any
//! other.

use core::ffi::c_int;
use core::sync::atomic::Ordering;

use crate::WitnessState;
use crate::area::{TAP_REFUSED, TAP_TAKEN, TAP_WANTED, WitnessAreaHeader, flag};

unsafe extern "C" {
    fn close(fd: c_int) -> c_int;
    fn dup2(from: c_int, to: c_int) -> c_int;
    fn fcntl(fd: c_int, command: c_int, ...) -> c_int;
}

type PipeFn = unsafe extern "C" fn(*mut c_int) -> c_int;

real!(real_pipe, c"pipe", PipeFn);

const F_GETFD: c_int = 1;
const F_SETFD: c_int = 2;
const FD_CLOEXEC: c_int = 1;

/// Hides the ends from programs that bash starts before its command has a pipe.
pub fn begin(header: *mut WitnessAreaHeader) {
    // SAFETY: The area is mapped.
    let header = unsafe { &*header };
    if ends(header)[0] != 0 {
        for end in ends(header) {
            // SAFETY: Marks a descriptor of the host.
            unsafe { fcntl(end, F_SETFD, FD_CLOEXEC) };
        }
        real_pipe();
    }
}

/// Stands before the C library's `pipe`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pipe(made: *mut c_int) -> c_int {
    // SAFETY: Calls what bash called.
    let result = unsafe { real_pipe()(made) };
    if result == 0
        && let Some(witness) = crate::witness()
        && is_first(witness)
    {
        // SAFETY: The area stays mapped.
        let header = unsafe { &*witness.header };
        // Code that ran before may have used the numbers for files of its own.
        // SAFETY: Asks for the flags of a descriptor.
        let [read, write] = ends(header).map(|end| unsafe { fcntl(end, F_GETFD) } == FD_CLOEXEC);
        let takes = read && write && is_plain(witness);
        header.tap.store(if takes { TAP_TAKEN } else { TAP_REFUSED }, Ordering::Release);
        // SAFETY: Bash gave room for two numbers, and the system has written them.
        let numbers = unsafe { [*made, *made.add(1)] };
        for ((end, number), is_ours) in ends(header).into_iter().zip(numbers).zip([read, write]) {
            if takes {
                // SAFETY: Puts the host's end in the place of a descriptor that only this function knows.
                unsafe { dup2(end, number) };
            }
            if is_ours {
                // SAFETY: Nothing else uses the end.
                unsafe { close(end) };
            }
        }
    }
    result
}

/// Returns whether the pipe is the first one that the command's own shell makes.
fn is_first(witness: &WitnessState) -> bool {
    // SAFETY: The area stays mapped.
    let header = unsafe { &*witness.header };
    header.tap.load(Ordering::Acquire) == TAP_WANTED
        && witness.process.get() == 0
        && witness.flags() & flag::COMMAND != 0
}

/// Returns whether a pipe is that of a pipeline: no function or trap makes it, and it is not for the control of jobs.
fn is_plain(witness: &WitnessState) -> bool {
    witness.flags() & flag::TRAP == 0
        && WitnessState::value(witness.functions) == 0
        && WitnessState::value(witness.jobs) == 0
}

fn ends(header: &WitnessAreaHeader) -> [c_int; 2] {
    [header.tap_ends[0].load(Ordering::Relaxed), header.tap_ends[1].load(Ordering::Relaxed)]
}
