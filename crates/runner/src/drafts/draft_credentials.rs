//! What commands of a draft may use of this host. It is in memory alone: a draft on the disk has none of it, and each
//! process that opens one gives its own.

use std::collections::BTreeMap;

use serde::Deserialize;

use confine_policy::{RawConfine, RawSecret, RawSsh};

/// `secrets` and `ssh` of the option `confine`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DraftCredentials {
    /// Secrets by the variables that commands see.
    pub secrets: BTreeMap<String, RawSecret>,
    /// The use of the host's ssh agent.
    pub ssh: Option<RawSsh>,
}

impl DraftCredentials {
    /// Returns whether there is nothing that commands may use.
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the options of a draft with these.
    pub(super) fn added_to(&self, draft: RawConfine) -> RawConfine {
        let Self { secrets, ssh } = self.clone();
        RawConfine { secrets, ssh, ..draft }
    }
}
