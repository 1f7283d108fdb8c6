//! From the activity of all processes of a command to the process that blocks the command.
//!
//! A process is *blocked* if everything that could unblock it is blocked too or outside the command. A shell that waits
//! for its children is blocked with the last of them, a reader with all its writers. An unknown activity counts as
//! slow, and so does every process that depends on it.

use std::collections::HashSet;

use protocol::BlockedOn;
use sys::{OpenFile, OpenFileKind, ProcessActivity, ThreadActivity};

/// The pid of a blocked process, the reason, the number of others with the same reason, and whether it is certain.
pub type BlockedFinding = (i32, BlockedOn, u32, bool);

/// The needs of a process. Meeting any of them unblocks the process.
#[derive(Default)]
struct UnblockingNeeds {
    /// Needs that no process of the command can meet.
    nobody: Vec<BlockedOn>,
    /// Other processes that would have to act: any process of each group.
    others: Vec<usize>,
    /// Other processes that the process reads from, and the kind of read.
    reads: Option<BlockedOn>,
    /// Whether the process would continue by itself after some time, or may not be read.
    unsure: bool,
}

/// Returns the blocked process that blocks this shell, or a stopped job beside slow processes.
pub fn find_blocked(shell: i32, seen: &[ProcessActivity]) -> Option<BlockedFinding> {
    let tree = ActivityTree { seen };
    let root = seen.iter().position(|one| one.pid == shell)?;
    tree.blocked(root).or_else(|| tree.stopped_job(root))
}

impl ActivityTree<'_> {
    /// Returns the blocked process that blocks this process.
    fn blocked(&self, root: usize) -> Option<BlockedFinding> {
        let seen = self.seen;
        let mut needs: Vec<Option<UnblockingNeeds>> = (0..seen.len()).map(|at| self.needs(at)).collect();
        // A process that is blocked on a slow process is slow.
        loop {
            let slow: Vec<usize> = (0..seen.len())
                .filter(|at| {
                    needs[*at].as_ref().is_some_and(|its| its.others.iter().any(|other| needs[*other].is_none()))
                })
                .collect();
            if slow.is_empty() {
                break;
            }
            slow.into_iter().for_each(|at| needs[at] = None);
        }
        let mut visit = DependencyWalk {
            needs: &needs,
            visited: HashSet::new(),
            found: Vec::new(),
            circle: Vec::new(),
            unsure: false,
        };
        visit.visit(root)?;
        let DependencyWalk { mut found, circle, unsure, .. } = visit;
        if found.is_empty() {
            // All wait for each other, so the deepest process represents the circle.
            found = circle.into_iter().take(1).collect();
        }
        let others = found.iter().map(|(at, _)| at).collect::<HashSet<_>>().len().saturating_sub(1);
        // The deepest process comes first, and a foreground process of its terminal before a background process.
        let (at, on) = found.into_iter().min_by_key(|(at, _)| in_background(&seen[*at]))?;
        Some((seen[at].pid, on, u32::try_from(others).unwrap_or(u32::MAX), !unsure))
    }

    /// Returns a stopped job. With job control each job has a group of its own. A stopped job stays stopped when the
    /// others have ended.
    fn stopped_job(&self, root: usize) -> Option<BlockedFinding> {
        let shell = &self.seen[root];
        let mut jobs = self.seen.iter().filter(|one| one.stopped && one.group != shell.group);
        let job = jobs.next()?;
        let others = u32::try_from(jobs.count()).unwrap_or(u32::MAX);
        Some((job.pid, BlockedOn::Continue(in_background(job)), others, true))
    }
}

/// The path from the shell down to the processes that depend on no other process of the command.
struct DependencyWalk<'a> {
    needs: &'a [Option<UnblockingNeeds>],
    visited: HashSet<usize>,
    found: Vec<(usize, BlockedOn)>,
    circle: Vec<(usize, BlockedOn)>,
    unsure: bool,
}

impl DependencyWalk<'_> {
    /// Returns `None` if the path leads to a slow process.
    fn visit(&mut self, at: usize) -> Option<()> {
        let needs = self.needs[at].as_ref()?;
        if !self.visited.insert(at) {
            return Some(());
        }
        self.unsure |= needs.unsure;
        let before = self.found.len();
        for other in &needs.others {
            self.visit(*other)?;
        }
        if self.found.len() == before {
            self.found.extend(needs.nobody.first().map(|on| (at, on.clone())));
            self.circle.extend(needs.reads.iter().map(|on| (at, on.clone())));
        }
        Some(())
    }
}

