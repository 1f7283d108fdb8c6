//! Programs that run another command which stands among their words.

mod process;
mod remote;
mod session;
mod toolchain;
mod user;
mod wrapper;

use std::collections::HashMap;
use std::sync::LazyLock;

pub use user::SU;
pub use wrapper::{Dashes, Form, Login, Wrapper};

const TABLES: [&[Wrapper]; 5] = [user::USER, process::PROCESS, session::SESSION, toolchain::TOOLCHAIN, remote::REMOTE];

/// The entries by name.
static BY_NAME: LazyLock<HashMap<&'static str, Vec<&'static Wrapper>>> = LazyLock::new(|| {
    let mut map: HashMap<_, Vec<_>> = HashMap::new();
    for wrapper in TABLES.into_iter().flatten() {
        for name in wrapper.names {
            map.entry(*name).or_default().push(wrapper);
        }
    }
    map
});

/// All entries for a name: one for each of its subcommands.
pub fn of(name: &str) -> impl Iterator<Item = &'static Wrapper> {
    BY_NAME.get(name).into_iter().flatten().copied()
}

/// All entries, for tests.
#[cfg(test)]
pub fn all() -> impl Iterator<Item = &'static Wrapper> {
    TABLES.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_entry_hides_another() {
        let mut seen = std::collections::HashSet::new();
        for wrapper in TABLES.into_iter().flatten() {
            for name in wrapper.names {
                let subs: Vec<_> = wrapper.sub.iter().map(|path| path.join(" ")).collect();
                for sub in if subs.is_empty() { vec![String::new()] } else { subs } {
                    assert!(seen.insert(format!("{name} {sub}")), "{name} {sub} stands twice");
                }
            }
        }
    }

    #[test]
    fn options_that_mean_something_are_in_the_spec() {
        for wrapper in TABLES.into_iter().flatten() {
            for name in [wrapper.chdir, wrapper.script, wrapper.stop, wrapper.switch].into_iter().flatten() {
                let long = wrapper.spec.long.iter().any(|entry| entry.trim_end_matches(['=', '?']) == *name);
                let short = name.len() == 1 && wrapper.spec.short.contains(name);
                assert!(long || short, "{:?}: {name}", wrapper.names);
            }
        }
    }
}
