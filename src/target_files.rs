//! What JavaScript asks of a target besides commands: files, ports, undos, and the end of all that is ours there.

use std::pin::Pin;
use std::sync::Arc;

use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;
use serde_json::{Value, json};

use super::native_event::NativeEvent;
use super::recall::wanted_lines;
use super::target::NativeTarget;
use super::undo::{UndoPoint, Undone};
use super::undo_calls::NativeUndoOptions;
use remote::client::{RemoteTarget, UnansweredRequest};
use remote::{
    FileStat, NewestUndoRequest, TargetDirectoryEntry, TargetFileKind, TargetRequest, TargetResponse,
    TargetUndoRequest, UndoPointsRequest,
};
use runner::run::runtime;

#[napi]
impl NativeTarget {
    /// Reads a file; answered by `read`. Paths are absolute here and below.
    #[napi]
    pub fn read_file(&self, path: String) -> u32 {
        self.about(move |target| {
            let read = target.read_file(&path);
            async { Ok(NativeEvent::Read { bytes: read.await?.map(Uint8Array::from) }) }
        })
    }

    /// Replaces a file, or makes it with this mode; answered by `done`.
    #[napi]
    pub fn write_file(&self, path: String, content: Uint8Array, mode: Option<u32>) -> u32 {
        let content = content.to_vec();
        self.about(move |target| {
            let written = target.write_file(&path, content, mode);
            async { written.await.map(|()| NativeEvent::Done) }
        })
    }

    /// Tells what a file is; answered by `told`: `{ kind, bytes, mode, modifiedAt } | null`.
    #[napi]
    pub fn stat(&self, path: String) -> u32 {
        self.about(move |target| {
            let stat = target.stat(&path);
            async { Ok(NativeEvent::from_answer(&json!(stat.await?.as_ref().map(shown)))) }
        })
    }

    /// Lists a directory; answered by `told`: `{ name, kind }[] | null`.
    #[napi]
    pub fn list(&self, path: String) -> u32 {
        self.about(move |target| {
            let listed = target.list(&path);
            let entry = |TargetDirectoryEntry { name, kind }| json!({ "name": name, "kind": name_of(kind) });
            async move {
                Ok(NativeEvent::from_answer(&json!(
                    listed.await?.map(|all| all.into_iter().map(entry).collect::<Vec<_>>())
                )))
            }
        })
    }

    /// Removes a file or directory; answered by `told`: whether it was there.
    #[napi]
    pub fn remove(&self, path: String, recursive: bool) -> u32 {
        self.about(move |target| {
            let removed = target.remove(&path, recursive);
            async { Ok(NativeEvent::from_answer(&json!(removed.await?))) }
        })
    }

    /// As `Bridge.recall`, with a file there; `null` if it is gone.
    #[napi]
    pub fn recall(&self, path: String, is_raw: bool, from: f64, to: f64, pattern: Option<String>) -> u32 {
        self.about(move |target| {
            let lines = target.recall(&path, is_raw, wanted_lines(from, to, pattern));
            async { Ok(NativeEvent::from_answer(&json!(lines.await?))) }
        })
    }

    /// Makes a port there a port of this machine, `local_port` or with 0 any; answered by `told`: the port. The number
    /// of the call names it for `close_port`.
    #[napi]
    pub fn forward(&self, host: String, port: u16, local_port: u16) -> u32 {
        let id = self.calls.next_number();
        let asked = self.target().and_then(|target| Ok((runtime()?, target)));
        let Some((runtime, target)) = self.calls.start_or_report(id, asked) else { return id };
        let calls = Arc::clone(&self.calls);
        self.calls.run_call(id, runtime, None, None, async move {
            match target.forward(&host, port, local_port).await {
                Ok(forward) => {
                    let own = forward.port();
                    calls.forwards().insert(id, forward);
                    NativeEvent::from_answer(&json!(own))
                }
                Err(error) => error.into(),
            }
        });
        id
    }

