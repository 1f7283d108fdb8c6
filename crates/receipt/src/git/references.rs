//! References: HEAD, loose files and packed references.

use std::{fs, io};

use memchr::memmem;

use super::git_repository::{GitFiles, MAX_FILE_BYTES, short_file};

/// The file of packed references.
const PACKED: &str = "packed-refs";
/// The longest chain of references that is followed.
const DEPTH: usize = 5;

/// Returns what HEAD names: the id of a commit, and the short name of the branch.
pub fn head(files: GitFiles<'_>) -> [Option<String>; 2] {
    let Some(text) = short_file(&files.own("HEAD")) else { return [None, None] };
    match parse_target(&text) {
        ReferenceTarget::Name(name) => {
            let short = name.strip_prefix("refs/heads/").unwrap_or(&name).to_owned();
            [reference_id(files, &name), Some(short)]
        }
        ReferenceTarget::Id(id) => [Some(id), None],
        ReferenceTarget::Nothing => [None, None],
    }
}

/// Returns the id to which a reference points.
pub fn reference_id(files: GitFiles<'_>, name: &str) -> Option<String> {
    let mut name = name.to_owned();
    for _ in 0..DEPTH {
        if name.split('/').any(|part| part == "..") {
            return None;
        }
        // Few references belong to one work tree alone.
        let is_own = ["refs/bisect/", "refs/worktree/", "refs/rewritten/"].iter().any(|own| name.starts_with(own));
        let place = if is_own || !name.starts_with("refs/") { files.own(&name) } else { files.common(&name) };
        match short_file(&place).map(|text| parse_target(&text)) {
            Some(ReferenceTarget::Id(id)) => return Some(id),
            Some(ReferenceTarget::Name(next)) => name = next,
            Some(ReferenceTarget::Nothing) | None => return packed_reference_id(files, &name),
        }
    }
    None
}

enum ReferenceTarget {
    Name(String),
    Id(String),
    Nothing,
}

/// Parses the content of a reference.
fn parse_target(text: &[u8]) -> ReferenceTarget {
    let text = String::from_utf8_lossy(text);
    let text = text.trim();
    match text.strip_prefix("ref:") {
        Some(name) => ReferenceTarget::Name(name.trim().to_owned()),
        None if is_id(text) => ReferenceTarget::Id(text.to_owned()),
        None => ReferenceTarget::Nothing,
    }
}

fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns whether all references can be read.
pub fn are_readable(files: GitFiles<'_>) -> bool {
    let packed = fs::metadata(files.common(PACKED));
    let is_readable = packed.map_or_else(
        |error| error.kind() == io::ErrorKind::NotFound,
        |metadata| metadata.is_file() && metadata.len() <= MAX_FILE_BYTES,
    );
    is_readable && !files.common("reftable").is_dir()
}

/// Finds a reference among the packed references.
fn packed_reference_id(files: GitFiles<'_>, name: &str) -> Option<String> {
    let text = sys::read_regular(&files.common(PACKED), MAX_FILE_BYTES).ok()?;
    let ending = format!(" {name}");
    let is_end = |at: usize| text.get(at).is_none_or(|byte| matches!(byte, b'\n' | b'\r'));
    let at = memmem::find_iter(&text, &ending).find(|at| is_end(at + ending.len()))?;
    let start = text[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let id = std::str::from_utf8(&text[start..at]).ok()?;
    is_id(id).then(|| id.to_owned())
}
