//! The aliases of a shell.

use std::collections::HashMap;
use std::rc::Rc;

use super::variables::MAX_CHOICES;

/// An alias.
#[derive(Clone, Debug)]
pub(super) struct AliasDefinition {
    /// The texts that it may have, the latest last.
    pub texts: Vec<String>,
    /// Whether the alias surely has one of these texts. If the command itself sets or removes an alias, its next
    /// line sees that.
    pub settled: bool,
}

/// All aliases of a shell.
#[derive(Clone, Debug, Default)]
pub(super) struct AliasTable {
    table: Rc<HashMap<String, AliasDefinition>>,
    /// Whether the shell expands them: `shopt -s expand_aliases`.
    pub expands: bool,
}

impl AliasTable {
    /// The alias of a name.
    pub(super) fn get(&self, name: &str) -> Option<&AliasDefinition> {
        self.table.get(name)
    }

    /// `alias`
    pub(super) fn set(&mut self, name: &str, text: &str) {
        let table = Rc::make_mut(&mut self.table);
        let alias =
            table.entry(name.to_owned()).or_insert_with(|| AliasDefinition { texts: Vec::new(), settled: false });
        alias.settled = false;
        alias.texts.retain(|other| other != text);
        alias.texts.truncate(MAX_CHOICES - 1);
        alias.texts.push(text.to_owned());
    }

    /// `unalias`. Without a name, all of them.
    pub(super) fn unset(&mut self, name: Option<&str>) {
        for (other, alias) in Rc::make_mut(&mut self.table) {
            alias.settled &= name.is_some_and(|name| name != other);
        }
    }

    /// From here on each alias has its last text.
    pub(super) fn settle_all(&mut self) {
        for alias in Rc::make_mut(&mut self.table).values_mut() {
            alias.settled = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::AliasTable;

    #[test]
    fn an_alias_is_settled_once_its_line_has_ended() {
        let mut aliases = AliasTable::default();
        aliases.set("ll", "ls -l");
        aliases.set("gp", "git push");
        assert!(!aliases.get("ll").unwrap().settled);
        aliases.settle_all();
        aliases.unset(Some("gp"));
        assert!(aliases.get("ll").unwrap().settled && !aliases.get("gp").unwrap().settled);
        aliases.set("ll", "ls");
        aliases.set("ll", "ls -l");
        assert_eq!(aliases.get("ll").unwrap().texts, ["ls", "ls -l"]);
        aliases.unset(None);
        assert!(aliases.get("cd").is_none());
    }
}
