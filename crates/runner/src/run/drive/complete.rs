//! From a driven command to its completion: the rest of the output is delivered, and the shim settled.

use std::path::Path;
use std::sync::Arc;

use nix::unistd::Pid;
use tokio::time::Instant;

use super::Drive;
use super::record::EndOfRecord;
use super::settle::{Adoption, Remainder, Settled, Settlement, settle};
use super::shim::Shim;
use crate::registry::RegistryError;
use crate::run::completion::{Completion, ExitUnknown, NotStarted, Produced, ShellAfter};
use crate::run::listener::Listener;
use crate::supervise::{Child, Helpers, Traces};
use protocol::Transfer;
use protocol::plan::ShellKind;
use receipt::recording::{Recording, RunRecord};

/// Drives the command to its end, or to its life as a task. `kind` is the shell kind that the next command may need.
/// Returns the record, too, unless the recording goes on with the task.
///
/// # Errors
/// When nothing was started.
pub async fn complete<'a, L: Listener>(
    mut drive: Drive<'a, Child, L>,
    helpers: &'static Helpers,
    kind: Option<&Arc<ShellKind>>,
    recording: Option<Recording>,
) -> Result<(Completion<'a>, Option<RunRecord>), NotStarted> {
    drive.run().await?;
    let elapsed = drive.deadlines.began().elapsed();
    let record = EndOfRecord::new(recording, drive.process.exit.as_ref());
    let adoption = adoption(&mut drive);
    let moved = drive.output.moving.task().is_some();
    if adoption.is_some() || moved {
        drive.output.streams.all_mut().for_each(|reader| reader.capture.break_off());
    }
    drive.deliver_rest().await;
    drive.note_limit();
    let silent = drive.reached_silence();

    let Drive { request, shim, output, process, deadlines, early, denials, .. } = drive;
    let mut exit = process.exit.unwrap_or(Err(ExitUnknown::AliveAfterLimit));
    let remainder = Remainder::of(&exit, output.moving.task(), early.has_ended());
    let pid = output.pid.unwrap_or(0);
    let traces = Traces {
        mark: request.mark.clone(),
        shell: output.pid.map(Pid::from_raw),
        // Copied only for a command whose helpers are lost, or may be.
        pipes: if remainder.leaves_processes() { output.streams.pipes() } else { Vec::new() },
        group: shim.group().filter(|_| remainder.leaves_processes()).map(Path::to_owned),
    };
    let settlement = Settlement {
        helpers,
        kind,
        registry: request.registry.as_ref(),
        traces,
        adoption,
        bound: if process.aborted { deadlines.hard() } else { Instant::now() },
    };
    let Settled { survivors, task, child, note } = settle(shim, remainder, &mut exit, settlement).await;
    let recorded = record.finish(&survivors, request.registry.as_ref().zip(task.as_ref()), moved).await;
    // From here on only the shim reads the pipes, if a process still writes to them.
    let stdout = output.streams.stdout.capture.finish();
    let stderr = output.streams.stderr.map(|reader| reader.capture.finish()).unwrap_or_default();
    let view = output.view;
    let mut notes = output.notes;
    notes.extend(note.map(str::to_owned));
    notes.extend(stdout.notes.iter().cloned());
    notes.extend(stderr.notes.iter().cloned());
    let shell = ShellAfter { child, directory: early.into_directory(), files: None };
    let output = Produced { stdout, stderr, view };
    let completion = Completion { pid, exit, silent, output, survivors, task, moved, elapsed, notes, denials, shell };
    Ok((completion, recorded))
}

/// The order for a task of what the command has left on its pipes, if there is a registry to take it.
fn adoption<S: Shim, L: Listener>(drive: &mut Drive<'_, S, L>) -> Option<Adoption> {
    let registry = drive.request.registry.as_ref()?;
    if !drive.process.left_survivors() || !drive.output.streams.is_open() {
        return None;
    }
    let spec = drive.request.later_task()?;
    match registry.reserve(&spec.id) {
        // The task counts itself from here on.
        Ok(_reservation) => {}
        Err(RegistryError::Closed) => return None,
        Err(error) => {
            drive.output.notes.push(format!("what the command left running was not made a task: {error}"));
            return None;
        }
    }
    let transfer = Transfer { spec, resume: drive.output.streams.resume() };
    Some(Adoption { registry: Arc::clone(registry), transfer })
}
