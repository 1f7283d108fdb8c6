//! The witness: a library in the command's own bash that notes which processes the shell starts, and how each ends.
//!
//! The dynamic loader puts it there through `LD_PRELOAD=/proc/self/fd/N`. Behind its own bytes, the file N has an area
//! for events that the host reads (`area.rs`). The library leaves no variable and no descriptor behind, and children of
//! bash lose it when they execute a program. It stands before five functions of the C library and changes nothing of
//! what they do, but for the first pipe of a command whose output is kept (`tap.rs`). Bash exports the variables that
//! say where it is in its command: loadable builtins need them.
//!
//! `build.rs` builds it without a C library of its own, so that glibc and musl take the same file.

#![no_std]
#![deny(unsafe_op_in_unsafe_fn)]

mod area;
#[macro_use]
mod real;
mod tap;

use core::cell::{Cell, UnsafeCell};
use core::ffi::{CStr, c_char, c_int, c_long, c_void};
use core::sync::atomic::{AtomicU32, Ordering};
use core::{mem, ptr, slice};

use area::{
    AREA, KIND_EXEC, KIND_EXIT, KIND_FORK, KIND_WAIT, MAGIC, SIZE, SLOTS, TEXT, TEXTS, WORDS, WitnessAreaHeader,
    WitnessEventSlot, flag,
};

unsafe extern "C" {
    static environ: *mut *mut c_char;
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn mmap(at: *mut c_void, size: usize, protection: c_int, flags: c_int, fd: c_int, offset: c_long) -> *mut c_void;
    fn close(fd: c_int) -> c_int;
    fn getcwd(buffer: *mut c_char, size: usize) -> *mut c_char;
    fn __errno_location() -> *mut c_int;
}

type ForkFn = unsafe extern "C" fn() -> c_int;
type WaitpidFn = unsafe extern "C" fn(c_int, *mut c_int, c_int) -> c_int;
type ExecveFn = unsafe extern "C" fn(*const c_char, *const *const c_char, *const *const c_char) -> c_int;
type ExitFn = unsafe extern "C" fn(c_int) -> !;

const RTLD_NEXT: *mut c_void = -1_isize as *mut c_void;
const ENOEXEC: c_int = 8;
/// Longest directory that is kept, in bytes.
const DIRECTORY: usize = 1024;
/// The exit codes of a shell whose program could not be executed, or was not found.
const NOT_EXECUTED: c_int = 126;
const NOT_FOUND: c_int = 127;
const PROT_READ_WRITE: c_int = 3;
const MAP_SHARED: c_int = 1;

/// An event without content.
const EMPTY: WitnessEventSlot = WitnessEventSlot {
    kind: 0,
    process: 0,
    pid: 0,
    value: 0,
    environment: 0,
    flags: 0,
    status: 0,
    text_at: 0,
    text_length: 0,
    kept_at: 0,
    kept_length: 0,
    words_at: 0,
    words_length: 0,
    directory_at: 0,
    directory_length: 0,
};

/// Variables of bash, and the area of events.
struct WitnessState {
    header: *mut WitnessAreaHeader,
    /// The number of the event with which this process was forked. 0 in the command's own shell.
    process: Cell<u32>,
    /// The last text that this process stored: where, and how long.
    last: Cell<(u32, u32)>,
    /// Whether nothing is noted any more.
    over: Cell<bool>,
    printed: *const *const c_char,
    kept: *const *const c_char,
    environment: *const c_int,
    status: *const c_int,
    executing: *const c_int,
    sourcing: *const c_int,
    errexit: *const c_int,
    pipefail: *const c_int,
    lastpipe: *const c_int,
    trap: *const c_int,
    functions: *const c_int,
    jobs: *const c_int,
}

/// The witness of this process. Bash has one thread. Its handler of SIGCHLD may call `waitpid` while another event is
/// written, and that event has a slot of its own and stores no text.
struct WitnessCell(UnsafeCell<Option<WitnessState>>);

