//! The witness of a command: the library that bash loads, and the events that it writes.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::ptr;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use nix::errno::Errno;
use nix::sys::memfd::{MFdFlags, memfd_create};

use crate::witness::{PipelineTapState, WitnessEvent, WitnessEventKind, WitnessTrace};
use area::{
    AREA, ENTRY, KIND_EXEC, KIND_EXIT, KIND_FORK, KIND_WAIT, MAGIC, SIZE, SLOTS, TAP_REFUSED, TAP_TAKEN, TAP_WANTED,
    TEXT, TEXTS, WORDS, WitnessAreaHeader, flag,
};

#[path = "../../witness/area.rs"]
mod area;

/// The library, as `build.rs` builds it.
const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/witness.so"));

const _: () = assert!(LIBRARY.len() <= AREA, "the area lies behind the library");

/// A library for one command's bash, and the events that it writes.
#[derive(Debug)]
pub struct BashWitness {
    file: File,
}

impl BashWitness {
    /// Creates the file that bash loads. `entry` is the entry of the environment in whose place the library's own one
    /// stands, which must have the same length. Empty: there is none. `tap` has the numbers of the ends of a tap, if
    /// the shell inherits some: one to read from, and one to write to.
    ///
    /// # Errors
    /// If the system gives no file in memory.
    pub fn create(entry: &[u8], tap: Option<[RawFd; 2]>) -> io::Result<Self> {
        // Kernels before 6.3 do not know the flag and need none. A system that forbids programs in memory refuses it.
        let executable =
            memfd_create(c"agent-bash", MFdFlags::MFD_CLOEXEC | MFdFlags::from_bits_retain(libc::MFD_EXEC));
        let fd = match executable {
            Err(Errno::EINVAL) => memfd_create(c"agent-bash", MFdFlags::MFD_CLOEXEC)?,
            made => made?,
        };
        let mut file = File::from(fd);
        file.write_all(LIBRARY)?;
        let entry = if entry.len() <= ENTRY { entry } else { &[] };
        let ends = tap.unwrap_or_default().map(RawFd::cast_unsigned);
        let words = [MAGIC, 0, 0, 0, 0, 0, ends[0], ends[1], entry.len() as u32];
        let header = [&words.map(u32::to_ne_bytes).concat(), entry].concat();
        file.write_all_at(&header, AREA as u64)?;
        file.set_len((AREA + SIZE) as u64)?;
        Ok(Self { file })
    }

    /// Returns the witness of a file that another process created.
    #[must_use]
    pub fn of(file: OwnedFd) -> Option<Self> {
        Some(Self { file: file.into() })
    }

    /// Returns another handle of the same file, for the process that starts bash.
    ///
    /// # Errors
    /// If no descriptor is free.
    pub fn share(&self) -> io::Result<OwnedFd> {
        self.file.as_fd().try_clone_to_owned()
    }