struct ActivityTree<'a> {
    seen: &'a [ProcessActivity],
}

impl ActivityTree<'_> {
    /// Returns the needs of a process, or `None` for a process that continues by itself.
    fn needs(&self, at: usize) -> Option<UnblockingNeeds> {
        let one = &self.seen[at];
        if one.stopped {
            return Some(UnblockingNeeds {
                nobody: vec![BlockedOn::Continue(in_background(one))],
                ..UnblockingNeeds::default()
            });
        }
        let Some(calls) = &one.calls else {
            return Some(UnblockingNeeds {
                nobody: vec![BlockedOn::Unknown],
                unsure: true,
                ..UnblockingNeeds::default()
            });
        };
        let mut needs = UnblockingNeeds::default();
        let mut waits = false;
        for (thread, call) in calls.iter().enumerate() {
            match call {
                // Threads that wait for others belong to a pool or a language runtime. Many of them wake up now and
                // then.
                ThreadActivity::Idle { timed } if thread > 0 || !timed => {}
                ThreadActivity::Signal if thread > 0 => {}
                ThreadActivity::Busy | ThreadActivity::Asleep | ThreadActivity::Idle { .. } => return None,
                ThreadActivity::Signal => waits = true,
                ThreadActivity::Child(Some(child)) => {
                    needs.others.push(self.seen.iter().position(|one| one.pid == *child)?)
                }
                ThreadActivity::Child(None) => waits = true,
                ThreadActivity::Read(fd) => self.read(at, *fd, calls.len() == 1, &mut needs)?,
                ThreadActivity::Write(fd) => self.write(at, *fd, &mut needs)?,
                ThreadActivity::Open { path, writes: false } => needs.nobody.push(BlockedOn::Writer(path.clone())),
                ThreadActivity::Open { path, writes: true } => needs.nobody.push(BlockedOn::Reader(path.clone())),
                ThreadActivity::Poll { reads, writes, timed } => {
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
            // A process that only waits for signals waits for its children.
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

    /// Returns the children that a process waits for.
    fn children(&self, at: usize) -> Vec<usize> {
        let parent = &self.seen[at];
        let has_terminal = input(parent).is_some_and(|file| file.file == OpenFileKind::Terminal);
        let needed = |at: &usize| {
            let child = &self.seen[*at];
            // Without job control a shell gives /dev/null to its background commands. A foreground command may have it
            // as well, and ask through /dev/tty.
            let null = has_terminal && input(child).is_some_and(|file| file.file == OpenFileKind::Null);
            child.parent == parent.pid && (!null || self.asks_terminal(*at)) && !self.only_holds(*at)
        };
        (0..self.seen.len()).filter(needed).collect()
    }

    /// Returns whether a process or a descendant of it reads its terminal.
    fn asks_terminal(&self, at: usize) -> bool {
        let asks = |one: &ProcessActivity| {
            let terminal =
                |fd: &i32| one.files.iter().any(|file| file.fd == *fd && file.file == OpenFileKind::Terminal);
            one.calls.iter().flatten().any(|call| match call {
                ThreadActivity::Read(fd) => terminal(fd),
                ThreadActivity::Poll { reads, .. } => reads.iter().any(terminal),
                _ => false,
            })
        };
        (0..self.seen.len()).any(|other| (other == at || self.is_below(other, at)) && asks(&self.seen[other]))
    }

    /// Returns whether a process is a descendant of another process.
    fn is_below(&self, at: usize, ancestor: usize) -> bool {
        let mut parent = self.seen[at].parent;
        // The steps are bounded by the number of processes, because the list may be torn.
        for _ in self.seen {
            if parent == self.seen[ancestor].pid {
                return true;
            }
            let Some(next) = self.seen.iter().find(|one| one.pid == parent) else { return false };
            parent = next.parent;
        }
        false
    }

    /// Returns whether the process is a `sleep` that only keeps a FIFO or a pipe open for a process that waits for it.
    fn only_holds(&self, at: usize) -> bool {
        let one = &self.seen[at];
        let waited = |name: &str| {
            self.seen.iter().flat_map(|one| &one.files).any(|file| file.file == OpenFileKind::Fifo && file.name == name)
        };
        let read = |name: &str| {
            (0..self.seen.len()).any(|reader| {
                let reads = |file: &OpenFile| file.reads && file.name == name;
                reader != at && self.seen[reader].files.iter().any(reads) && self.keeps_open(at, reader)
            })
        };
        one.name == "sleep"
            && one.files.iter().any(|file| {
                let fifo = file.name.starts_with('/') && waited(&file.name);
                file.writes && (fifo || (file.file == OpenFileKind::Pipe && read(&file.name)))
            })
    }

    /// Returns whether a process is a long `sleep` beside the reader of its pipe. Below the reader, the `sleep` is a
    /// command whose exit the reader expects: `x=$(sleep 300)`.
    fn keeps_open(&self, holder: usize, reader: usize) -> bool {
        let one = &self.seen[holder];
        let long = matches!(one.calls.as_deref(), Some([ThreadActivity::Asleep | ThreadActivity::Signal]));
        one.name == "sleep" && long && !self.is_below(holder, reader)
    }

    /// Returns the other processes that have this end of a pipe open.
    fn holders(&self, at: usize, pipe: &OpenFile, end: fn(&OpenFile) -> bool) -> Vec<usize> {
        let holds = |one: &ProcessActivity| one.files.iter().any(|file| end(file) && file.name == pipe.name);
        (0..self.seen.len()).filter(|other| *other != at && holds(&self.seen[*other])).collect()
    }

    fn read(&self, at: usize, fd: i32, blocked: bool, needs: &mut UnblockingNeeds) -> Option<()> {
        let one = &self.seen[at];
        let file = one.files.iter().find(|file| file.fd == fd)?;
        match file.file {
            OpenFileKind::Terminal => needs.nobody.push(BlockedOn::Terminal(fd)),
            OpenFileKind::Own => {}
            OpenFileKind::Pipe | OpenFileKind::Fifo => {
                let mut writers = self.holders(at, file, |file| file.writes);
                let named = file.file == OpenFileKind::Fifo;
                let held = !writers.is_empty() || one.files.iter().any(|own| own.writes && own.name == file.name);
                let on = if named { BlockedOn::Fifo(fd, file.name.clone()) } else { BlockedOn::Pipe(fd) };
                let writers_before = writers.len();
                writers
                    .retain(|writer| !(self.keeps_open(*writer, at) || (named && self.seen[*writer].name == "sleep")));
                let kept_open = writers.len() < writers_before;
                if writers.is_empty() {
                    match (named || kept_open, held, blocked) {
                        // The process wakes itself, from a signal or another thread.
                        (false, true, false) => return Some(()),
                        // The writers are outside the command, or a `sleep`. The writers of a FIFO can be found by its
                        // name, the writers of a pipe cannot.
                        (true, ..) | (false, true, true) => needs.nobody.push(on),
                        (false, false, _) => return None,
                    }
                } else {
                    needs.others.extend(writers);
                    needs.reads.get_or_insert(on);
                }
            }
            OpenFileKind::Master(number) => {
                let name = format!("/dev/pts/{number}");
                let users = self.holders(at, &OpenFile { name, ..file.clone() }, |_| true);
                if users.is_empty() {
                    return None;
                }
                needs.others.extend(users);
            }
            OpenFileKind::Null | OpenFileKind::Other => return None,
        }
        Some(())
    }

    fn write(&self, at: usize, fd: i32, needs: &mut UnblockingNeeds) -> Option<()> {
        let file = self.seen[at].files.iter().find(|file| file.fd == fd)?;
        if !matches!(file.file, OpenFileKind::Pipe | OpenFileKind::Fifo) {
            return None;
        }
        let readers = self.holders(at, file, |file| file.reads);
        if readers.is_empty() {
            // The reader is outside the command: the host.
            return None;
        }
        needs.others.extend(readers);
        Some(())
    }
}

/// Returns whether a process is in the background of its terminal.
fn in_background(one: &ProcessActivity) -> bool {
    one.foreground.is_some_and(|group| group != one.group)
}

/// Returns a process's standard input.
fn input(one: &ProcessActivity) -> Option<&OpenFile> {
    one.files.iter().find(|file| file.fd == 0)
}