// SAFETY: As above: there is one thread.
unsafe impl Sync for WitnessCell {}

static WITNESS: WitnessCell = WitnessCell(UnsafeCell::new(None));

/// Returns the witness, if it notes events.
fn witness() -> Option<&'static WitnessState> {
    // SAFETY: The place is written once, before bash runs.
    let witness: Option<&'static WitnessState> = unsafe { (*WITNESS.0.get()).as_ref() };
    witness.filter(|witness| !witness.over.get())
}

#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: unsafe extern "C" fn(c_int, *mut *mut c_char, *mut *mut c_char) = begin;

/// Takes the library out of the environment, and begins. Glibc passes the environment, musl has set `environ`.
unsafe extern "C" fn begin(_: c_int, _: *mut *mut c_char, passed: *mut *mut c_char) {
    // SAFETY: Reads a pointer that the C library sets before it runs other code, or has not set yet.
    let set = unsafe { environ };
    // SAFETY: One of the two is the array of the environment, which no other code reads yet.
    let Some(own) = (unsafe { PreloadEntry::find(if set.is_null() { passed } else { set }) }) else { return };
    // SAFETY: Maps a part of the file whose descriptor was in the entry.
    let mapped = unsafe { mmap(ptr::null_mut(), SIZE, PROT_READ_WRITE, MAP_SHARED, own.fd, AREA as c_long) };
    // SAFETY: Nothing else uses the descriptor.
    unsafe { close(own.fd) };
    let header: *mut WitnessAreaHeader = mapped.cast();
    // SAFETY: A mapping that succeeded has the size of the area.
    let header = unsafe { header.as_ref() }.filter(|header| mapped as isize != -1 && header.magic == MAGIC);
    let entry = header.and_then(|header| header.entry.get(..header.entry_length as usize)).unwrap_or_default();
    // SAFETY: The array has not changed.
    unsafe { own.take(entry) };
    if header.is_none() {
        return;
    }
    // A handler of signals may not look symbols up, so that is done now.
    real_fork();
    real_waitpid();
    real_execve();
    real_exit();
    tap::begin(mapped.cast());
    // SAFETY: Looks variables of bash up, whose types have been the same since bash 4.4. Nothing else runs yet.
    unsafe { *WITNESS.0.get() = WitnessState::find(mapped.cast()) };
    if let Some(witness) = witness() {
        // SAFETY: The area is mapped.
        unsafe { (*witness.header).begun.store(1, Ordering::Release) };
    }
}

/// The library's own entry of the environment.
struct PreloadEntry {
    /// Its place in the array.
    at: *mut *mut c_char,
    /// The descriptor in it.
    fd: c_int,
    /// Where the caller's own libraries begin, behind a colon. `None` without any.
    others: Option<usize>,
}

impl PreloadEntry {
    const NAME: &[u8] = b"LD_PRELOAD=";

    /// Finds the entry: `LD_PRELOAD=/proc/self/fd/N`, with any number of slashes, and the caller's libraries behind it.
    unsafe fn find(mut at: *mut *mut c_char) -> Option<Self> {
        // SAFETY: The array ends with a null pointer, and each entry before it with a null byte.
        while let Some(entry) = unsafe { at.as_ref() }.filter(|entry| !entry.is_null()) {
            // SAFETY: As above.
            let bytes = unsafe { CStr::from_ptr(*entry) }.to_bytes();
            if let Some(path) = bytes.strip_prefix(Self::NAME).and_then(|value| value.strip_prefix(b"/proc/self/fd/")) {
                let slashes = path.iter().take_while(|byte| **byte == b'/').count();
                let digits = path[slashes..].iter().take_while(|byte| byte.is_ascii_digit());
                let end = bytes.len() - path.len() + slashes + digits.clone().count();
                let fd = digits.fold(0, |number, digit| number * 10 + c_int::from(digit - b'0'));
                return Some(Self { at, fd, others: (bytes.get(end) == Some(&b':')).then_some(end + 1) });
            }
            // SAFETY: The entry was not the last one.
            at = unsafe { at.add(1) };
        }
        None
    }

