//! A command line of find: its start directories, its deletions, and whether tests narrow them down.

use crate::glob::{GlobCoverage, PathComponentGlob};
use crate::name_lists::has_word;
use crate::programs::search::{NARROWING_FLAGS, NARROWING_TESTS, OTHER_VALUED_TESTS};
use crate::simple_command_view::SimpleCommandView;
use crate::word_value::WordValue;

/// One search.
#[derive(Debug, Default)]
pub struct FindSearch {
    /// The start directories.
    pub starts: Vec<WordValue>,
    /// Each `-delete` and `-exec rm` in the search.
    pub deletes: Vec<FindDeletion>,
}

/// One `-delete`, or `-exec rm`.
#[derive(Clone, Debug)]
pub struct FindDeletion {
    /// Whether an earlier test leaves only files of some kind.
    pub narrow: bool,
    /// Whether an earlier test asks for `.git`.
    pub git: bool,
    /// The program that deletes. Empty for `-delete`.
    pub by: String,
}

/// Programs that delete what `-exec` gives them.
static DELETERS: &[&str] = &["rm", "grm", "unlink", "shred"];

/// Deepest nesting of groups that are told apart.
const MAX_GROUPS: usize = 64;

/// The state within one pair of parentheses.
#[derive(Clone, Copy, Debug, Default)]
struct FindGroup {
    /// Whether the current alternative is narrowed down.
    narrow: bool,
    /// Whether the current alternative is about `.git`.
    git: bool,
    /// Whether an earlier alternative is not narrowed down.
    wide: bool,
    /// Whether an earlier alternative is about `.git`.
    about_git: bool,
    /// Whether a `!` precedes the group.
    not: bool,
}

impl FindSearch {
    /// Reads the words of a call of find.
    pub fn read(command: &SimpleCommandView) -> Self {
        let args = command.args();
        let expression = args.iter().enumerate().position(|(at, arg)| {
            let text = arg.prefix();
            let option = matches!(text, "-H" | "-L" | "-P" | "-D") || text.starts_with("-O") && text.len() < 4;
            let value = at > 0 && args[at - 1].known() == Some("-D");
            !option && !value && (text.starts_with(['-', '(']) || matches!(text, "!" | ","))
        });
        let expression = expression.unwrap_or(args.len());
        let mut search = Self::default();
        let mut skip = false;
        for arg in &args[..expression] {
            let option = arg.prefix().starts_with('-');
            if !skip && !option {
                search.starts.push(arg.clone());
            }
            skip = arg.known() == Some("-D");
        }
        if search.starts.is_empty() {
            search.starts.push(WordValue::of("."));
        }
        search.judge(&args[expression..]);
        search
    }

    fn judge(&mut self, words: &[WordValue]) {
        let mut groups = vec![FindGroup::default()];
        let mut not = false;
        let mut at = 0;
        while let Some(word) = words.get(at) {
            at += 1;
            let Some(text) = word.known() else { continue };
            let (depth, narrow, git) =
                (groups.len(), groups.iter().any(|group| group.narrow), groups.iter().any(|group| group.git));
            let Some(group) = groups.last_mut() else { return };
            match text {
                "!" | "-not" => {
                    not = !not;
                    continue;
                }
                "(" if depth < MAX_GROUPS => groups.push(FindGroup { not, ..FindGroup::default() }),
                ")" if depth > 1 => {
                    let inner = groups.pop().unwrap_or_default();
                    if let Some(group) = groups.last_mut()
                        && !inner.not
                    {
                        group.narrow |= inner.narrow && !inner.wide;
                        group.git |= inner.git || inner.about_git;
                    }
                }
                "-o" | "-or" | "," => {
                    group.wide |= !group.narrow;
                    group.about_git |= group.git;
                    group.narrow = false;
                    group.git = false;
                }
                "-exec" | "-execdir" | "-ok" | "-okdir" => {
                    let head = words.get(at).and_then(WordValue::base_name).unwrap_or_default();
                    if text.starts_with("-exec") && DELETERS.contains(&head) {
                        self.deletes.push(FindDeletion { narrow, git, by: head.to_owned() });
                    }
                    at += words[at..].iter().take_while(|word| !matches!(word.known(), Some(";" | "+"))).count() + 1;
                }
                "-fprintf" => at += 2,
                "-delete" => self.deletes.push(FindDeletion { narrow, git, by: String::new() }),
                _ if has_word(NARROWING_FLAGS, text) => group.narrow |= !not,
                _ => {
                    let narrows = has_word(NARROWING_TESTS, text) || text.starts_with("-newer");
                    if narrows || has_word(OTHER_VALUED_TESTS, text) {
                        let value = words.get(at);
                        at += 1;
                        if !not {
                            group.narrow |= narrows && value.is_none_or(|value| !everything(value));
                            group.git |= narrows && value.is_some_and(|value| about_git(text, value));
                        }
                    }
                }
            }
            not = false;
        }
    }
}

/// Returns whether a pattern such as `-name '*'` leaves nothing out.
fn everything(value: &WordValue) -> bool {
    let Some(text) = value.known() else { return false };
    let last = text.rsplit('/').next().unwrap_or(text);
    last.contains(['*', '?', '['])
        && text
            .split('/')
            .all(|name| matches!(name, "." | "") || PathComponentGlob::parse(name).coverage() == GlobCoverage::All)
}

fn about_git(test: &str, value: &WordValue) -> bool {
    let Some(text) = value.known() else { return false };
    match test {
        "-name" | "-iname" => PathComponentGlob::parse(text).covers(".git"),
        _ => text.contains(".git/*") || text.ends_with("/.git"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simple_command_view::CommandDirectories;

    #[test]
    fn what_narrows() {
        for (line, narrow) in [
            (". -delete", false),
            (". -type f -delete", false),
            (". -depth -delete", false),
            (". -type f -exec rm -f {} +", false),
            (". -name x -exec rm -f {} ;", true),
            (". -mindepth 1 -delete", false),
            (". -name * -delete", false),
            (". -not -name x -delete", false),
            (". ! -path ./.git/* -delete", false),
            (". -name *.pyc -delete", true),
            (". -type d -empty -delete", true),
            (". -mtime +7 -delete", true),
            (". ( -name a -o -name b ) -delete", true),
            (". ( -name a -o -type f ) -delete", false),
            (". -name a -o -delete", false),
            (". -name a -prune -o -type f -delete", false),
            (". ! ( -name a ) -delete", false),
            (". -type f ( -name a ) -delete", true),
            (". -newermt yesterday -delete", true),
        ] {
            let argv: Vec<WordValue> = std::iter::once("find").chain(line.split(' ')).map(WordValue::of).collect();
            let (cwd, directories) = (WordValue::of("/home/dev/project"), CommandDirectories::default());
            let command = SimpleCommandView::of_words(&argv, &cwd, &directories);
            let search = FindSearch::read(&command);
            assert_eq!(search.deletes.iter().map(|delete| delete.narrow).collect::<Vec<_>>(), [narrow], "{line}");
        }
    }
}
