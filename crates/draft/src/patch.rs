//! The changes of a draft as a patch that `git apply` takes.

use std::fmt::Write as _;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use similar::TextDiff;

use super::difference::DraftDifference;
use super::layer::read_file;
use receipt::FileRename;
use undo::path_state::PathState;

/// The largest file whose lines are compared, in bytes. A larger one is named as a binary one.
const COMPARED: u64 = 4 << 20;
/// Time that the comparison of one file may take. The rest of the file is then removed and added as a whole.
const PATIENCE: Duration = Duration::from_secs(2);

/// How much a patch shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PatchLimits {
    /// Unchanged lines around each change.
    pub context: usize,
    /// Bytes of the patch. Files beyond it are only counted.
    pub bytes: usize,
}

impl Default for PatchLimits {
    fn default() -> Self {
        Self { context: 3, bytes: 1 << 20 }
    }
}

/// A file at one side, as git has it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PatchSide {
    /// Nothing that git keeps.
    Absent,
    /// A file of lines, or a symbolic link, whose line is its target.
    Text { mode: u32, text: String },
    /// Another file, with its size.
    Binary { mode: u32, bytes: u64 },
}

/// Returns the patch. Paths are relative to `root`. Binary files are named at its beginning, with their sizes.
///
/// # Errors
/// If a file cannot be read.
pub fn patch_of(
    differences: &[DraftDifference],
    renames: &[FileRename],
    root: &Path,
    limits: PatchLimits,
) -> io::Result<String> {
    let (mut notes, mut patch, mut left) = (String::new(), String::new(), 0);
    let short = |path: &Path| quoted(path.strip_prefix(root).unwrap_or(path));
    for one in differences.iter().filter(|one| !one.path.iter().any(|name| name == ".git")) {
        let moved = |rename: &&FileRename| one.path.starts_with(&rename.to) || one.path.starts_with(&rename.from);
        if let Some(rename) = renames.iter().find(moved) {
            let Ok(rest) = one.path.strip_prefix(&rename.to) else { continue };
            if !one.draft.state.is_directory() {
                let (from, to) = (short(&rename.from.join(rest)), short(&one.path));
                let _ = write!(
                    patch,
                    "diff --git {} {}\nsimilarity index 100%\nrename from {from}\nrename to {to}\n",
                    side_name("a/", &from),
                    side_name("b/", &to)
                );
            }
            continue;
        }
        let (old, new) = (read_side(&one.base, &one.path)?, read_side(&one.draft.state, &one.place)?);
        if old == new {
            continue;
        }
        let name = short(&one.path);
        if let Some((before, after)) = binary_sizes(&old, &new) {
            let size =
                |bytes: Option<u64>| bytes.map_or_else(|| "nothing".to_owned(), |bytes| format!("{bytes} bytes"));
            let _ = writeln!(notes, "# binary: {name}: {} → {}", size(before), size(after));
            continue;
        }
        let next = file_patch(&name, &old, &new, limits.context);
        if patch.len() + next.len() > limits.bytes {
            left += 1;
        } else {
            patch.push_str(&next);
        }
    }
    if left > 0 {
        let _ = writeln!(notes, "# {left} more files: the patch is limited to {} bytes", limits.bytes);
    }
    Ok(notes + &patch)
}

/// Reads a file as git keeps it.
fn read_side(state: &PathState, place: &Path) -> io::Result<PatchSide> {
    Ok(match state {
        PathState::File(file) => {
            let mode = if file.meta.mode & 0o100 == 0 { 0o100_644 } else { 0o100_755 };
            let text = if file.size > COMPARED { None } else { String::from_utf8(read_file(place, COMPARED)?).ok() };
            match text.filter(|text| !text.contains('\0')) {
                Some(text) => PatchSide::Text { mode, text },
                None => PatchSide::Binary { mode, bytes: file.size },
            }
        }
        PathState::Link { target, .. } => match target.to_str() {
            Some(text) => PatchSide::Text { mode: 0o120_000, text: text.to_owned() },
            None => PatchSide::Binary { mode: 0o120_000, bytes: target.as_os_str().len() as u64 },
        },
        PathState::Absent | PathState::Directory(_) | PathState::Other { .. } => PatchSide::Absent,
    })
}

