//! The baseline of every ratio: a program that runs a command with as little work as possible.
//!
//! The program is one file, compiled with plain `rustc -O`. It uses libc, and std only for strings and sleeping. It
//! stays up for the whole run, so that no figure includes its own start. It answers one line on stdout for each line on
//! stdin:
//!
//! - `spawn N`: runs `bash -c true` N times, one after another, and answers N times in nanoseconds.
//! - `paced N MS COMMAND` (tab-separated): the same for `bash -c COMMAND`, with a pause of MS milliseconds before each
//!   run.
//! - `drain FILE SIZE COMMAND` (tab-separated): copies the output of `bash -c COMMAND` through a 1 MiB pipe into FILE,
//!   at most SIZE bytes per read, and answers nanoseconds and bytes.
//! - `terminal COMMAND` (tab-separated): reads and discards the output of `bash -c COMMAND` in a pseudo-terminal, and
//!   answers nanoseconds and bytes.
//!
//! `argv[1]` is the bash to start. The commands inherit the environment of this program.
#![no_main]

use std::ffi::{CString, c_char, c_int, c_short, c_void};
use std::io::{BufRead, Write};

/// Room for `posix_spawnattr_t` and `posix_spawn_file_actions_t` of any libc (glibc: 336 and 80 bytes).
type Opaque = [u64; 64];

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

unsafe extern "C" {
    static environ: *const *const c_char;
    fn posix_spawn(
        pid: *mut c_int,
        path: *const c_char,
        actions: *const Opaque,
        attributes: *const Opaque,
        argv: *const *const c_char,
        envp: *const *const c_char,
    ) -> c_int;
    fn posix_spawnattr_init(attributes: *mut Opaque) -> c_int;
    fn posix_spawnattr_setflags(attributes: *mut Opaque, flags: c_short) -> c_int;
    fn posix_spawn_file_actions_init(actions: *mut Opaque) -> c_int;
    fn posix_spawn_file_actions_destroy(actions: *mut Opaque) -> c_int;
    fn posix_spawn_file_actions_adddup2(actions: *mut Opaque, from: c_int, to: c_int) -> c_int;
    fn posix_spawn_file_actions_addopen(
        actions: *mut Opaque,
        descriptor: c_int,
        path: *const c_char,
        flags: c_int,
        mode: u32,
    ) -> c_int;
    #[cfg(target_os = "linux")]
    fn pipe2(descriptors: *mut c_int, flags: c_int) -> c_int;
    #[cfg(not(target_os = "linux"))]
    fn pipe(descriptors: *mut c_int) -> c_int;
    fn fcntl(descriptor: c_int, command: c_int, ...) -> c_int;
    fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    fn read(descriptor: c_int, buffer: *mut c_void, length: usize) -> isize;
    fn write(descriptor: c_int, buffer: *const c_void, length: usize) -> isize;
    fn close(descriptor: c_int) -> c_int;
    fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn posix_openpt(flags: c_int) -> c_int;
    fn grantpt(descriptor: c_int) -> c_int;
    fn unlockpt(descriptor: c_int) -> c_int;
    fn ptsname(descriptor: c_int) -> *const c_char;
    fn clock_gettime(clock: c_int, time: *mut Timespec) -> c_int;
}

const F_SETFD: c_int = 2;
const FD_CLOEXEC: c_int = 1;
const O_WRONLY: c_int = 1;
const O_RDWR: c_int = 2;
const MIB: usize = 1 << 20;

#[cfg(target_os = "linux")]
mod os {
    pub const SPAWN_SETSID: i16 = 0x80;
    pub const CLOCK_MONOTONIC: i32 = 1;
    pub const CREATE_TRUNCATE: i32 = 0o100 | 0o1000;
    pub const F_SETPIPE_SZ: Option<i32> = Some(1031);
    pub const O_NOCTTY: i32 = 0o400;
}
#[cfg(target_os = "macos")]
mod os {
    pub const SPAWN_SETSID: i16 = 0x400;
    pub const CLOCK_MONOTONIC: i32 = 6;
    pub const CREATE_TRUNCATE: i32 = 0x200 | 0x400;
    pub const F_SETPIPE_SZ: Option<i32> = None;
    pub const O_NOCTTY: i32 = 0x20000;
}

