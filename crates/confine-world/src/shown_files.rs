//! Files of the host that results name, which their own world can read although a private or hidden directory covers
//! them. Each file is mounted into its world at its own path: logs by the shim, spilled output by the addon before the
//! result is delivered.

use std::collections::HashMap;
use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use super::hidden_covers::HiddenPathCovers;
use super::mount_layers::{LayerKind, MountLayer};
use confine_policy::{ConfinementPolicy, ReadScope, TmpPlacement};
use sys::{FileRight, LandlockRuleset, LinkResolution, MountFlags};

/// The directories of a world that cover others, and the files that are shown in them.
#[derive(Debug)]
pub(super) struct ShownFiles {
    /// All places at which something is mounted.
    places: HashMap<PathBuf, CoveringMount>,
    /// The files that are shown, each as it is mounted.
    files: HashMap<PathBuf, File>,
    /// Whether Landlock needs a rule for each shown file.
    rules: bool,
}

/// The mount at a place.
#[derive(Debug)]
enum CoveringMount {
    /// The files of the host.
    Open,
    /// A private directory for temporary files over this directory of the host.
    Private(File),
    /// A read-only directory that shows less over this directory of the host. `true`: it belongs to this world alone.
    Covered(File, bool),
}

impl ShownFiles {
    /// Opens the directories that layers are about to cover.
    pub fn open_before_covering(policy: &ConfinementPolicy, layers: &[MountLayer]) -> Self {
        let is_tmp =
            |at: &Path| policy.tmp == TmpPlacement::Private && [Path::new("/tmp"), Path::new("/var/tmp")].contains(&at);
        let place = |layer: &MountLayer| {
            let below =
                |other: &MountLayer| matches!(other.what, LayerKind::Tree(_)) && other.at.starts_with(&layer.at);
            match layer.what {
                LayerKind::Tree(_) if !is_tmp(&layer.at) => Some(CoveringMount::Open),
                _ if !layer.at.is_dir() => None,
                LayerKind::Tree(_) => sys::open_unread(&layer.at).ok().map(CoveringMount::Private),
                LayerKind::Veil => sys::open_unread(&layer.at).ok().map(|file| CoveringMount::Covered(file, true)),
                LayerKind::Hidden => {
                    let own = layers.iter().any(below);
                    sys::open_unread(&layer.at).ok().map(|file| CoveringMount::Covered(file, own))
                }
            }
        };
        // Covers come last among the layers at a place.
        let mut places = HashMap::new();
        for layer in layers {
            if let Some(place) = place(layer)
                && !(matches!(place, CoveringMount::Open) && places.contains_key(&layer.at))
            {
                places.insert(layer.at.clone(), place);
            }
        }
        Self { places, files: HashMap::new(), rules: policy.read != ReadScope::All }
    }

    /// Returns a value that shows no file.
    pub fn none() -> Self {
        Self { places: HashMap::new(), files: HashMap::new(), rules: false }
    }

    /// Shows a file, read-only, at its own path. A file that is visible anyway needs nothing.
    ///
    /// # Errors
    /// If the file does not exist, or a command of the world has put another file in its way.
    pub fn show(
        &mut self,
        path: &Path,
        hidden: Option<&mut HiddenPathCovers>,
        landlock: Option<&OwnedFd>,
    ) -> io::Result<()> {
        self.forget_removed();
        let Some(at) = path.ancestors().skip(1).find(|at| self.places.contains_key(*at)) else { return Ok(()) };
        let Some(place) = self.places.get_mut(at) else { return Ok(()) };
        let rest = path_names(path.strip_prefix(at).unwrap_or(path))?;
        let (source, own) = match place {
            CoveringMount::Open => return Ok(()),
            CoveringMount::Private(below) => (find(below, &rest)?, None),
            CoveringMount::Covered(below, own) => (find(below, &rest)?, Some(own)),
        };
        let id = |file: &File| file.metadata().map(|data| (data.dev(), data.ino()));
        if self.files.get(path).is_some_and(|shown| id(shown).ok() == id(&source).ok()) {
            return Ok(());
        }
        let tree = sys::copy_tree_at(source.as_fd(), Path::new(""))?;
        sys::restrict_tree(&tree, MountFlags { no_exec: true, ..MountFlags::READ_ONLY })?;
        let attached = match own {
            None => attach_file(&tree, at, &rest),
            Some(own) => {
                if !*own {
                    hidden.ok_or(io::ErrorKind::NotFound)?.veil_directory(at)?;
                    *own = true;
                }
                // Commands have no rights in this directory, and it has no room for anything that matters.
                sys::set_read_only(at, false)?;
                let attached = attach_file(&tree, at, &rest);
                sys::set_read_only(at, true)?;
                attached
            }
        }?;
        if let Some(landlock) = landlock.filter(|_| self.rules) {
            LandlockRuleset::from_fd(landlock.try_clone()?).grant(&attached, FileRight::Read, false)?;
        }
        self.files.insert(path.to_owned(), attached);
        Ok(())
    }

    /// Detaches files that the host has removed, which would otherwise keep their space on the disk.
    fn forget_removed(&mut self) {
        self.files.retain(|_, file| {
            let is_removed = file.metadata().is_ok_and(|data| data.nlink() == 0);
            !(is_removed && sys::detach_open(file).is_ok())
        });
    }
}

/// Returns the names of a relative path.
fn path_names(path: &Path) -> io::Result<Vec<CString>> {
    let name = |component: Component<'_>| match component {
        Component::Normal(name) => Ok(CString::new(OsStr::as_bytes(name))?),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    };
    path.components().map(name).collect()
}

/// Opens a regular file below a directory. Links are not followed.
fn find(below: &File, names: &[CString]) -> io::Result<File> {
    let mut file = below.try_clone()?;
    for name in names {
        file = File::from(sys::open_place(file.as_fd(), name, false, LinkResolution::Texts)?);
    }
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

/// Attaches a file below a directory, and creates a place for it there. Returns the file as it is mounted. Commands of
/// the world may change that directory meanwhile, so no link is followed.
fn attach_file(tree: &OwnedFd, at: &Path, names: &[CString]) -> io::Result<File> {
    let (last, above) = names.split_last().ok_or(io::ErrorKind::InvalidInput)?;
    let mut directory = sys::open_unread(at)?;
    for name in above {
        accept_existing(sys::make_directory(directory.as_fd(), name, 0o755))?;
        directory = File::from(sys::open_place(directory.as_fd(), name, false, LinkResolution::Texts)?);
        if !directory.metadata()?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
    }
    accept_existing(sys::make_node(directory.as_fd(), last, sys::REGULAR | 0o600, 0))?;
    let here: BorrowedFd<'_> = directory.as_fd();
    sys::attach_tree_at(tree, here, last)?;
    Ok(File::from(sys::open_place(here, last, false, LinkResolution::Texts)?))
}

/// Treats an existing file like a new file.
fn accept_existing(made: nix::Result<()>) -> io::Result<()> {
    match made {
        Ok(()) | Err(nix::errno::Errno::EEXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
