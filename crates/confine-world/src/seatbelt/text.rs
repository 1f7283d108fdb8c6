//! The syntax of a profile.

use std::ffi::CString;
use std::io;
use std::path::Path;

/// A filter with a path.
#[derive(Debug, Clone, Copy)]
pub(super) enum SeatbeltPathFilter {
    /// The file itself.
    Exactly,
    /// The file and everything below it.
    Below,
    /// A socket of this process at or below the path.
    LocalSocketBelow,
    /// A socket of another process at or below the path.
    RemoteSocketBelow,
}

impl SeatbeltPathFilter {
    fn for_path(self, path: &str) -> String {
        match self {
            Self::Exactly => format!("(literal {path})"),
            Self::Below => format!("(subpath {path})"),
            Self::LocalSocketBelow => format!("(local unix-socket (subpath {path}))"),
            Self::RemoteSocketBelow => format!("(remote unix-socket (subpath {path}))"),
        }
    }
}

/// A profile to which rules are added.
#[derive(Debug)]
pub(super) struct SeatbeltProfile(String);

impl SeatbeltProfile {
    /// Returns a profile that denies everything.
    pub fn new() -> Self {
        Self("(version 1)\n(deny default)\n".to_owned())
    }

    /// Adds text.
    pub fn add(&mut self, text: &str) {
        self.0.push_str(text);
    }

    /// Adds a rule for these paths. Without paths it adds none, because a rule without filters counts for everything.
    pub fn rule<'a>(
        &mut self,
        action: &str,
        filter: SeatbeltPathFilter,
        paths: impl IntoIterator<Item = &'a Path>,
    ) -> io::Result<()> {
        let filters: Vec<_> =
            paths.into_iter().map(|path| Ok(filter.for_path(&quoted_path(path)?))).collect::<io::Result<_>>()?;
        if !filters.is_empty() {
            self.0.push_str(&format!("({action}\n  {})\n", filters.join("\n  ")));
        }
        Ok(())
    }

    /// Returns the text.
    pub fn finish(self) -> io::Result<CString> {
        Ok(CString::new(self.0)?)
    }
}

/// Returns a path as a string of a profile.
///
/// # Errors
/// `InvalidInput` if the path is not UTF-8 or has control characters, which a profile's string may read differently.
fn quoted_path(path: &Path) -> io::Result<String> {
    let text = path.to_str().filter(|text| !text.chars().any(char::is_control));
    let text = text.ok_or_else(|| {
        let message = format!("{} cannot be named in a profile of Seatbelt", path.display());
        io::Error::new(io::ErrorKind::InvalidInput, message)
    })?;
    Ok(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
}
