//! The features of the kernel and the state of standard input, for the program `agent-bash`.

use napi_derive::napi;

use sys::CgroupPlace;

/// Features of the Linux kernel that a process without privileges can use.
#[napi(object, object_from_js = false)]
pub struct NativeOffers {
    /// A process can be held by a descriptor, so that a signal never hits another process.
    pub pidfd: bool,
    /// All descriptors can be closed at once.
    pub close_range: bool,
    /// The version of Landlock's interface; 0 without Landlock.
    pub landlock: u32,
    /// A child can have a user namespace of its own.
    pub user_namespaces: bool,
    /// A process can answer the system calls of another process.
    pub notifications: bool,
    /// gVisor runs this process, and is its kernel.
    pub gvisor: bool,
    /// Why commands have no cgroups of their own; `null` if they do.
    pub no_cgroups: Option<String>,
    /// What a person can do about that.
    pub cgroup_remedy: Option<String>,
    /// The controllers that limits could use but commands do not have, each with the reason.
    pub missing_controllers: Vec<String>,
}

/// Asks the kernel for its features.
#[napi]
#[must_use]
pub fn offers() -> NativeOffers {
    let sys::KernelFeatures { pidfd, close_range, landlock, user_namespaces, notifications, gvisor } =
        sys::kernel_features();
    let (no_group, missing_controllers) = match sys::cgroup_place() {
        Ok(place) => (None, missing(&place).iter().map(ToString::to_string).collect()),
        Err(reason) => (Some(reason), Vec::new()),
    };
    NativeOffers {
        pidfd,
        close_range,
        landlock,
        user_namespaces,
        notifications,
        gvisor,
        no_cgroups: no_group.map(|reason| reason.to_string()),
        cgroup_remedy: no_group.map(|reason| reason.remedy().to_owned()),
        missing_controllers,
    }
}

/// Returns whether standard input is a pipe or a regular file with bytes that were not read yet.
#[napi]
#[must_use]
pub fn has_unread_input() -> bool {
    sys::has_unread_input()
}

/// A controller that limits could use but commands do not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum MissingController {
    /// The controller serves the hierarchy of version 1.
    #[error("{0} is bound to version 1")]
    BoundToVersion1(&'static str),
    /// The controller exists, and the cgroup does not pass it on to its children.
    #[error("{0} is not enabled below this cgroup")]
    NotEnabled(&'static str),
    /// The kernel or the parent cgroup does not offer the controller.
    #[error("{0} is not there")]
    Absent(&'static str),
}

fn missing(place: &CgroupPlace) -> Vec<MissingController> {
    let offered = sys::listed_controllers(&place.directory, "cgroup.controllers");
    [("memory", place.controllers.memory, offered.memory), ("pids", place.controllers.pids, offered.pids)]
        .into_iter()
        .filter(|(_, is_there, _)| !is_there)
        .map(|(name, _, is_offered)| {
            if is_offered {
                MissingController::NotEnabled(name)
            } else if sys::is_bound_to_version_1(name) {
                MissingController::BoundToVersion1(name)
            } else {
                MissingController::Absent(name)
            }
        })
        .collect()
}
