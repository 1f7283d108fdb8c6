//! The shims that wait for a command, and the shells that wait below them.

use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::ready::{Ready, Stale};
use crate::plan::Kind;
use crate::supervise::frames::{self, Read, Reader};
use crate::supervise::protocol;
use crate::sys;

/// Shims that are kept while no command runs: an agent often calls tools two at a time.
pub const KEEP: usize = 2;
/// After the end of a command, until a shell is started for the next one. One that follows at once is not held up by it.
pub const PAUSE: Duration = Duration::from_millis(1);
/// How often shells are looked for that have waited this long: none waits longer than twice that, five minutes.
pub const SWEEP: Duration = Duration::from_secs(150);
/// How many kinds of commands are remembered: a kind is worth a shell from its second command on.
const SEEN: usize = 8;

/// A shim that is free.
pub struct Shim {
    /// Its pid, a child of the supervisor.
    pub pid: i32,
    /// To it; does not block.
    pub socket: OwnedFd,
    /// The shell that waits below it, or will.
    pub shell: Option<Shell>,
    reader: Reader,
}

/// A shell that waits for its command.
pub struct Shell {
    /// For which commands.
    pub kind: Arc<Kind>,
    /// The mark that it was started with.
    pub mark: String,
    since: Instant,
    /// Once it has said that it waits.
    ready: Option<Ready>,
}

/// Shells that wait, and what became of others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shells {
    /// They wait now.
    pub waiting: usize,
    /// They were given a command.
    pub used: u64,
    /// They could not be given one, which then started cold.
    pub stale: u64,
}

/// Free shims, the one that was used last at the end.
#[derive(Default)]
pub struct Idle {
    shims: Vec<Shim>,
    seen: VecDeque<Arc<Kind>>,
    shells: Shells,
    /// The system lets nobody write to a child: shells need not wait.
    refused: bool,
}

impl Shim {
    /// One that was just made.
    pub fn new(pid: i32, socket: OwnedFd) -> Self {
        Self { pid, socket, shell: None, reader: Reader::default() }
    }

    /// Has a shell wait below it, which says so when it does.
    pub fn prepare(&mut self, kind: Arc<Kind>) {
        self.forget();
        let mark = crate::plan::next_mark();
        let mut with_mark = (*kind).clone();
        with_mark.plan.mark(&mark);
        if frames::send(&self.socket, protocol::PREPARE, &protocol::encode_prepare(&with_mark), &[]).is_ok() {
            self.shell = Some(Shell { kind, mark, since: Instant::now(), ready: None });
        }
    }

    /// Takes what was said of shells that nobody has used. Left unread it would fill the socket, after some hundred of them,
    /// and the shim could neither say more nor hear what it is told.
    fn forget(&mut self) {
        self.shell = None;
        while let Ok(Read::Frame(_)) = self.reader.read(&self.socket) {}
    }

    /// Whether a shell of this kind is there, or on its way.
    pub fn has(&self, kind: &Kind) -> bool {
        self.shell.as_ref().is_some_and(|shell| *shell.kind == *kind)
    }

    /// Hears what became of the shell, without waiting. One that has died is forgotten.
    pub fn hear(&mut self) {
        let Some(shell) = &mut self.shell else { return };
        while let Ok(Read::Frame(mut frame)) = self.reader.read(&self.socket) {
            // What was there before this shell may still be told of.
            let Some((mark, ready)) = Ready::of(&mut frame) else { continue };
            if mark == shell.mark {
                shell.ready = ready;
                if shell.ready.is_none() {
                    self.shell = None;
                    return;
                }
            }
        }
    }

    /// Whether a shell of this kind waits.
    pub fn is_ready(&self, kind: &Kind) -> bool {
        self.shell.as_ref().is_some_and(|shell| shell.ready.is_some() && *shell.kind == *kind)
    }

    /// The shell that waits, if one of this kind does. Any other one is forgotten.
    pub fn take_ready(&mut self, kind: &Kind) -> Option<(Ready, String)> {
        let shell = self.shell.take().filter(|shell| *shell.kind == *kind)?;
        Some((shell.ready?, shell.mark))
    }
}

impl Shell {
    /// Whether it has waited for too long.
    pub fn is_old(&self) -> bool {
        self.since.elapsed() >= SWEEP
    }