/// Returns the sizes before and after, if one side has no lines.
fn binary_sizes(old: &PatchSide, new: &PatchSide) -> Option<(Option<u64>, Option<u64>)> {
    let size = |side: &PatchSide| match side {
        PatchSide::Absent => None,
        PatchSide::Text { text, .. } => Some(text.len() as u64),
        PatchSide::Binary { bytes, .. } => Some(*bytes),
    };
    let is_binary = [old, new].iter().any(|side| matches!(side, PatchSide::Binary { .. }));
    is_binary.then(|| (size(old), size(new)))
}

/// Returns the patch of a file. One whose kind changes is removed and created.
fn file_patch(name: &str, old: &PatchSide, new: &PatchSide, context: usize) -> String {
    let parts = |side: &PatchSide| match side {
        PatchSide::Text { mode, text } => Some((*mode, text.clone())),
        PatchSide::Absent | PatchSide::Binary { .. } => None,
    };
    let (old, new) = (parts(old), parts(new));
    if let (Some((one, _)), Some((other, _))) = (&old, &new)
        && (*one == 0o120_000) != (*other == 0o120_000)
    {
        return one_patch(name, old, None, context) + &one_patch(name, None, new, context);
    }
    one_patch(name, old, new, context)
}

fn one_patch(name: &str, old: Option<(u32, String)>, new: Option<(u32, String)>, context: usize) -> String {
    let (ours, theirs) = (side_name("a/", name), side_name("b/", name));
    let mut patch = format!("diff --git {ours} {theirs}\n");
    let _ = match (&old, &new) {
        (None, Some((mode, _))) => writeln!(patch, "new file mode {mode:o}"),
        (Some((mode, _)), None) => writeln!(patch, "deleted file mode {mode:o}"),
        (Some((one, _)), Some((other, _))) if one != other => {
            writeln!(patch, "old mode {one:o}\nnew mode {other:o}")
        }
        _ => Ok(()),
    };
    let (from, to) = (old.as_ref().map(|_| ours), new.as_ref().map(|_| theirs));
    let nothing = || "/dev/null".to_owned();
    let [old, new] = [old, new].map(|side| side.map_or_else(String::new, |(_, text)| text));
    let lines = TextDiff::configure().timeout(PATIENCE).diff_lines(&old, &new);
    let mut lines = lines.unified_diff();
    lines.context_radius(context).header(&from.unwrap_or_else(nothing), &to.unwrap_or_else(nothing));
    let _ = write!(patch, "{lines}");
    patch
}

/// Returns the name of a side, with its prefix inside of the quotes.
fn side_name(prefix: &str, name: &str) -> String {
    name.strip_prefix('"').map_or_else(|| format!("{prefix}{name}"), |rest| format!("\"{prefix}{rest}"))
}

/// Returns a path as git quotes it.
fn quoted(path: &Path) -> String {
    let bytes = path.as_os_str().as_bytes();
    let is_plain = |byte: &u8| (b' '..0x7f).contains(byte) && !matches!(byte, b'"' | b'\\');
    if bytes.iter().all(is_plain) {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let mut text = String::from("\"");
    for byte in bytes {
        let _ = match byte {
            b'\n' => write!(text, "\\n"),
            b'\t' => write!(text, "\\t"),
            b'"' | b'\\' => write!(text, "\\{}", char::from(*byte)),
            byte if is_plain(byte) => write!(text, "{}", char::from(*byte)),
            byte => write!(text, "\\{byte:03o}"),
        };
    }
    text + "\""
}
