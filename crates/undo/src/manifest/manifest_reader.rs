//! Reads a manifest up to its last whole record.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use super::manifest_records::{ManifestHeader, ManifestRecord, VERSION};
use super::manifest_writer::MAGIC;
use super::record_frames::RecordFrames;
use super::run_manifest::RunManifest;

/// Why a manifest cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ManifestReadError {
    /// The system refuses it.
    #[error("{}: {source}", path.display())]
    System {
        #[expect(missing_docs, reason = "the file")]
        path: PathBuf,
        #[expect(missing_docs, reason = "what the system said")]
        source: io::Error,
    },
    /// The file has no whole first record of ours.
    #[error("{} is no manifest of agent-bash", .0.display())]
    Malformed(PathBuf),
    /// Another version of agent-bash has written it.
    #[error("{} has the unknown version {version}", path.display())]
    Version {
        #[expect(missing_docs, reason = "the file")]
        path: PathBuf,
        #[expect(missing_docs, reason = "its version")]
        version: u32,
    },
}

/// Reads a manifest. Records after a damaged record are left out.
///
/// # Errors
/// If there is no header that can be read.
pub fn read(path: &Path) -> Result<RunManifest, ManifestReadError> {
    let (mut records, header) = open(path)?;
    let mut point = RunManifest::new(header);
    // Sorting all at once is quicker than adding one after another.
    let mut after = Vec::new();
    while let Some(record) = records.next_one() {
        match record {
            ManifestRecord::After { path, state } => after.push((path, state)),
            record => point.add(record),
        }
    }
    point.states_after_run = after.into_iter().collect();
    point.length = records.length;
    Ok(point)
}

/// Reads the first record of a manifest.
///
/// # Errors
/// As [`read`].
pub fn read_header(path: &Path) -> Result<ManifestHeader, ManifestReadError> {
    open(path).map(|(_, header)| header)
}

fn open(path: &Path) -> Result<(RecordFrames<BufReader<File>>, ManifestHeader), ManifestReadError> {
    #[cfg(test)]
    crate::work_counts::add(crate::work_counts::WorkKind::Manifest);
    let failed = |source| ManifestReadError::System { path: path.to_owned(), source };
    let file = sys::open_regular(path, File::options().read(true)).map_err(failed)?;
    let mut from = BufReader::with_capacity(128 * 1024, file);
    let mut magic = [0; MAGIC.len()];
    let begins = from.read_exact(&mut magic).is_ok() && magic == MAGIC;
    let mut records = RecordFrames::after(from, MAGIC.len() as u64);
    match begins.then(|| records.next_one()) {
        Some(Some(ManifestRecord::Header(header))) if header.version == VERSION => Ok((records, header)),
        Some(Some(ManifestRecord::Header(header))) => {
            Err(ManifestReadError::Version { path: path.to_owned(), version: header.version })
        }
        _ => Err(ManifestReadError::Malformed(path.to_owned())),
    }
}
