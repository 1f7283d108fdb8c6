//! From what all processes of a command do to the one that is waited for.
//!
//! A process *hangs* when everything that could make it go on hangs, or is somebody who is not there. A shell that waits for
//! its children hangs with the last of them; a reader with those who could write. What cannot be told is slow, and so is
//! whatever needs it.

use std::collections::HashSet;

use super::wait::WaitsFor;
use crate::sys::{Call, Doing, FileKind, Opened};

/// What was found: the pid, what it waits for, how many others do, whether it is certain.
pub type Found = (i32, WaitsFor, u32, bool);

/// What a process needs to go on: any one of its needs is enough.
#[derive(Default)]
struct Needs {
    /// What nobody gives.
    nobody: Vec<WaitsFor>,
    /// Others that would have to do something: of each group any one.
    others: Vec<usize>,
    /// Others that it reads from, and how.
    reads: Option<WaitsFor>,
    /// It would go on by itself after some time, or may not be looked at.
    unsure: bool,
}

/// Who hangs, if this shell does.
pub fn find(shell: i32, seen: &[Doing]) -> Option<Found> {
    let tree = Tree { seen };
    let mut needs: Vec<Option<Needs>> = (0..seen.len()).map(|at| tree.needs(at)).collect();
    // Whoever needs somebody who is slow is slow.
    loop {
        let slow: Vec<usize> = (0..seen.len())
            .filter(|at| needs[*at].as_ref().is_some_and(|its| its.others.iter().any(|other| needs[*other].is_none())))
            .collect();
        if slow.is_empty() {
            break;
        }
        slow.into_iter().for_each(|at| needs[at] = None);
    }
    let root = seen.iter().position(|one| one.pid == shell)?;
    let mut visit =
        Visit { needs: &needs, visited: HashSet::new(), found: Vec::new(), circle: Vec::new(), unsure: false };
    visit.go(root)?;
    let Visit { mut found, circle, unsure, .. } = visit;
    if found.is_empty() {
        // All wait for each other: the deepest of them stands for all.
        found = circle.into_iter().take(1).collect();
    }
    // The deepest came first; what is in front of its terminal goes before what is not.
    found.sort_by_key(|(at, _)| seen[*at].foreground.is_some_and(|group| group != seen[*at].group));
    let others = found.iter().map(|(at, _)| at).collect::<HashSet<_>>().len().saturating_sub(1);
    let (at, on) = found.into_iter().next()?;
    Some((seen[at].pid, on, u32::try_from(others).unwrap_or(u32::MAX), !unsure))
}

/// The way from the shell down to those who wait for nobody of the command.
struct Visit<'a> {
    needs: &'a [Option<Needs>],
    visited: HashSet<usize>,
    found: Vec<(usize, WaitsFor)>,
    circle: Vec<(usize, WaitsFor)>,
    unsure: bool,
}

impl Visit<'_> {
    /// `None` where it leads to somebody who is slow.
    fn go(&mut self, at: usize) -> Option<()> {
        let needs = self.needs[at].as_ref()?;
        if !self.visited.insert(at) {
            return Some(());
        }
        self.unsure |= needs.unsure;
        let before = self.found.len();
        for other in &needs.others {
            self.go(*other)?;
        }
        if self.found.len() == before {
            self.found.extend(needs.nobody.first().map(|on| (at, on.clone())));
            self.circle.extend(needs.reads.iter().map(|on| (at, on.clone())));
        }
        Some(())
    }
}

struct Tree<'a> {
    seen: &'a [Doing],
}

