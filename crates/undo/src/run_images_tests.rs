use super::*;
use crate::path_lookup::read_state;
use crate::path_state::PathState;

fn file(path: &Path) -> FileState {
    match read_state(path).expect("read") {
        PathState::File(file) => file,
        other => panic!("{other:?}"),
    }
}

struct ImageTestKit {
    _dir: tempfile::TempDir,
    base: PathBuf,
    images: RunImages,
}

fn kit(limits: UndoLimits) -> ImageTestKit {
    let dir = tempfile::tempdir().expect("a folder");
    let base = dir.path().canonicalize().expect("real");
    let images = RunImages::new(base.join("files"), "run", &base, limits).expect("made");
    ImageTestKit { _dir: dir, base, images }
}

impl ImageTestKit {
    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.base.join(name);
        fs::write(&path, text).expect("written");
        path
    }

    fn keep(&mut self, path: &Path, way: KeepMethod) -> Result<PathBuf, KeepError> {
        let found = file(path);
        match self.images.keep(path, &found, way)? {
            KnownContents::Image(id) => Ok(self.images.path(id)),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_link_is_the_file_itself_and_a_copy_has_its_contents_and_time() {
    let mut kit = kit(UndoLimits::default());
    let (one, other) = (kit.write("one", "1"), kit.write("other", "2"));
    let (linked, copied) =
        (kit.keep(&one, KeepMethod::Link).expect("kept"), kit.keep(&other, KeepMethod::Copy).expect("kept"));
    assert_eq!(file(&linked).meta.id, file(&one).meta.id);
    assert_ne!(file(&copied).meta.id, file(&other).meta.id);
    assert_eq!(file(&copied).mtime, file(&other).mtime);
    assert_eq!(fs::read(&copied).expect("read"), b"2");
    assert_eq!(kit.images.size().bytes, 2);
}

#[test]
fn a_file_is_kept_once_under_all_its_names_and_a_link_becomes_a_copy_before_it_changes() {
    let mut kit = kit(UndoLimits::default());
    let one = kit.write("one", "1");
    let other = kit.base.join("other");
    fs::hard_link(&one, &other).expect("linked");
    let linked = kit.keep(&one, KeepMethod::Link).expect("kept");
    assert_eq!(kit.keep(&other, KeepMethod::Link).expect("kept"), linked);
    assert_eq!(kit.keep(&other, KeepMethod::Copy).expect("kept"), linked);
    fs::write(&other, "changed").expect("written");
    assert_eq!(fs::read(&linked).expect("read"), b"1");
    assert_eq!(kit.images.size().bytes, 1);
}

#[test]
fn limits_hold_and_a_large_file_is_kept_by_a_link() {
    let mut kit = kit(UndoLimits { file_bytes: 4, run_bytes: 10, ..UndoLimits::default() });
    let large = kit.write("large", "12345");
    assert!(matches!(kit.keep(&large, KeepMethod::Copy), Err(KeepError::FileTooLarge { size: 5, most: 4 })));
    kit.keep(&large, KeepMethod::Link).expect("kept");
    for (name, fits) in [("a", true), ("b", false), ("c", false)] {
        let path = kit.write(name, "1234");
        assert_eq!(kit.keep(&path, KeepMethod::Copy).is_ok(), fits, "{name}");
    }
    let last = kit.write("d", "1");
    kit.keep(&last, KeepMethod::Copy).expect("kept");
    assert_eq!(kit.images.size().bytes, 10);
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let mut kit = kit(UndoLimits::default());
    let gone = kit.write("gone", "1");
    let found = file(&gone);
    fs::remove_file(&gone).expect("removed");
    assert!(matches!(kit.images.keep(&gone, &found, KeepMethod::Copy), Err(KeepError::System(_))));
}

/// Returns a directory on another file system than the temporary directory, if there is one.
#[cfg(target_os = "linux")]
fn elsewhere(base: &Path) -> Option<tempfile::TempDir> {
    let device = |path: &Path| fs::metadata(path).map(|data| data.dev()).ok();
    let dir = tempfile::tempdir_in("/dev/shm").ok()?;
    (device(dir.path()) != device(base)).then_some(dir)
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_on_another_mount_is_kept_there_and_outside_of_the_directory_of_the_command() {
    let mut kit = kit(UndoLimits::default());
    let Some(dir) = elsewhere(&kit.base) else { return };
    kit.images.avoid = dir.path().to_owned();
    let path = dir.path().join("f");
    fs::write(&path, "1").expect("written");
    let kept = kit.keep(&path, KeepMethod::Link).expect("kept");
    let places: Vec<PathBuf> = kit.images.places().map(Path::to_owned).collect();
    if let [place] = &places[..] {
        assert_eq!(file(&kept).meta.id, file(&path).meta.id);
        assert!(kept.starts_with(place) && !place.starts_with(dir.path()));
        let parent = place.parent().expect("a parent");
        assert_eq!(fs::metadata(parent).expect("there").mode() & 0o777, 0o700);
        fs::remove_dir_all(place).expect("removed");
        let _used_by_others = fs::remove_dir(parent);
    } else {
        // No directory of that mount may be written to.
        assert!(kept.starts_with(&kit.base));
    }
    assert_eq!(fs::read(&path).expect("read"), b"1");
}

#[test]
fn a_resumed_run_uses_no_number_twice() {
    let mut kit = kit(UndoLimits::default());
    let one = kit.write("one", "1");
    let first = kit.keep(&one, KeepMethod::Copy).expect("kept");
    kit.images = RunImages::new(kit.base.join("files"), "run", &kit.base, UndoLimits::NONE).expect("made");
    kit.images.resume([]);
    let other = kit.write("other", "2");
    let second = kit.keep(&other, KeepMethod::Copy).expect("kept");
    assert_ne!(first, second);
    assert_eq!(fs::read(&first).expect("read"), b"1");
}

#[test]
fn what_a_removed_store_has_left_on_a_mount_is_swept() {
    let dir = tempfile::tempdir().expect("a directory");
    let old = SystemTime::now() - 3 * RETENTION;
    for (name, is_old) in [("old", true), ("new", false)] {
        let path = dir.path().join(name);
        fs::create_dir(&path).expect("made");
        fs::write(path.join("1"), "kept").expect("written");
        if is_old {
            fs::File::open(&path).and_then(|opened| opened.set_modified(old)).expect("set");
        }
    }
    sweep_place(dir.path(), SystemTime::now() - 2 * RETENTION);
    assert_eq!(["old", "new"].map(|name| dir.path().join(name).exists()), [false, true]);
}
