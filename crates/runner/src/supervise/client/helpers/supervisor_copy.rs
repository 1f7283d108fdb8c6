//! The copy of the supervisor that an AppArmor profile permits to make user namespaces.
//!
//! `agent-bash doctor --fix` makes it. The profile names a path that only root can write: a profile for a path below a
//! home would give namespaces to every program. `ts/cli/doctor/fix/causes.ts` has the same path.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The directory with a copy for each version.
const COPIES: &str = "/usr/local/lib/agent-bash";
/// Without this restriction, the copy has no use.
const RESTRICTION: &str = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";
const ROOT: u32 = 0;

/// Returns the copy of this supervisor, if AppArmor restricts namespaces and there is one that can be trusted.
pub(super) fn trusted_copy_of(own: &Path) -> Option<PathBuf> {
    is_restricted(Path::new(RESTRICTION)).then(|| find_trusted(own, Path::new(COPIES), ROOT))?
}

fn is_restricted(setting: &Path) -> bool {
    fs::read(setting).is_ok_and(|value| value.starts_with(b"1"))
}

/// Returns the copy below `copies` if only `owner` can change it, and it has the bytes of this supervisor.
fn find_trusted(own: &Path, copies: &Path, owner: u32) -> Option<PathBuf> {
    let folder = copies.join(env!("CARGO_PKG_VERSION"));
    let copy = folder.join(own.file_name()?);
    let belongs = |path: &Path| {
        let found = fs::symlink_metadata(path).ok()?;
        (found.uid() == owner && found.mode() & 0o022 == 0).then_some(found)
    };
    let is_folder = |path: &Path| belongs(path).is_some_and(|found| found.is_dir());
    let found = belongs(&copy).filter(Metadata::is_file)?;
    let has_size = found.len() == fs::metadata(own).ok()?.len();
    (has_size && is_folder(copies) && is_folder(&folder) && are_equal(own, &copy).ok()?).then_some(copy)
}

/// Returns whether two files of the same size have the same bytes.
fn are_equal(one: &Path, other: &Path) -> io::Result<bool> {
    const CHUNK: u64 = 64 * 1024;
    let (mut files, mut chunks) = ([File::open(one)?, File::open(other)?], [Vec::new(), Vec::new()]);
    loop {
        for (file, chunk) in files.iter_mut().zip(&mut chunks) {
            chunk.clear();
            file.take(CHUNK).read_to_end(chunk)?;
        }
        if chunks[0] != chunks[1] {
            return Ok(false);
        }
        if chunks[0].is_empty() {
            return Ok(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use tempfile::TempDir;

    use super::*;

    struct SupervisorCopyFixture {
        top: TempDir,
        own: PathBuf,
        copy: PathBuf,
    }

    impl SupervisorCopyFixture {
        fn new() -> Self {
            let top = tempfile::tempdir().expect("a directory");
            let own = top.path().join("supervisor");
            let folder = top.path().join("copies").join(env!("CARGO_PKG_VERSION"));
            fs::create_dir_all(&folder).expect("made");
            let copy = folder.join("supervisor");
            // More than a chunk.
            for path in [&own, &copy] {
                fs::write(path, vec![7; 100_000]).expect("written");
            }
            let place = Self { top, own, copy };
            place.allow(&place.copies(), 0o755);
            place.allow(&folder, 0o755);
            place.allow(&place.copy, 0o755);
            place
        }

        fn copies(&self) -> PathBuf {
            self.top.path().join("copies")
        }

        fn allow(&self, path: &Path, mode: u32) {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
        }

        fn trusted_by(&self, owner: u32) -> bool {
            find_trusted(&self.own, &self.copies(), owner).is_some_and(|path| path == self.copy)
        }

        fn is_trusted(&self) -> bool {
            self.trusted_by(nix::unistd::geteuid().as_raw())
        }
    }

    #[test]
    fn a_copy_with_the_bytes_of_the_supervisor_is_taken() {
        assert!(SupervisorCopyFixture::new().is_trusted());
    }

    #[test]
    fn a_copy_with_other_bytes_is_not_taken() {
        let place = SupervisorCopyFixture::new();
        for bytes in [vec![7; 99_999], [vec![7; 99_999], vec![8]].concat()] {
            fs::write(&place.copy, bytes).expect("written");
            assert!(!place.is_trusted());
        }
        fs::remove_file(&place.copy).expect("removed");
        assert!(!place.is_trusted());
    }

    #[test]
    fn a_copy_of_another_owner_or_one_that_others_can_change_is_not_taken() {
        let place = SupervisorCopyFixture::new();
        assert!(!place.trusted_by(nix::unistd::geteuid().as_raw() + 1));
        for path in [place.copy.clone(), place.copy.parent().expect("a directory").to_owned(), place.copies()] {
            for mode in [0o775, 0o757] {
                place.allow(&path, mode);
                assert!(!place.is_trusted(), "{} {mode:o}", path.display());
            }
            place.allow(&path, 0o755);
        }
        assert!(place.is_trusted());
    }

    #[test]
    fn a_link_is_not_taken() {
        let place = SupervisorCopyFixture::new();
        fs::remove_file(&place.copy).expect("removed");
        symlink(&place.own, &place.copy).expect("linked");
        assert!(!place.is_trusted());
    }

    #[test]
    fn only_the_restriction_of_apparmor_makes_the_copy_useful() {
        let place = SupervisorCopyFixture::new();
        let setting = place.top.path().join("setting");
        assert!(!is_restricted(&setting));
        for (value, restricts) in [("1\n", true), ("0\n", false), ("", false)] {
            fs::write(&setting, value).expect("written");
            assert_eq!(is_restricted(&setting), restricts, "{value:?}");
        }
    }
}