impl Tree<'_> {
    /// What one of them needs; `None` for one that goes on by itself.
    fn needs(&self, at: usize) -> Option<Needs> {
        let one = &self.seen[at];
        if one.stopped {
            let background = one.foreground.is_some_and(|group| group != one.group);
            return Some(Needs { nobody: vec![WaitsFor::Continue(background)], ..Needs::default() });
        }
        let Some(calls) = &one.calls else {
            return Some(Needs { nobody: vec![WaitsFor::Unknown], unsure: true, ..Needs::default() });
        };
        let mut needs = Needs::default();
        let mut waits = false;
        for (thread, call) in calls.iter().enumerate() {
            match call {
                // Threads that wait for others are those of a pool, or of a language: many look around now and then.
                Call::Idle { timed } if thread > 0 || !timed => {}
                Call::Signal if thread > 0 => {}
                Call::Busy | Call::Idle { .. } => return None,
                Call::Signal => waits = true,
                Call::Child(Some(child)) => needs.others.push(self.seen.iter().position(|one| one.pid == *child)?),
                Call::Child(None) => waits = true,
                Call::Read(fd) => self.read(at, *fd, calls.len() == 1, &mut needs)?,
                Call::Write(fd) => self.write(at, *fd, &mut needs)?,
                Call::Open { path, writes: false } => needs.nobody.push(WaitsFor::Writer(path.clone())),
                Call::Open { path, writes: true } => needs.nobody.push(WaitsFor::Reader(path.clone())),
                Call::Poll { reads, writes, timed } => {
                    for fd in reads {
                        self.read(at, *fd, false, &mut needs)?;
                    }
                    for fd in writes {
                        self.write(at, *fd, &mut needs)?;
                    }
                    needs.unsure |= timed;
                    waits |= thread == 0;
                }
            }
        }
        let alone = needs.nobody.is_empty() && needs.others.is_empty();
        if alone {
            // What waits for signals alone waits for its children.
            if !waits {
                return None;
            }
            needs.others = self.children(at);
            if needs.others.is_empty() || needs.unsure {
                return None;
            }
        }
        Some(needs)
    }

    /// The children that are waited for.
    fn children(&self, at: usize) -> Vec<usize> {
        let parent = &self.seen[at];
        let has_terminal = input(parent).is_some_and(|file| file.file == FileKind::Terminal);
        let needed = |child: &Doing| {
            // Without job control a shell gives this to what runs in its background, and only to that.
            let background = has_terminal && input(child).is_some_and(|file| file.file == FileKind::Null);
            child.parent == parent.pid && !background && !self.only_holds(child)
        };
        (0..self.seen.len()).filter(|at| needed(&self.seen[*at])).collect()
    }

    /// Whether it is a `sleep` that only keeps a FIFO open for somebody who waits for it.
    fn only_holds(&self, one: &Doing) -> bool {
        let waited = |name: &str| {
            self.seen.iter().flat_map(|one| &one.files).any(|file| file.file == FileKind::Fifo && file.name == name)
        };
        one.name == "sleep"
            && one.files.iter().any(|file| file.writes && file.name.starts_with('/') && waited(&file.name))
    }

    /// Others that have one end of a pipe.
    fn holders(&self, at: usize, pipe: &Opened, end: fn(&Opened) -> bool) -> Vec<usize> {
        let holds = |one: &Doing| one.files.iter().any(|file| end(file) && file.name == pipe.name);
        (0..self.seen.len()).filter(|other| *other != at && holds(&self.seen[*other])).collect()
    }

    fn read(&self, at: usize, fd: i32, blocked: bool, needs: &mut Needs) -> Option<()> {
        let one = &self.seen[at];
        let file = one.files.iter().find(|file| file.fd == fd)?;
        match file.file {
            FileKind::Terminal => needs.nobody.push(WaitsFor::Terminal(fd)),
            FileKind::Own => {}
            FileKind::Pipe | FileKind::Fifo => {
                let mut writers = self.holders(at, file, |file| file.writes);
                let named = file.file == FileKind::Fifo;
                let held = !writers.is_empty() || one.files.iter().any(|own| own.writes && own.name == file.name);
                let on = if named { WaitsFor::Fifo(fd, file.name.clone()) } else { WaitsFor::Pipe(fd) };
                writers.retain(|writer| !(named && self.seen[*writer].name == "sleep"));
                if writers.is_empty() {
                    match (named, held, blocked) {
                        // A process that wakes itself, from a signal or another thread.
                        (false, true, false) => return Some(()),
                        // Its writers are none of the command: of a name it is asked who they are, of a pipe it cannot be.
                        (true, ..) | (false, true, true) => needs.nobody.push(on),
                        (false, false, _) => return None,
                    }
                } else {
                    needs.others.extend(writers);
                    needs.reads.get_or_insert(on);
                }
            }
            FileKind::Master(number) => {
                let name = format!("/dev/pts/{number}");
                let users = self.holders(at, &Opened { name, ..file.clone() }, |_| true);
                if users.is_empty() {
                    return None;
                }
                needs.others.extend(users);
            }
            FileKind::Null | FileKind::Other => return None,
        }
        Some(())
    }

    fn write(&self, at: usize, fd: i32, needs: &mut Needs) -> Option<()> {
        let file = self.seen[at].files.iter().find(|file| file.fd == fd)?;
        if !matches!(file.file, FileKind::Pipe | FileKind::Fifo) {
            return None;
        }
        let readers = self.holders(at, file, |file| file.reads);
        if readers.is_empty() {
            // Whoever reads it is none of the command: the host.
            return None;
        }
        needs.others.extend(readers);
        Some(())
    }
}

/// What a process has as its standard input.
fn input(one: &Doing) -> Option<&Opened> {
    one.files.iter().find(|file| file.fd == 0)
}