    /// Sets what becomes of the ends of a tap. [`PipelineTapState::Wanted`]: the first pipe of the command leads
    /// through the host. The shell must have the ends.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn set_tap(&self, state: PipelineTapState) -> io::Result<()> {
        let state = match state {
            PipelineTapState::None => 0,
            PipelineTapState::Wanted => TAP_WANTED,
            PipelineTapState::Taken => TAP_TAKEN,
            PipelineTapState::Refused => TAP_REFUSED,
        };
        self.file.write_all_at(&state.to_ne_bytes(), TAP_AT)
    }

    /// Returns what became of the ends of a tap.
    #[must_use]
    pub fn tap(&self) -> PipelineTapState {
        let mut state = [0; 4];
        match self.file.read_exact_at(&mut state, TAP_AT).map(|()| u32::from_ne_bytes(state)) {
            Ok(TAP_WANTED) => PipelineTapState::Wanted,
            Ok(TAP_TAKEN) => PipelineTapState::Taken,
            Ok(TAP_REFUSED) => PipelineTapState::Refused,
            _ => PipelineTapState::None,
        }
    }

    /// Returns the number of events so far.
    #[must_use]
    pub fn events(&self) -> usize {
        self.header().map_or(0, |[_, _, events, ..]| events as usize).min(SLOTS)
    }

    /// Reads the events from this number on. `None` if bash did not load the library.
    ///
    /// The shell may have written anything into the area, so nothing in it is trusted.
    #[must_use]
    pub fn read(&self, from: usize) -> Option<WitnessTrace> {
        let [magic, begun, events, ..] = self.header()?;
        if magic != MAGIC || begun == 0 {
            return None;
        }
        let mut slots = vec![0; (events as usize).min(SLOTS) * size_of::<area::WitnessEventSlot>()];
        self.file.read_exact_at(&mut slots, (AREA + size_of::<WitnessAreaHeader>()) as u64).ok()?;
        // Processes that still run write on. An event that was read names texts that were counted before.
        let [.., text, lost] = self.header()?;
        let mut bytes = vec![0; (text as usize).min(TEXTS)];
        self.file.read_exact_at(&mut bytes, (AREA + TEXT) as u64).ok()?;
        let mut texts = WitnessTexts { left: 4 * TEXTS, bytes, known: HashMap::new() };
        let slots = slots.as_chunks::<{ size_of::<area::WitnessEventSlot>() }>().0;
        let events: Vec<_> =
            slots.iter().enumerate().skip(from).map(|(number, slot)| event(number, slot, &mut texts)).collect();
        let lost = lost != 0 || events.iter().any(Option::is_none);
        Some(WitnessTrace { events: events.into_iter().flatten().collect(), lost })
    }

    /// Returns whether the system lets programs run code of the file.
    fn can_run(&self) -> bool {
        // SAFETY: Maps a part of our own file at a free place.
        let mapped = unsafe {
            let flags = libc::MAP_PRIVATE;
            libc::mmap(ptr::null_mut(), AREA, libc::PROT_READ | libc::PROT_EXEC, flags, self.file.as_raw_fd(), 0)
        };
        if mapped == libc::MAP_FAILED {
            return false;
        }
        // SAFETY: Nothing refers to the mapping.
        unsafe { libc::munmap(mapped, AREA) };
        true
    }

    fn header(&self) -> Option<[u32; 5]> {
        let mut bytes = [0; 20];
        self.file.read_exact_at(&mut bytes, AREA as u64).ok()?;
        let mut words = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_ne_bytes(*word));
        Some(std::array::from_fn(|_| words.next().unwrap_or(0)))
    }
}

impl AsFd for BashWitness {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Where the state of a tap is in the file.
const TAP_AT: u64 = (AREA + std::mem::offset_of!(WitnessAreaHeader, tap)) as u64;

/// The texts of the area.
struct WitnessTexts {
    bytes: Vec<u8>,
    /// Texts that were read. Events share them, as most commands of a loop are equal.
    known: HashMap<(u32, u32), Arc<str>>,
    /// Bytes that may still be copied, since the shell may have named any range as often as it liked.
    left: usize,
}

impl WitnessTexts {
    /// Returns a text. `None` if it does not lie in the area, or too much was read.
    fn text(&mut self, at: u32, length: u32) -> Option<Arc<str>> {
        if let Some(known) = self.known.get(&(at, length)) {
            return Some(Arc::clone(known));
        }
        self.left = self.left.checked_sub(length as usize)?;
        let text = Arc::from(String::from_utf8_lossy(self.piece(at, length)?));
        self.known.insert((at, length), Arc::clone(&text));
        Some(text)
    }

    /// Returns the words of a program, as far as the library keeps them.
    fn words(&self, at: u32, length: u32) -> Option<WitnessEventKind> {
        let bytes = self.piece(at, length.min(WORDS))?;
        let words = bytes.split_inclusive(|byte| *byte == 0).map(|word| word.strip_suffix(b"\0").unwrap_or(word));
        let words = words.map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        Some(WitnessEventKind::Executed { words, whole: length < WORDS })
    }

