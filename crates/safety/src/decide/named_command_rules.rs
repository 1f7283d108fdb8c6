//! Rules that name commands, for a purpose other than permission.

use super::permission_pattern::{BadPermissionPattern, BadPermissionRule, PermissionPattern};

/// Rules that name commands, as allow rules do: `./ci.sh`, `task verify:*`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedCommandRules(Vec<PermissionPattern>);

impl NamedCommandRules {
    /// Reads rules. `list` is their name in an error.
    ///
    /// # Errors
    /// Fails on the first rule that means nothing, or names no command.
    pub fn parse<T: AsRef<str>>(list: &'static str, rules: &[T]) -> Result<Self, BadPermissionRule> {
        let rule = |text: &T| match PermissionPattern::parse(text.as_ref()) {
            Ok(PermissionPattern::Write(_) | PermissionPattern::ReadOnly) => {
                Err(BadPermissionPattern::NoCommand(text.as_ref().to_owned()))
            }
            other => other,
        };
        let rules = rules.iter().map(rule).collect::<Result<_, _>>();
        rules.map(Self).map_err(|fault| BadPermissionRule { list, fault })
    }

    /// Returns whether a rule names a command with these words.
    pub fn names_command(&self, words: &[String]) -> bool {
        self.0.iter().any(|rule| match rule {
            PermissionPattern::Command { words: own, prefix: false } => own == words,
            PermissionPattern::Command { words: own, prefix: true } => words.starts_with(own),
            PermissionPattern::Write(_) | PermissionPattern::ReadOnly => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_name_commands_as_allow_rules_do() {
        let rules = NamedCommandRules::parse("checks", &["./ci.sh", "task verify:*"]).expect("rules");
        for (command, named) in [
            ("./ci.sh", true),
            ("./ci.sh --fast", false),
            ("ci.sh", false),
            ("task verify", true),
            ("task verify all", true),
            ("task build", false),
            ("", false),
        ] {
            let words: Vec<_> = command.split_whitespace().map(str::to_owned).collect();
            assert_eq!(rules.names_command(&words), named, "{command}");
        }
        assert!(!NamedCommandRules::default().names_command(&["task".to_owned()]));
    }

    #[test]
    fn a_rule_that_names_no_command_is_refused() {
        for (rule, message) in [
            ("", "checks: a rule is empty"),
            ("write:src/**", "checks: \"write:src/**\" names no command"),
            ("read-only", "checks: \"read-only\" names no command"),
            ("npm *", "checks: \"npm *\": "),
        ] {
            let error = NamedCommandRules::parse("checks", &["ok", rule]).expect_err("refused").to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }
}