    /// Closes a port that `forward` has opened; answered by `done`.
    #[napi]
    pub fn close_port(&self, forward: u32) -> u32 {
        let id = self.calls.next_number();
        let open = self.calls.forwards().remove(&forward);
        let Some(runtime) = self.calls.start_or_report(id, runtime()) else { return id };
        self.calls.run_call(id, runtime, None, None, async move {
            if let Some(forward) = open {
                forward.close().await;
            }
            NativeEvent::Done
        });
        id
    }

    /// Undoes a run; answered by `undone`.
    #[napi]
    pub fn undo(&self, run_id: String, options: NativeUndoOptions) -> u32 {
        let paths = options.paths.unwrap_or_default().into_iter().map(Into::into).collect();
        let dry_run = options.dry_run.unwrap_or(false);
        let ask = TargetRequest::Undo(TargetUndoRequest { run: run_id.clone(), dry_run, paths, dir: options.dir });
        self.ask(ask, move |answer| match answer {
            TargetResponse::Undone(undone) => Some(NativeEvent::Undone { undone: Undone::of(run_id, undone) }),
            _ => None,
        })
    }

    /// Lists the undo points, the newest first; answered by `undoPoints`. `cwd` as for `Bridge.undoPoints`.
    #[napi]
    pub fn undo_points(&self, cwd: Option<String>, dir: Option<String>) -> u32 {
        let ask = TargetRequest::UndoPoints(UndoPointsRequest { cwd: cwd.map(Into::into), dir });
        self.ask(ask, |answer| match answer {
            TargetResponse::UndoPoints(points) => {
                Some(NativeEvent::UndoPoints { points: points.into_iter().map(UndoPoint::from).collect() })
            }
            _ => None,
        })
    }

    /// Finds the newest run that an undo would take back; answered by `newestToUndo`. As `Bridge.newestToUndo`.
    #[napi]
    pub fn newest_to_undo(&self, cwd: String, paths: Option<Vec<String>>, dir: Option<String>) -> u32 {
        let paths = paths.unwrap_or_default().into_iter().map(Into::into).collect();
        self.ask(
            TargetRequest::NewestToUndo(NewestUndoRequest { cwd: cwd.into(), paths, dir }),
            |answer| match answer {
                TargetResponse::NewestToUndo(run) => Some(NativeEvent::NewestToUndo { run }),
                _ => None,
            },
        )
    }

    fn ask(
        &self,
        ask: TargetRequest,
        event: impl FnOnce(TargetResponse) -> Option<NativeEvent> + Send + 'static,
    ) -> u32 {
        self.about(move |target| {
            let answer: Pin<Box<dyn Future<Output = _> + Send>> = Box::pin(target.request(ask));
            async move { event(answer.await?).ok_or_else(UnansweredRequest::protocol_violation) }
        })
    }

    /// Asks something. The question has its place among the calls when this returns.
    pub(super) fn about<W>(&self, asking: impl FnOnce(&Arc<RemoteTarget>) -> W) -> u32
    where
        W: Future<Output = Result<NativeEvent, UnansweredRequest>> + Send + 'static,
    {
        let id = self.calls.next_number();
        let asked = self.target().and_then(|target| Ok((runtime()?, target)));
        let Some((runtime, target)) = self.calls.start_or_report(id, asked) else { return id };
        let asked = asking(&target);
        self.calls.run_call(id, runtime, None, None, async move { asked.await.unwrap_or_else(NativeEvent::from) });
        id
    }
}

pub(super) fn shown(stat: &FileStat) -> Value {
    let FileStat { kind, bytes, mode, modified_ms } = *stat;
    json!({ "kind": name_of(kind), "bytes": bytes, "mode": mode, "modifiedAt": modified_ms })
}

fn name_of(kind: TargetFileKind) -> &'static str {
    match kind {
        TargetFileKind::File => "file",
        TargetFileKind::Directory => "directory",
        TargetFileKind::Link => "link",
        TargetFileKind::Other => "other",
    }
}
