//! Folders that go with this process, for the layer above: a sandbox's private home.

use std::path::Path;

use napi_derive::napi;

use crate::supervise::Helpers;

/// Has a folder taken away when this process has ended, however that comes about. Where no helper can be had nothing is:
/// no command runs there, either.
#[napi]
pub fn remove_at_end(path: String) {
    if let Ok(helpers) = Helpers::shared() {
        helpers.remove_at_end(Path::new(&path));
    }
}

/// It is gone already.
#[napi]
pub fn remove_no_more(path: String) {
    if let Ok(helpers) = Helpers::shared() {
        helpers.remove_no_more(Path::new(&path));
    }
}