fn check(what: &str, code: c_int) {
    if code != 0 {
        eprintln!("baseline: {what}: {code} ({})", std::io::Error::last_os_error());
        std::process::exit(1);
    }
}

fn now() -> i64 {
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    unsafe { clock_gettime(os::CLOCK_MONOTONIC, &mut time) };
    time.seconds * 1_000_000_000 + time.nanoseconds
}

#[cfg(target_os = "linux")]
fn private_pipe() -> [c_int; 2] {
    const O_CLOEXEC: c_int = 0o2000000;
    let mut ends = [0; 2];
    check("pipe2", unsafe { pipe2(ends.as_mut_ptr(), O_CLOEXEC) });
    ends
}

#[cfg(not(target_os = "linux"))]
fn private_pipe() -> [c_int; 2] {
    let mut ends = [0; 2];
    unsafe {
        check("pipe", pipe(ends.as_mut_ptr()));
        fcntl(ends[0], F_SETFD, FD_CLOEXEC);
        fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    }
    ends
}

struct Baseline {
    bash: CString,
    attributes: Opaque,
    buffer: Vec<u8>,
}

impl Baseline {
    fn start(&self, command: &CString, stdout: c_int, stderr: c_int) -> c_int {
        self.start_on(c"/dev/null".as_ptr(), 0, command, stdout, stderr)
    }

    /// Opens `stdin` before it uses the other two descriptors, which may also be 0. A terminal that is opened for
    /// reading and writing becomes the controlling terminal of the session.
    fn start_on(
        &self,
        stdin: *const c_char,
        flags: c_int,
        command: &CString,
        stdout: c_int,
        stderr: c_int,
    ) -> c_int {
        let mut actions: Opaque = [0; 64];
        let mut pid = 0;
        let argv = [c"bash".as_ptr(), c"-c".as_ptr(), command.as_ptr(), std::ptr::null()];
        unsafe {
            posix_spawn_file_actions_init(&mut actions);
            posix_spawn_file_actions_addopen(&mut actions, 0, stdin, flags, 0);
            posix_spawn_file_actions_adddup2(&mut actions, stdout, 1);
            posix_spawn_file_actions_adddup2(&mut actions, stderr, 2);
            let code = posix_spawn(&mut pid, self.bash.as_ptr(), &actions, &self.attributes, argv.as_ptr(), environ);
            check("posix_spawn", code);
            posix_spawn_file_actions_destroy(&mut actions);
        }
        pid
    }

    fn read(&mut self, descriptor: c_int, size: usize) -> usize {
        let length = unsafe { read(descriptor, self.buffer.as_mut_ptr().cast(), size) };
        usize::try_from(length).unwrap_or_else(|_| panic!("read: {}", std::io::Error::last_os_error()))
    }

    fn reap(pid: c_int) {
        let mut status = 0;
        check("waitpid", c_int::from(unsafe { waitpid(pid, &mut status, 0) } != pid));
        check("exit status", status);
    }

    /// Reads both pipes to their end, then reaps the child. A command without output allows one after the other.
    fn spawn(&mut self, command: &CString) -> i64 {
        let started = now();
        let (out, err) = (private_pipe(), private_pipe());
        let pid = self.start(command, out[1], err[1]);
        unsafe {
            close(out[1]);
            close(err[1]);
        }
        for descriptor in [out[0], err[0]] {
            while self.read(descriptor, MIB) > 0 {}
            unsafe { close(descriptor) };
        }
        Self::reap(pid);
        now() - started
    }