    /// Takes the entry out, so that bash finds the environment of its caller. If `entry` has the same length, it stands
    /// in its place.
    unsafe fn take(mut self, entry: &[u8]) {
        // SAFETY: The entry is there, and nothing else reads or writes it meanwhile.
        let bytes =
            unsafe { slice::from_raw_parts_mut((*self.at).cast::<u8>(), CStr::from_ptr(*self.at).count_bytes()) };
        if let Some(others) = self.others {
            // The name moves in front of the caller's libraries.
            let start = others - Self::NAME.len();
            bytes[..start].fill(0);
            bytes[start..others].copy_from_slice(Self::NAME);
            // SAFETY: The new start lies within the entry.
            unsafe { *self.at = (*self.at).add(start) };
        } else if bytes.len() == entry.len() {
            bytes.copy_from_slice(entry);
        } else {
            bytes.fill(0);
            // SAFETY: Moves the rest of the array by one, with the null pointer at its end.
            unsafe {
                while !(*self.at).is_null() {
                    *self.at = *self.at.add(1);
                    self.at = self.at.add(1);
                }
            }
        }
    }
}

/// Looks a symbol up: of the whole program, or behind this library.
unsafe fn symbol<T>(handle: *mut c_void, name: &CStr) -> *const T {
    // SAFETY: The name ends with a null byte.
    unsafe { dlsym(handle, name.as_ptr()) }.cast()
}

impl WitnessState {
    unsafe fn find(header: *mut WitnessAreaHeader) -> Option<Self> {
        // SAFETY: The caller vouches for the types.
        let printed: *const *const c_char = unsafe { symbol(ptr::null_mut(), c"the_printed_command") };
        if printed.is_null() {
            return None;
        }
        macro_rules! variable {
            ($name:literal) => {
                // SAFETY: As above.
                unsafe { symbol(ptr::null_mut(), $name) }
            };
        }
        Some(Self {
            header,
            process: Cell::new(0),
            last: Cell::new((0, 0)),
            over: Cell::new(false),
            printed,
            kept: variable!(c"the_printed_command_except_trap"),
            environment: variable!(c"subshell_environment"),
            status: variable!(c"last_command_exit_value"),
            executing: variable!(c"parse_and_execute_level"),
            sourcing: variable!(c"sourcelevel"),
            errexit: variable!(c"exit_immediately_on_error"),
            pipefail: variable!(c"pipefail_opt"),
            lastpipe: variable!(c"lastpipe_opt"),
            trap: variable!(c"running_trap"),
            functions: variable!(c"variable_context"),
            jobs: variable!(c"job_control"),
        })
    }

    /// Returns the value of a variable of bash, or 0 if this bash lacks it.
    fn value(variable: *const c_int) -> c_int {
        // SAFETY: A variable that was found lives as long as bash.
        unsafe { variable.as_ref() }.copied().unwrap_or(0)
    }

    fn flags(&self) -> u32 {
        let set = |flag: u32, variable| if Self::value(variable) == 0 { 0 } else { flag };
        let inside = Self::value(self.executing) > Self::value(self.sourcing);
        set(flag::ERREXIT, self.errexit)
            | set(flag::PIPEFAIL, self.pipefail)
            | set(flag::LASTPIPE, self.lastpipe)
            | set(flag::TRAP, self.trap)
            | if inside { flag::COMMAND } else { 0 }
    }

