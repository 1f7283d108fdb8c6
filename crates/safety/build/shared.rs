//! Replaces references in a family by the values that they name: `like = "node"` and `"@verbs"`.

use std::cell::RefCell;
use std::collections::BTreeSet;

use toml::{Table, Value};

/// The tables with named values. A key of the same name may refer to them.
const SHARED: [&str; 6] = ["options", "wrappers", "hooks", "interpreters", "lasting", "queries"];
/// References that lead to other references.
const DEEPEST: usize = 4;

/// The named values of a family.
pub struct SharedRecordValues {
    values: Table,
    lists: Table,
    /// The names that something refers to, as `options.npm`.
    used: RefCell<BTreeSet<String>>,
}

impl SharedRecordValues {
    /// Takes the named values out of a family.
    pub fn take(family: &mut Table) -> Self {
        let taken = SHARED.iter().filter_map(|key| Some(((*key).to_owned(), family.remove(*key)?)));
        let values = taken.collect();
        let lists = match family.remove("lists") {
            Some(Value::Table(lists)) => lists,
            _ => Table::new(),
        };
        Self { values, lists, used: RefCell::default() }
    }

    /// Replaces all references in the value of a key.
    pub fn resolve(&self, key: &str, value: &mut Value) -> Result<(), String> {
        self.replace(key, value, DEEPEST)
    }

    /// Returns a named value that nothing refers to.
    pub fn unused(&self) -> Option<String> {
        let tables = self.values.iter().filter_map(|(kind, values)| Some((kind.as_str(), values.as_table()?)));
        let named = tables.chain([("lists", &self.lists)]);
        let mut names = named.flat_map(|(kind, values)| values.keys().map(move |name| format!("{kind}.{name}")));
        names.find(|name| !self.used.borrow().contains(name))
    }

    fn replace(&self, key: &str, value: &mut Value, depth: usize) -> Result<(), String> {
        match value {
            Value::String(text) => {
                if let Some(name) = text.strip_prefix('@').filter(|name| !name.contains([' ', '/'])) {
                    self.used.borrow_mut().insert(format!("lists.{name}"));
                    *value = self.lists.get(name).ok_or_else(|| format!("no list `{name}`"))?.clone();
                }
            }
            Value::Array(items) => items.iter_mut().try_for_each(|item| self.replace(key, item, depth))?,
            Value::Table(table) => {
                if let Some(name) = table.remove("like") {
                    let name = name.as_str().ok_or("`like` is a name")?;
                    self.fill(key, name, table, depth)?;
                }
                for (key, value) in table.iter_mut() {
                    self.replace(key, value, depth)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Adds the entries of a named value that a table does not have.
    fn fill(&self, key: &str, name: &str, table: &mut Table, depth: usize) -> Result<(), String> {
        self.used.borrow_mut().insert(format!("{key}.{name}"));
        let named = self.values.get(key).and_then(|values| values.get(name));
        let mut named = named.ok_or_else(|| format!("no `{key}.{name}`"))?.clone();
        self.replace(key, &mut named, depth.checked_sub(1).ok_or_else(|| format!("`{key}.{name}` is a circle"))?)?;
        let named = named.try_into::<Table>().map_err(|error| format!("`{key}.{name}`: {error}"))?;
        named.into_iter().for_each(|(key, value)| {
            table.entry(key).or_insert(value);
        });
        Ok(())
    }
}