    fn piece(&self, at: u32, length: u32) -> Option<&[u8]> {
        self.bytes.get(at as usize..(at as usize).checked_add(length as usize)?)
    }
}

/// Returns the event in a slot. `None` if it was never finished, or names what is not there.
fn event(
    number: usize,
    slot: &[u8; size_of::<area::WitnessEventSlot>()],
    texts: &mut WitnessTexts,
) -> Option<WitnessEvent> {
    let mut words = slot.as_chunks::<4>().0.iter().map(|word| u32::from_ne_bytes(*word));
    let mut next = || words.next().unwrap_or(0);
    let [kind, process, pid, value, environment, flags, status] = std::array::from_fn(|_| next());
    let (text, kept) = (texts.text(next(), next())?, texts.text(next(), next())?);
    let (words_at, words_length) = (next(), next());
    let directory = texts.text(next(), next())?;
    let happened = match kind {
        KIND_FORK => WitnessEventKind::Forked { pid: pid.cast_signed() },
        KIND_WAIT => WitnessEventKind::Waited { pid: pid.cast_signed(), status: value.cast_signed() },
        KIND_EXEC => texts.words(words_at, words_length)?,
        KIND_EXIT => WitnessEventKind::Exited { code: value.cast_signed() },
        _ => return None,
    };
    Some(WitnessEvent {
        number,
        process: process as usize,
        happened,
        text,
        kept,
        directory,
        status: status.cast_signed(),
        substitution: environment & (SUBSHELL_COMSUB | SUBSHELL_PROCSUB) != 0,
        errexit: flags & flag::ERREXIT != 0,
        pipefail: flags & flag::PIPEFAIL != 0,
        lastpipe: flags & flag::LASTPIPE != 0,
        in_trap: flags & flag::TRAP != 0,
        in_command: flags & flag::COMMAND != 0,
    })
}

/// Bash's mark of a process that runs `$(…)`.
const SUBSHELL_COMSUB: u32 = 0x04;
/// Bash's mark of a process that runs `<(…)` or `>(…)`.
const SUBSHELL_PROCSUB: u32 = 0x20;

/// Returns whether a program is a bash that loads the library: linked dynamically, for this machine, with exported
/// variables, and without other rights than its caller. Each file is read once.
#[must_use]
pub fn takes_witness(program: &Path) -> bool {
    static KNOWN: LazyLock<Mutex<WitnessSupportCache>> = LazyLock::new(Mutex::default);
    static LOADS: LazyLock<bool> =
        LazyLock::new(|| BashWitness::create(&[], None).is_ok_and(|witness| witness.can_run()));
    let Ok(metadata) = fs::metadata(program) else { return false };
    let key = (metadata.dev(), metadata.ino(), metadata.mtime());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    *known.entry(key).or_insert_with(|| {
        let raised = metadata.mode() & 0o6000 != 0 || rustix::fs::getxattr(program, CAPABILITIES, &mut [0; 32]).is_ok();
        !raised
            && metadata.is_file()
            && *LOADS
            && File::open(program).is_ok_and(|file| is_open_bash(file).unwrap_or(false))
    })
}

/// The attribute that gives a program other rights than its caller.
const CAPABILITIES: &str = "security.capability";

/// Whether programs take a witness, by device, inode and time of change.
type WitnessSupportCache = HashMap<(u64, u64, i64), bool>;

/// Most bytes of a program that are read.
const PROGRAM: u64 = 32 * 1024 * 1024;
/// The type of the entry that names the loader.
const PT_INTERP: u32 = 3;

fn is_open_bash(file: File) -> io::Result<bool> {
    let mut program = Vec::new();
    file.take(PROGRAM).read_to_end(&mut program)?;
    let mut ours = [0; 20];
    File::open("/proc/self/exe")?.read_exact(&mut ours)?;
    Ok(is_dynamic(&program, &ours).unwrap_or(false)
        && memchr::memmem::find(&program, b"\0the_printed_command\0").is_some())
}

/// Returns whether an ELF file has a loader, and is for the same kind of machine as the file that begins with `ours`.
fn is_dynamic(program: &[u8], ours: &[u8]) -> Option<bool> {
    // The magic number, the class and the order of bytes; then the machine.
    if program.get(..6)? != ours.get(..6)? || program.get(18..20)? != ours.get(18..20)? {
        return Some(false);
    }
    let number = |at: usize, length: usize| {
        program
            .get(at..at.checked_add(length)?)
            .map(|bytes| bytes.iter().rev().fold(0_usize, |sum, byte| sum << 8 | usize::from(*byte)))
    };
    let (table, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    (0..count)
        .map(|index| number(table.checked_add(index * size)?, 4))
        .collect::<Option<Vec<_>>>()
        .map(|types| types.contains(&(PT_INTERP as usize)))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;

    /// A witness that bash has begun to write to, as far as the host can tell.
    fn begun() -> BashWitness {
        let witness = BashWitness::create(&[], None).expect("a file");
        witness.file.write_all_at(&1_u32.to_ne_bytes(), AREA as u64 + 4).expect("written");
        witness
    }

    /// Numbers that look random and are the same each time.
    fn numbers(mut seed: u64) -> impl Iterator<Item = u64> {
        std::iter::repeat_with(move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            seed >> 33
        })
    }

    #[test]
    fn whatever_a_shell_writes_is_read_within_bounds() {
        let size = size_of::<area::WitnessEventSlot>();
        for seed in 0..24 {
            let witness = begun();
            let mut garbage = numbers(seed).flat_map(|number| number.to_ne_bytes().into_iter().take(4));
            // The numbers of events and of text, then slots of which some look finished, then texts.
            let mut area: Vec<u8> = garbage.by_ref().take(SIZE - 8).collect();
            for slot in area[size_of::<WitnessAreaHeader>() - 8..].chunks_exact_mut(size).take(SLOTS).step_by(2) {
                slot[..4].copy_from_slice(&(seed as u32 % 5).to_ne_bytes());
            }
            witness.file.write_all_at(&area, AREA as u64 + 8).expect("written");
            for from in [0, 7, SLOTS, usize::MAX] {
                let trace = witness.read(from).expect("begun");
                assert!(trace.events.len() <= SLOTS - from.min(SLOTS) && trace.lost | (from >= SLOTS));
                assert!(trace.events.iter().all(|event| event.text.len() <= 3 * TEXTS));
            }
            assert!(witness.events() <= SLOTS);
        }
    }

    #[test]
    fn a_file_without_its_beginning_or_its_end_says_nothing() {
        let witness = begun();
        assert!(witness.read(0).is_some_and(|trace| trace.events.is_empty() && !trace.lost));
        witness.file.write_all_at(&[0], AREA as u64).expect("written");
        assert!(witness.read(0).is_none(), "no magic number");
        let witness = begun();
        witness.file.set_len(AREA as u64 + 4).expect("cut");
        assert!(witness.read(0).is_none() && witness.events() == 0, "no header");
        assert!(BashWitness::create(&[], None).expect("a file").read(0).is_none(), "not begun");
    }

    #[test]
    fn only_a_bash_that_loads_libraries_takes_a_witness() {
        let folder = tempfile::tempdir().expect("a directory");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("script"), "#!/bin/bash\n\0the_printed_command\0").expect("written");
        fs::write(at("short"), b"\x7fELF").expect("written");
        symlink("/bin/bash", at("link")).expect("linked");
        fs::copy("/bin/bash", at("setuid")).expect("copied");
        fs::set_permissions(at("setuid"), std::os::unix::fs::PermissionsExt::from_mode(0o4755)).expect("set");
        assert!(takes_witness(Path::new("/bin/bash")) && takes_witness(&at("link")));
        for name in ["script", "short", "setuid", "none", ""] {
            assert!(!takes_witness(&at(name)), "{name}");
        }
        assert!(!takes_witness(Path::new("/bin/ls")), "this is no bash");
    }

    #[test]
    fn bash_tells_what_it_starts_and_shows_nothing() {
        let witness = BashWitness::create(&[], None).expect("a file");
        let shared = witness.share().expect("a descriptor");
        nix::fcntl::fcntl(&shared, nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::empty())).expect("inherited");
        let run = Command::new("/bin/bash")
            .args(["-c", "env | grep -c LD_PRELOAD; ls /proc/$$/fd; (exit 3)"])
            .env("LD_PRELOAD", format!("/proc/self/fd/{}", shared.as_raw_fd()))
            .output()
            .expect("bash");
        assert_eq!(String::from_utf8_lossy(&run.stderr), "");
        let own = format!("\n{}\n", shared.as_raw_fd());
        let told = String::from_utf8_lossy(&run.stdout);
        assert!(told.starts_with("0\n") && !told.contains(&own), "{told}");
        let trace = witness.read(0).expect("watched");
        let statuses = trace.events.iter().filter_map(|event| match event.happened {
            WitnessEventKind::Waited { status, .. } => Some(status >> 8),
            _ => None,
        });
        let mut statuses: Vec<_> = statuses.collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [0, 0, 1, 3]);
    }
}