    fn drain(&mut self, path: &CString, size: usize, command: &CString) -> (i64, usize) {
        let started = now();
        let out = private_pipe();
        if let Some(set_size) = os::F_SETPIPE_SZ {
            unsafe { fcntl(out[1], set_size, MIB as c_int) };
        }
        let file = unsafe { open(path.as_ptr(), O_WRONLY | os::CREATE_TRUNCATE, 0o600) };
        check("open", c_int::from(file < 0));
        unsafe { fcntl(file, F_SETFD, FD_CLOEXEC) };
        let pid = self.start(command, out[1], 2);
        unsafe { close(out[1]) };
        let mut total = 0;
        loop {
            let length = self.read(out[0], size.min(MIB));
            if length == 0 {
                break;
            }
            let mut written = 0;
            while written < length {
                let part = unsafe { write(file, self.buffer.as_ptr().add(written).cast(), length - written) };
                check("write", c_int::from(part <= 0));
                written += part as usize;
            }
            total += length;
        }
        unsafe {
            close(out[0]);
            close(file);
        }
        Self::reap(pid);
        (now() - started, total)
    }

    /// A terminal returns one page per read, whatever the size of the buffer.
    fn terminal(&mut self, command: &CString) -> (i64, usize) {
        let started = now();
        let (master, name) = unsafe {
            let master = posix_openpt(O_RDWR | os::O_NOCTTY);
            check("posix_openpt", c_int::from(master < 0));
            fcntl(master, F_SETFD, FD_CLOEXEC);
            check("grantpt", grantpt(master));
            check("unlockpt", unlockpt(master));
            (master, ptsname(master))
        };
        let pid = self.start_on(name, O_RDWR, command, 0, 0);
        let mut total = 0;
        // The end is an error on Linux, and an empty read on macOS.
        while let Ok(length @ 1..) = usize::try_from(unsafe { read(master, self.buffer.as_mut_ptr().cast(), MIB) }) {
            total += length;
        }
        unsafe { close(master) };
        Self::reap(pid);
        (now() - started, total)
    }
}

fn text(value: &str) -> CString {
    CString::new(value).expect("no NUL in a request")
}

#[unsafe(no_mangle)]
extern "C" fn main(_count: c_int, arguments: *const *const c_char) -> c_int {
    let bash = unsafe { std::ffi::CStr::from_ptr(*arguments.add(1)) }.to_owned();
    let mut attributes: Opaque = [0; 64];
    unsafe {
        check("posix_spawnattr_init", posix_spawnattr_init(&mut attributes));
        check("posix_spawnattr_setflags", posix_spawnattr_setflags(&mut attributes, os::SPAWN_SETSID));
    }
    let mut baseline = Baseline { bash, attributes, buffer: vec![0; MIB] };
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("a request in UTF-8");
        let mut words = line.split('\t');
        let answer = match (words.next(), words.next(), words.next(), words.next()) {
            (Some("spawn"), Some(count), None, None) => {
                let command = text("true");
                let count: usize = count.parse().expect("a count");
                let times: Vec<String> = (0..count).map(|_| baseline.spawn(&command).to_string()).collect();
                times.join(" ")
            }
            (Some("paced"), Some(count), Some(pause), Some(command)) => {
                let command = text(command);
                let (count, pause): (usize, u64) = (count.parse().expect("a count"), pause.parse().expect("ms"));
                let mut times = Vec::with_capacity(count);
                for _ in 0..count {
                    std::thread::sleep(std::time::Duration::from_millis(pause));
                    times.push(baseline.spawn(&command).to_string());
                }
                times.join(" ")
            }
            (Some("drain"), Some(path), Some(size), Some(command)) => {
                let size = size.parse().expect("a size");
                let (time, bytes) = baseline.drain(&text(path), size, &text(command));
                format!("{time} {bytes}")
            }
            (Some("terminal"), Some(command), None, None) => {
                let (time, bytes) = baseline.terminal(&text(command));
                format!("{time} {bytes}")
            }
            _ => panic!("unknown request: {line}"),
        };
        println!("{answer}");
        std::io::stdout().flush().expect("an answer can be written");
    }
    0
}
