//! Changes that must not last: variables that only one run was given, and traps that the dump cannot show.

use super::SavedShellState;
use super::declared_variables::DeclaredValue;

impl SavedShellState {
    /// Restores, after a run, the variables that only that run was given and that it did not change (`None` for removed
    /// variables), and the traps hidden by an exit within a function. `before` is the state before the run, if there
    /// was a state.
    pub fn forget_given(&mut self, before: Option<&Self>, given: &[(String, Option<String>)]) {
        for signal in std::mem::take(&mut self.hidden_traps) {
            if let Some(command) = before.and_then(|before| before.traps.get(&signal)) {
                self.traps.entry(signal).or_insert_with(|| command.clone());
            }
        }
        for (name, value) in given {
            let name = name.as_bytes();
            let unchanged = match value {
                Some(value) => self.exported(name) == Some(value.as_bytes()),
                None => self.variables.get(name).is_none_or(|variable| variable.value == DeclaredValue::Unset),
            };
            if !unchanged {
                continue;
            }
            self.variables.remove(name);
            self.inherited.remove(name);
            match before {
                Some(before) if !before.inherited.contains(name) => {
                    if let Some(variable) = before.variables.get(name) {
                        self.variables.insert(name.to_vec(), variable.clone());
                    }
                }
                _ => {
                    self.inherited.insert(name.to_vec());
                }
            }
        }
    }
}