    /// It waits now.
    #[must_use]
    pub fn arrived(self, ready: Ready) -> Self {
        Self { ready: Some(ready), ..self }
    }
}

impl Idle {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.shims.len()
    }

    /// Shells that wait, and what became of others.
    pub fn shells(&self) -> Shells {
        Shells { waiting: self.shims.iter().filter(|shim| shim.shell.is_some()).count(), ..self.shells }
    }

    /// Nobody is there any more.
    pub fn clear(&mut self) {
        self.shims.clear();
    }

    /// Keeps one, and lets another go where there are enough: first one without a shell, then the oldest.
    pub fn add(&mut self, shim: Shim) {
        self.shims.push(shim);
        if self.shims.len() > KEEP {
            self.shims.remove(self.shims.iter().position(|shim| shim.shell.is_none()).unwrap_or(0));
        }
    }

    /// One below which a shell of this kind waits; else one without a shell, else any. Only a shell that waits, of this
    /// kind, is left with it.
    pub fn take(&mut self, kind: Option<&Kind>) -> Option<Shim> {
        if let Some(shim) = kind.and_then(|kind| self.take_waiting(kind)) {
            return Some(shim);
        }
        self.shims.retain(|shim| sys::peer_alive(shim.socket.as_fd()));
        let plain = self.shims.iter().rposition(|shim| shim.shell.is_none());
        let mut shim = self.shims.remove(plain.or_else(|| self.shims.len().checked_sub(1))?);
        shim.shell = None;
        Some(shim)
    }

    /// One below which a shell of this kind waits.
    fn take_waiting(&mut self, kind: &Kind) -> Option<Shim> {
        let at = self.shims.iter_mut().rposition(|shim| {
            // Of other kinds nothing is heard: the ends of their pipes stay on their way, and no descriptors of ours.
            let has = shim.has(kind);
            if has {
                shim.hear();
            }
            has && shim.is_ready(kind)
        })?;
        Some(self.shims.remove(at))
    }

    /// One below which a shell of this kind waits or is on its way.
    pub fn take_any(&mut self, kind: &Kind) -> Option<Shim> {
        let at = self.shims.iter().rposition(|shim| shim.has(kind))?;
        Some(self.shims.remove(at))
    }

    /// A shell that waited was given its command.
    pub fn used(&mut self) {
        self.shells.used += 1;
    }

    /// A shell that waited could not be given its command.
    pub fn stale(&mut self, why: Stale) {
        self.shells.stale += 1;
        self.refused |= why == Stale::Refused;
    }

    /// Whether shells can wait here at all.
    pub fn can_wait(&self) -> bool {
        sys::SHELLS_CAN_WAIT && !self.refused
    }

    /// A command of this kind has ended. Whether a shell is to wait for the next one.
    pub fn saw(&mut self, kind: &Arc<Kind>) -> bool {
        let known = self.seen.iter().any(|seen| **seen == **kind);
        if !known {
            self.seen.truncate(SEEN - 1);
            self.seen.push_front(Arc::clone(kind));
        }
        known && self.can_wait()
    }

    /// Has a shell wait below this shim, if it is still here.
    pub fn prepare(&mut self, pid: i32, kind: Arc<Kind>) {
        if let Some(shim) = self.shims.iter_mut().find(|shim| shim.pid == pid && shim.shell.is_none()) {
            shim.prepare(kind);
        }
    }

    /// Has a shell of this kind wait, unless one does: where none does so far, else in the place of the oldest.
    pub fn prepare_any(&mut self, kind: &Arc<Kind>) {
        if !self.can_wait() || self.shims.iter().any(|shim| shim.has(kind)) {
            return;
        }
        let plain = self.shims.iter().position(|shim| shim.shell.is_none()).unwrap_or(0);
        if let Some(shim) = self.shims.get_mut(plain) {
            shim.prepare(Arc::clone(kind));
        }
    }

    /// Ends those of the shells that wait.
    pub fn dismiss(&mut self, which: impl Fn(&Shell) -> bool) {
        for shim in &mut self.shims {
            if shim.shell.take_if(|shell| which(shell)).is_some() {
                let _ = frames::send(&shim.socket, protocol::DISMISS, &[], &[]);
            }
        }
    }
}
