//! The machine of a process, and the container on it.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use sys::PidNamespace;

/// The place in which a pid names one certain process: one boot of one machine, and one pid namespace of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MachineIdentity {
    /// The boot of the machine.
    pub boot: String,
    /// The pid namespace. `None` on systems without namespaces, and in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<PidNamespace>,
    /// The name of the machine. `None` in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_name: Option<String>,
}

/// The place of a task, as a process sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskWhereabouts {
    /// The place of this process.
    Here,
    /// This machine before its last restart. No process of the task is left.
    BeforeRestart,
    /// Another machine or container, or a container that is gone. The task may run, and its processes cannot be seen.
    Elsewhere,
}

impl MachineIdentity {
    /// Returns the place of this process.
    pub fn here() -> &'static Self {
        static HERE: OnceLock<MachineIdentity> = OnceLock::new();
        HERE.get_or_init(|| Self { boot: sys::boot_id(), namespace: sys::pid_namespace(), host_name: sys::host_name() })
    }

    /// Returns where this place is for a process in the place `here`.
    pub fn seen_from(&self, here: &Self) -> TaskWhereabouts {
        if self.boot == here.boot {
            return match (self.namespace, here.namespace) {
                (Some(theirs), Some(ours)) if !theirs.is_same(ours) => TaskWhereabouts::Elsewhere,
                (Some(_) | None, Some(_) | None) => TaskWhereabouts::Here,
            };
        }
        // A container may be started again on any machine, so only processes outside of containers are known to have
        // ended with an earlier boot of the machine with this name.
        let same_machine = self.host_name == here.host_name && self.is_whole() && here.is_whole();
        if self.host_name.is_none() || same_machine {
            TaskWhereabouts::BeforeRestart
        } else {
            TaskWhereabouts::Elsewhere
        }
    }

    /// Returns a short form of this place, for names of files: `PLACE`, and outside of containers `PLACE.MACHINE`.
    pub fn tag(&self) -> String {
        let place = short(&(&self.boot, self.namespace.map(|namespace| (namespace.id, namespace.init_started))));
        if self.is_whole() { format!("{place}.{}", short(&self.host_name)) } else { place }
    }

    /// Returns where the place with this tag is for a process in this place. `None` for a text that is no tag.
    pub fn whereabouts_of(&self, tag: &str) -> Option<TaskWhereabouts> {
        let is_short = |text: &str| text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !tag.split('.').all(is_short) {
            return None;
        }
        let ours = self.tag();
        let machine = |tag: &str| tag.split_once('.').map(|(_, machine)| machine.to_owned());
        Some(match machine(tag) {
            _ if tag == ours => TaskWhereabouts::Here,
            Some(name) if machine(&ours).is_some_and(|ours| ours == name) => TaskWhereabouts::BeforeRestart,
            Some(_) | None => TaskWhereabouts::Elsewhere,
        })
    }

    /// Returns whether this is a whole machine, and not a container on it.
    fn is_whole(&self) -> bool {
        self.namespace.is_none_or(PidNamespace::is_whole_machine)
    }
}

/// Length of a part of a tag. Paths with tags are read by models, and end in names of sockets, which must be short.
const DIGITS: usize = 6;

fn short(value: &impl Hash) -> String {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    format!("{:0DIGITS$x}", hasher.finish() & 0xff_ffff)
}

#[cfg(test)]
mod tests {
    use super::TaskWhereabouts::{BeforeRestart, Elsewhere, Here};
    use super::*;

    fn place(boot: &str, namespace: Option<(u64, Option<u64>)>, host_name: Option<&str>) -> MachineIdentity {
        let namespace = namespace.map(|(id, init_started)| PidNamespace { id, init_started });
        MachineIdentity { boot: boot.into(), namespace, host_name: host_name.map(str::to_owned) }
    }

    #[test]
    fn this_process_is_here() {
        let here = MachineIdentity::here();
        assert_eq!(here.clone().seen_from(here), Here);
        assert!(!here.boot.is_empty() && here.host_name.is_some());
        assert_eq!(here.namespace.is_some(), cfg!(target_os = "linux"));
    }

    #[test]
    fn a_place_is_a_boot_and_a_namespace_and_its_first_process() {
        let here = place("boot", Some((7, Some(100))), Some("a"));
        for (boot, namespace, expected) in [
            ("boot", Some((7, Some(100))), Here),
            ("boot", Some((8, Some(100))), Elsewhere),
            ("boot", Some((7, Some(101))), Elsewhere),
            ("boot", Some((7, None)), Here),
            ("boot", None, Here),
            ("other", Some((7, Some(100))), Elsewhere),
        ] {
            let theirs = place(boot, namespace, Some("a"));
            assert_eq!(theirs.seen_from(&here), expected, "{theirs:?}");
        }
        assert_eq!(place("boot", Some((7, Some(100))), Some("b")).seen_from(&here), Here, "a name may change");
    }

    #[test]
    fn a_tag_tells_the_same_places_apart() {
        let whole = Some((PidNamespace::WHOLE_MACHINE, Some(1)));
        let here = place("boot", whole, Some("a"));
        for (theirs, expected) in [
            (here.clone(), Some(Here)),
            (place("other", whole, Some("a")), Some(BeforeRestart)),
            (place("other", whole, Some("b")), Some(Elsewhere)),
            (place("boot", Some((7, Some(1))), Some("a")), Some(Elsewhere)),
            (place("other", Some((7, Some(1))), Some("a")), Some(Elsewhere)),
        ] {
            assert_eq!(here.whereabouts_of(&theirs.tag()), expected, "{theirs:?}");
        }
        let container = place("boot", Some((7, Some(1))), Some("a"));
        assert_eq!(container.whereabouts_of(&container.tag()), Some(Here));
        assert_eq!(container.whereabouts_of(&here.tag()), Some(Elsewhere));
        for text in ["", ".", "01234", "0123456", "01234x", "012345.", "012345.0", "012345.012345.0"] {
            assert_eq!(here.whereabouts_of(text), None, "{text}");
        }
    }

    #[test]
    fn only_the_machine_itself_is_known_to_be_restarted() {
        let whole = Some((PidNamespace::WHOLE_MACHINE, Some(1)));
        let here = place("boot", whole, Some("a"));
        assert_eq!(place("other", whole, Some("a")).seen_from(&here), BeforeRestart);
        assert_eq!(place("other", whole, Some("b")).seen_from(&here), Elsewhere, "two machines share a home");
        assert_eq!(place("other", Some((9, Some(1))), Some("a")).seen_from(&here), Elsewhere, "a container");
        assert_eq!(place("other", None, None).seen_from(&here), BeforeRestart, "a file of an earlier version");
        let (mac, other) = (place("boot", None, Some("m")), place("other", None, Some("m")));
        assert_eq!(other.seen_from(&mac), BeforeRestart, "a system without namespaces");
    }
}
