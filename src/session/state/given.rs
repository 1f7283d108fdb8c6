//! What a run could not leave behind: variables that only it was given, and traps that its end did not show.

use super::State;
use super::entries::Value;

impl State {
    /// To be called for the state after each run, with the state before it, if there was one. Variables given with that run only
    /// (`None` for those taken away), and not changed by it, go back to what they were; so do the traps that cannot be seen where
    /// a shell ends in a function.
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
                None => self.variables.get(name).is_none_or(|variable| variable.value == Value::Unset),
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
