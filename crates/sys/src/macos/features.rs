//! Kernel features: those that are probed exist on Linux only.

use crate::KernelFeatures;

/// Returns that none of them is here.
pub fn kernel_features() -> KernelFeatures {
    KernelFeatures {
        pidfd: false,
        close_range: false,
        landlock: 0,
        user_namespaces: false,
        notifications: false,
        gvisor: false,
    }
}

/// Returns false.
pub fn is_gvisor() -> bool {
    false
}
