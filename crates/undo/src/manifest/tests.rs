use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::manifest_writer::MAGIC;
use super::record_frames::FRAME;
use super::*;
use crate::path_state::{ContentHash, FileIdentity, FileMeta, FileState, FileTime, ImageId, KnownContents, PathState};
use protocol::task::MachineIdentity;

pub(crate) fn header(run: &str, purpose: ManifestPurpose) -> ManifestHeader {
    ManifestHeader {
        version: VERSION,
        run: run.into(),
        command: "rm -r x".into(),
        cwd: "/w".into(),
        at: 1,
        machine: MachineIdentity::default(),
        purpose,
        tree: PathBuf::new(),
    }
}

fn file(contents: KnownContents) -> PathState {
    let id = FileIdentity { device: 1, inode: u64::MAX };
    let time = FileTime { seconds: -1, nanoseconds: 999_999_999 };
    let meta = FileMeta { mode: 0o4755, uid: 1, gid: 2, id, xattrs: Vec::new() };
    PathState::File(FileState { meta, size: 3, mtime: time, ctime: time, links: 2, contents })
}

fn records() -> Vec<ManifestRecord> {
    let path = || PathBuf::from(std::ffi::OsStr::from_bytes(b"/w/\xff"));
    let image = ImageId { place: 1, number: 7 };
    let id = FileIdentity { device: 1, inode: 2 };
    vec![
        ManifestRecord::Place { number: 1, path: "/m/.u".into() },
        ManifestRecord::Before { path: path(), state: file(KnownContents::Untouched) },
        ManifestRecord::Kept { path: path(), contents: KnownContents::Image(image) },
        ManifestRecord::Moving(RecordedRename { from: "/a".into(), to: "/b".into(), id, directory: true, swap: None }),
        ManifestRecord::Renamed(RecordedRename { from: "/a".into(), to: "/b".into(), id, directory: true, swap: None }),
        ManifestRecord::Missing { path: path(), why: "too large".into() },
        ManifestRecord::After { path: path(), state: file(KnownContents::Hash(ContentHash(u128::MAX))) },
        ManifestRecord::End(ManifestEnd {
            at: 2,
            bytes: 3,
            extent: CoverageExtent::Part,
            not_covered: vec!["a push".into()],
        }),
    ]
}
use std::os::unix::ffi::OsStrExt as _;

fn written(path: &Path) -> RunManifest {
    let mut writer = ManifestWriter::create(path, header("r", ManifestPurpose::Undo)).expect("created");
    records().iter().for_each(|record| writer.append(record).expect("written"));
    drop(writer);
    read(path).expect("read")
}

#[test]
fn what_was_written_is_read() {
    let dir = tempfile::tempdir().expect("a folder");
    let point = written(&dir.path().join("m"));
    assert_eq!(point.header, header("r", ManifestPurpose::Undo));
    let path = Path::new(std::ffi::OsStr::from_bytes(b"/w/\xff"));
    assert_eq!(point.states_before[path], file(KnownContents::Image(ImageId { place: 1, number: 7 })));
    assert_eq!(point.states_after_run[path], file(KnownContents::Hash(ContentHash(u128::MAX))));
    assert_eq!(point.names.earlier_path(Path::new("/b/x")).as_deref(), Some(Path::new("/a/x")));
    assert_eq!((point.moved.len(), point.moving.len(), point.uncovered.len()), (1, 0, 1));
    assert_eq!(point.end.map(|end| end.bytes), Some(3));
    assert_eq!(point.length, fs::metadata(dir.path().join("m")).expect("there").len());
}

#[test]
fn a_torn_end_is_left_out_and_a_resumed_manifest_goes_on_before_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("m");
    let whole = written(&path);
    let bytes = fs::read(&path).expect("read");
    fs::write(&path, &bytes[..bytes.len() - 1]).expect("cut");
    let torn = read(&path).expect("read");
    assert!(torn.end.is_none() && torn.states_after_run == whole.states_after_run && torn.length < whole.length);
    let mut writer = ManifestWriter::resume(&path, torn.length).expect("resumed");
    writer.append(records().last().expect("some")).expect("written");
    drop(writer);
    assert_eq!(fs::read(&path).expect("read"), bytes);
}

#[test]
fn a_manifest_that_is_being_written_cannot_be_resumed() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("m");
    let _writer = ManifestWriter::create(&path, header("r", ManifestPurpose::Undo)).expect("created");
    assert!(ManifestWriter::resume(&path, 0).is_err());
    assert!(ManifestWriter::create(&path, header("r", ManifestPurpose::Undo)).is_err());
}

#[test]
fn other_files_are_no_manifests() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("m");
    for bytes in [&b""[..], b"agent-bash", b"agent-bash undo\n", b"agent-bash undo\n\x01\0\0\0\0\0\0\0\0"] {
        fs::write(&path, bytes).expect("written");
        assert!(matches!(read(&path), Err(ManifestReadError::Malformed(_))), "{bytes:?}");
    }
    drop(fs::remove_file(&path));
    let newer = ManifestHeader { version: VERSION + 1, ..header("r", ManifestPurpose::Undo) };
    drop(ManifestWriter::create(&path, newer).expect("created"));
    assert!(matches!(read(&path), Err(ManifestReadError::Version { version: 2, .. })));
    assert!(matches!(read(&dir.path().join("none")), Err(ManifestReadError::System { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn a_damaged_byte_ends_the_manifest_there(at in 0_usize..10_000, change in 1_u8..=255) {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("m");
        let whole = written(&path);
        let mut bytes = fs::read(&path).expect("read");
        let at = at % bytes.len();
        bytes[at] ^= change;
        fs::write(&path, &bytes).expect("written");
        match read(&path) {
            Ok(point) => {
                prop_assert!(point.length <= at as u64 && point.length < whole.length);
                prop_assert_eq!(point.header, whole.header);
            }
            Err(_) => prop_assert!(at < MAGIC.len() + FRAME + 256),
        }
    }
}