    /// Returns the next number of a counter, or `None` and counts the loss if it has reached its bound.
    fn take(&self, counter: &AtomicU32, amount: u32, bound: u32) -> Option<u32> {
        let next = |used: u32| used.checked_add(amount).filter(|used| *used <= bound);
        let taken = counter.fetch_update(Ordering::AcqRel, Ordering::Relaxed, next).ok();
        if taken.is_none() {
            // SAFETY: The area stays mapped.
            unsafe { (*self.header).lost.store(1, Ordering::Release) };
        }
        taken
    }

    /// Stores bytes. A text that was stored last is not stored again.
    fn store(&self, bytes: &[u8]) -> (u32, u32) {
        // SAFETY: The area stays mapped; the header is its beginning.
        let texts = unsafe { self.header.cast::<u8>().add(TEXT) };
        let (at, length) = self.last.get();
        // SAFETY: These bytes were stored by this process or one that forked it.
        if length as usize == bytes.len()
            && unsafe { slice::from_raw_parts(texts.add(at as usize), bytes.len()) } == bytes
        {
            return (at, length);
        }
        // SAFETY: The area stays mapped.
        let counter = unsafe { &(*self.header).text };
        let Some(at) = self.take(counter, bytes.len() as u32, TEXTS as u32) else { return (0, 0) };
        // SAFETY: The counter gave these bytes of the area to this call alone.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), texts.add(at as usize), bytes.len()) };
        self.last.set((at, bytes.len() as u32));
        self.last.get()
    }

    fn text(&self, variable: *const *const c_char) -> (u32, u32) {
        // SAFETY: A variable that was found lives as long as bash.
        let text = unsafe { variable.as_ref() }.copied().unwrap_or(ptr::null());
        if text.is_null() {
            return (0, 0);
        }
        // SAFETY: Bash ends its texts with a null byte.
        self.store(unsafe { CStr::from_ptr(text) }.to_bytes())
    }

    /// Stores the directory in which the process is, for the event in a slot.
    fn directory(&self, slot: *mut WitnessEventSlot) {
        let mut directory = [0_u8; DIRECTORY];
        // SAFETY: The buffer has this size, and ends with a null byte if it was filled.
        let path = unsafe { getcwd(directory.as_mut_ptr().cast(), DIRECTORY) };
        if !path.is_null() {
            // SAFETY: As above.
            let (at, length) = self.store(unsafe { CStr::from_ptr(path) }.to_bytes());
            // SAFETY: The slot is this event's own.
            unsafe { ((*slot).directory_at, (*slot).directory_length) = (at, length) };
        }
    }

    /// Writes an event, and returns its number and place.
    fn write(&self, mut event: WitnessEventSlot, texts: bool) -> Option<(u32, *mut WitnessEventSlot)> {
        if texts {
            (event.text_at, event.text_length) = self.text(self.printed);
            (event.kept_at, event.kept_length) = self.text(self.kept);
        }
        event.process = self.process.get();
        event.environment = Self::value(self.environment) as u32;
        event.status = Self::value(self.status);
        event.flags = self.flags();
        // SAFETY: The area stays mapped.
        let number = self.take(unsafe { &(*self.header).events }, 1, SLOTS as u32)?;
        // SAFETY: The counter gave this slot to this call alone, and it lies in the area.
        let slot = unsafe {
            self.header
                .cast::<u8>()
                .add(mem::size_of::<WitnessAreaHeader>())
                .cast::<WitnessEventSlot>()
                .add(number as usize)
        };
        let kind = mem::take(&mut event.kind);
        // SAFETY: As above.
        unsafe { slot.write(event) };
        // SAFETY: As above. The kind is last: a slot without a kind is not read.
        unsafe { AtomicU32::from_ptr(&raw mut (*slot).kind) }.store(kind, Ordering::Release);
        Some((number, slot))
    }
}

real!(real_fork, c"fork", ForkFn);
real!(real_waitpid, c"waitpid", WaitpidFn);
real!(real_execve, c"execve", ExecveFn);
real!(real_exit, c"exit", ExitFn);

