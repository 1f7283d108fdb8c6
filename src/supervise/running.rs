//! A command that a shim runs: its limit, its end, the end of its tree.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use nix::unistd::Pid;

use super::limits::{Broken, Watch};
use super::protocol::Cause;
use super::tree;
use crate::background;
use crate::sys::{self, End, Reaped, Usage};

/// From SIGTERM to SIGKILL when nobody is left who could wait for a graceful end.
const GRACE_WITHOUT_HOST: Duration = Duration::from_millis(500);
/// How often what is still there after SIGKILL is looked for again.
const KILL_INTERVAL: Duration = Duration::from_millis(5);
/// After SIGKILL, until what is still there is left alone. Within the addon's hard bound.
const GIVEN_UP: Duration = Duration::from_millis(600);
/// The same of a tree that used too much: hundreds of processes take their time to end, and nobody bounds it.
const GIVEN_UP_BROKEN: Duration = Duration::from_secs(3);

/// A command that runs.
pub struct Running {
    pub shell: Pid,
    /// The supervisor was on its way out when this began; it goes on without one.
    pub orphaned: bool,
    pub mark: Option<String>,
    pub started: Instant,
    pub limit: Option<Instant>,
    /// Its time was up while somebody waited, and the addon was told: it is ended as soon as that one answers, or at the limit.
    pub told: bool,
    pub grace: Duration,
    /// It has a terminal, which hangs up before anything else.
    pub terminal: bool,
    pub usage: Usage,
    pub shell_end: Option<(End, Duration)>,
    pub ending: Option<Ending>,
    /// The reading ends of its output pipes, untouched while the addon reads them.
    pub pipes: Vec<OwnedFd>,
    /// Children of the shim that are left alone whatever happens, with all below them.
    pub spared: Vec<Pid>,
    /// A shell of the shim that was waiting for another command, and has been killed: none of this one's.
    pub dismissed: Option<Pid>,
    /// Over what the tree uses, where that is limited.
    pub watch: Option<Watch>,
}

/// A tree that is being ended.
pub struct Ending {
    pub cause: Cause,
    pub kill_at: Instant,
    /// When SIGKILL was sent first.
    pub killed: Option<Instant>,
}

impl Running {
    /// What is there of its tree.
    pub fn members(&self) -> Vec<tree::Member> {
        tree::members(self.mark.as_deref(), &self.spared)
    }

    /// Whether anything is.
    pub fn is_alive(&self) -> bool {
        !self.members().is_empty()
    }

    /// How it ended, as a task: the strongest signal that was sent counts, whatever its handler did.
    pub fn end_as_task(&self) -> background::End {
        match (&self.ending, self.shell_end) {
            (Some(Ending { cause, killed, .. }), _) if *cause != Cause::Itself => {
                let signal = if killed.is_some() { libc::SIGKILL } else { libc::SIGTERM };
                let code = if *cause == Cause::Limit { 124 } else { 128 + signal };
                background::End::Signal(sys::signal_name(signal), code)
            }
            (_, Some((End::Code(code), _))) => background::End::Code(code),
            (_, Some((End::Signal(signal), _))) => background::End::Signal(sys::signal_name(signal), 128 + signal),
            (_, None) => background::End::Lost(background::Loss::Unseen),
        }
    }

    /// When the shim has to act without being woken.
    pub fn wake_at(&self) -> Option<Instant> {
        let end_at = match &self.ending {
            Some(ending) => Some(ending.kill_at),
            None => self.limit,
        };
        [end_at, self.watch.as_ref().map(Watch::wake_at)].into_iter().flatten().min()
    }

    /// Looks at what the tree uses, if that is limited and it is time to; while it is asked to end, too.
    pub fn look(&mut self, now: Instant) -> Option<Broken> {
        self.watch.as_mut()?.look(now, self.usage, self.mark.as_deref())
    }

    /// Begins to end the tree, or hurries when the reason has become more urgent.
    pub fn end(&mut self, cause: Cause) {
        let grace = match cause {
            Cause::Host | Cause::Supervisor => self.grace.min(GRACE_WITHOUT_HOST),
            Cause::Broken(broken) if broken.at_once() => Duration::ZERO,
            _ => self.grace,
        };
        let kill_at = Instant::now() + grace;
        match &mut self.ending {
            Some(ending) => ending.kill_at = ending.kill_at.min(kill_at),
            None => {
                self.ending = Some(Ending { cause, kill_at, killed: None });
                if !grace.is_zero() {
                    let signals: &[Signal] = match cause {
                        _ if !self.terminal => &[Signal::SIGTERM],
                        Cause::Host | Cause::Supervisor => &[Signal::SIGHUP],
                        _ => &[Signal::SIGHUP, Signal::SIGTERM],
                    };
                    tree::ask_to_end(&self.members(), signals);
                }
            }
        }
    }

    /// Signals the shell's group, and the one that the terminal's keys go to, if it is the command's.
    pub fn signal(&self, signal: Signal, foreground: Option<Pid>) {
        sys::signal_group(self.shell, signal);
        let other = foreground.filter(|group| *group != self.shell);
        if let Some(group) = other.filter(|group| self.members().iter().any(|member| member.group() == Some(*group))) {
            sys::signal_group(group, signal);
        }
    }

    /// Ends what the shell has left, without asking, and without a change to how the command ended.
    pub fn end_at_once(&mut self) {
        let now = Instant::now();
        self.ending = Some(Ending { cause: Cause::Itself, kill_at: now, killed: None });
        self.kill(now);
    }

    /// Sends SIGKILL to what is there now, and will do so again.
    pub fn kill(&mut self, now: Instant) {
        if self.spared.is_empty() {
            let mark = self.mark.clone();
            tree::strike(mark.as_deref(), || {
                self.reap();
            });
        } else {
            tree::kill(&self.members());
        }
        // Nothing more is allowed to it than to end.
        self.watch = None;
        if let Some(ending) = &mut self.ending {
            ending.killed.get_or_insert(now);
            ending.kill_at = now + KILL_INTERVAL;
        }
    }

    /// Whether the tree was ended as far as it can be: what has changed its user does not go.
    pub fn is_given_up(&self, now: Instant) -> bool {
        self.shell_end.is_some() && self.is_killed_long_ago(now)
    }

    /// Whether what is still there after SIGKILL will not go.
    pub fn is_killed_long_ago(&self, now: Instant) -> bool {
        let Some(Ending { cause, killed: Some(killed), .. }) = &self.ending else { return false };
        let bound = if matches!(cause, Cause::Broken(_)) { GIVEN_UP_BROKEN } else { GIVEN_UP };
        now >= *killed + bound
    }

    /// Takes what children have ended. Returns whether any process is left.
    pub fn reap(&mut self) -> bool {
        loop {
            match sys::reap(false) {
                Reaped::Ended(pid, ..) if self.dismissed == Some(pid) => self.dismissed = None,
                Reaped::Ended(pid, end, usage) => {
                    self.usage.add(usage);
                    if pid == self.shell {
                        self.shell_end = Some((end, self.started.elapsed()));
                    }
                }
                Reaped::Stopped(_) => {}
                Reaped::Nothing => return true,
                Reaped::NoChildren => {
                    return !sys::ORPHANS_COME_BACK && self.is_alive();
                }
            }
        }
    }
}
