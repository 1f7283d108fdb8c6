//! The checks of this process, as JSON. `ts/evidence/types.ts` has their type.

use std::path::Path;

use napi_derive::napi;

use super::bridge::Bridge;
use super::native_event::NativeEvent;
use runner::proof::list_checks;

#[napi]
impl Bridge {
    /// Lists the checks of this process; answered by `checks`. With `cwd`, an absolute path, lists only those that ran
    /// there or below.
    #[napi]
    pub fn list_checks(&self, cwd: Option<String>) -> u32 {
        self.blocking("listChecks", move || {
            let checks = list_checks(cwd.as_deref().map(Path::new));
            Ok(NativeEvent::Checks { checks: serde_json::to_string(&checks).unwrap_or_default() })
        })
    }
}
