//! The processes of a trace: which shell forked which, what each did, and how it ended.

use std::collections::HashMap;

use sys::{WitnessEvent, WitnessEventKind, WitnessTrace};

/// A process that the command's shell or one of its subshells was, or started.
#[derive(Default)]
pub struct TracedProcess<'t> {
    /// The shell that forked it, and the event. `None` for the command's own shell.
    pub fork: Option<(usize, &'t WitnessEvent)>,
    /// Its forks and its execution of a program, in order.
    pub steps: Vec<ProcessStep<'t>>,
    /// Whether `set -e` was on when it last forked or waited: a trap of its exit may have another one.
    pub errexit: bool,
    /// Its own exit as a shell.
    pub exit: Option<&'t WitnessEvent>,
    /// Its end as the shell that forked it noticed it: the raw status, and the number of the event.
    pub waited: Option<(i32, usize)>,
}

/// One step of a process.
#[derive(Clone, Copy)]
pub enum ProcessStep<'t> {
    /// It forked this process.
    Forked(usize, &'t WitnessEvent),
    /// It became a program.
    Executed(&'t WitnessEvent, &'t [String]),
}

/// Returns the processes of a trace, the command's own shell first, and whether all that were waited for are there.
pub fn trace_processes(trace: &WitnessTrace) -> (Vec<TracedProcess<'_>>, bool) {
    let mut all = vec![TracedProcess::default()];
    // The number of a fork, and the process that it made. The second shell of a trace that is read from a later event
    // on is unknown: it belongs to what ran before the command.
    let mut made = HashMap::from([(0, 0)]);
    for event in trace.events.iter().filter(|event| event.in_command) {
        if let WitnessEventKind::Forked { pid } = event.happened
            && pid > 0
        {
            made.insert(event.number.wrapping_add(1), all.len());
            all.push(TracedProcess::default());
        }
    }
    let mut pids = HashMap::new();
    let mut complete = !trace.lost;
    for event in &trace.events {
        let Some(&process) = made.get(&event.process) else { continue };
        if event.in_command
            && !event.in_trap
            && matches!(event.happened, WitnessEventKind::Forked { .. } | WitnessEventKind::Waited { .. })
        {
            all[process].errexit = event.errexit;
        }
        match &event.happened {
            WitnessEventKind::Forked { pid } => {
                // A process is younger than the one that forked it, whatever the shell's memory says.
                let child = made.get(&(event.number.wrapping_add(1))).filter(|child| process < **child);
                let Some(&child) = child else { continue };
                pids.insert((process, *pid), child);
                all[child].fork = Some((process, event));
                all[process].steps.push(ProcessStep::Forked(child, event));
            }
            WitnessEventKind::Waited { pid, status } => match pids.remove(&(process, *pid)) {
                Some(child) => all[child].waited = Some((*status, event.number)),
                None => complete &= !event.in_command,
            },
            WitnessEventKind::Executed { words, .. } => all[process].steps.push(ProcessStep::Executed(event, words)),
            WitnessEventKind::Exited { .. } => all[process].exit = Some(event),
        }
    }
    (all, complete)
}

impl TracedProcess<'_> {
    /// Returns the program that the process became.
    pub fn program(&self) -> Option<&[String]> {
        match self.steps.last() {
            Some(ProcessStep::Executed(_, words)) => Some(words),
            _ => None,
        }
    }

    /// Returns the text of the first event.
    pub fn first(&self) -> Option<&WitnessEvent> {
        match self.steps.first() {
            Some(ProcessStep::Forked(_, event) | ProcessStep::Executed(event, _)) => Some(event),
            None => self.exit,
        }
    }

    /// Returns the last command that ran in the process, if it exited as a shell.
    pub fn last_command(&self) -> Option<&str> {
        self.exit.map(|exit| &*exit.text)
    }

    /// Returns the exit of a shell that did not find the program that it was to become.
    pub fn not_found(&self) -> Option<&WitnessEvent> {
        self.exit.filter(|exit| {
            let code = matches!(exit.happened, WitnessEventKind::Exited { code: 126 | 127, .. });
            code && exit.in_command && !matches!(self.steps.last(), Some(ProcessStep::Executed(..)))
        })
    }

    /// Returns the code as `$?` gives it, if the process ended.
    pub fn code(&self) -> Option<i32> {
        match (self.waited, self.exit.map(|exit| &exit.happened)) {
            (Some((status, _)), _) if status & 0x7f == 0 => Some(status >> 8 & 0xff),
            (Some((status, _)), _) => Some(128 + (status & 0x7f)),
            (None, Some(WitnessEventKind::Exited { code, .. })) => Some(code & 0xff),
            (None, _) => None,
        }
    }

    /// Returns the number of the signal that ended the process.
    pub fn signal(&self) -> Option<i32> {
        self.waited.map(|(status, _)| status & 0x7f).filter(|signal| *signal != 0)
    }
}