/// Stands before the C library's `fork`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fork() -> c_int {
    let witness = witness();
    let written = witness.and_then(|witness| witness.write(WitnessEventSlot { kind: KIND_FORK, ..EMPTY }, true));
    // SAFETY: Calls what bash called.
    let child = unsafe { real_fork()() };
    match (child, written, witness) {
        (0, Some((number, _)), Some(witness)) => witness.process.set(number + 1),
        // Events of a process whose start was lost have no place.
        (0, None, Some(witness)) => witness.over.set(true),
        // SAFETY: The slot is this event's own.
        (child, Some((_, slot)), _) => unsafe { (*slot).pid = child },
        _ => {}
    }
    child
}

/// Stands before the C library's `waitpid`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int {
    let mut own = 0;
    let place = if status.is_null() { &raw mut own } else { status };
    // SAFETY: Calls what bash called, with a place for the status in any case.
    let waited = unsafe { real_waitpid()(pid, place, options) };
    if waited > 0
        && let Some(witness) = witness()
    {
        // SAFETY: A wait that returned a process has written its status.
        let value = unsafe { *place };
        let goes_on = value & 0xff == 0x7f || value == 0xffff;
        if !goes_on {
            witness.write(WitnessEventSlot { kind: KIND_WAIT, pid: waited, value, ..EMPTY }, false);
        }
    }
    waited
}

/// Stands before the C library's `execve`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn execve(
    path: *const c_char,
    words: *const *const c_char,
    environment: *const *const c_char,
) -> c_int {
    if let Some(witness) = witness()
        && let Some((_, slot)) = witness.write(WitnessEventSlot { kind: KIND_EXEC, ..EMPTY }, true)
    {
        let mut joined = [0; WORDS as usize];
        // SAFETY: Bash ends the array with a null pointer and each word with a null byte.
        let length = unsafe { join(words, &mut joined) };
        let (at, length) = witness.store(&joined[..length]);
        // SAFETY: The slot is this event's own.
        unsafe { ((*slot).words_at, (*slot).words_length) = (at, length) };
        witness.directory(slot);
    }
    // SAFETY: Calls what bash called.
    let failed = unsafe { real_execve()(path, words, environment) };
    // SAFETY: The place of this thread's error.
    if unsafe { *__errno_location() } == ENOEXEC
        && let Some(witness) = witness()
    {
        // Bash runs a script without an interpreter itself. It is a program like any other.
        witness.over.set(true);
    }
    failed
}

/// Stands before the C library's `exit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn exit(code: c_int) -> ! {
    if let Some(witness) = witness()
        && let Some((_, slot)) = witness.write(WitnessEventSlot { kind: KIND_EXIT, value: code, ..EMPTY }, true)
        && (code == NOT_EXECUTED || code == NOT_FOUND)
    {
        witness.directory(slot);
    }
    // SAFETY: Calls what bash called.
    unsafe { real_exit()(code) }
}

/// Joins words with null bytes, as far as there is room. Returns the bytes used.
unsafe fn join(words: *const *const c_char, joined: &mut [u8]) -> usize {
    let (mut used, mut at) = (0, words);
    // SAFETY: The array ends with a null pointer, and each word with a null byte.
    while let Some(word) = unsafe { at.as_ref() }.filter(|word| !word.is_null()) {
        // SAFETY: As above.
        let word = unsafe { CStr::from_ptr(*word) }.to_bytes_with_nul();
        let room = joined.len() - used;
        let taken = word.len().min(room);
        joined[used..used + taken].copy_from_slice(&word[..taken]);
        used += taken;
        if taken == room {
            break;
        }
        // SAFETY: The word was not the last one.
        at = unsafe { at.add(1) };
    }
    used
}

/// Never called: nothing here panics, and the library is built without unwinding.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

/// The name that code of `core`, which was built with unwinding, refers to.
#[unsafe(no_mangle)]
pub extern "C" fn rust_eh_personality() {}
