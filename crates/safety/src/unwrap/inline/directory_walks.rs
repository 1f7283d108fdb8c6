//! Programs that walk through a directory and remove what they find: `os.walk('.')` beside `os.remove(…)`.

use crate::glob::{GlobCoverage, PathComponentGlob};
use crate::programs::program::InterpretedLanguage;
use crate::unwrap::inner_command::InnerCommand;
use crate::verdict::AnalysisConfidence;
use crate::word_value::WordValue;

/// How a language walks and removes.
struct DirectoryWalkCalls {
    /// Calls that list a directory, or the files that a glob fits.
    lists: &'static [&'static str],
    /// Calls that remove a file.
    removes: &'static [&'static str],
    /// Words of a program that leaves some files out.
    narrows: &'static [&'static str],
}

static PYTHON: DirectoryWalkCalls = DirectoryWalkCalls {
    lists: &["walk(", "glob(", "listdir(", "scandir(", "iterdir("],
    removes: &["os.remove(", "unlink(", "rmtree(", "os.truncate("],
    narrows: &[
        "endswith",
        "startswith",
        "fnmatch",
        ".suffix",
        "re.",
        "splitext",
        "mtime",
        "st_size",
        " == '",
        " == \"",
        " in {",
    ],
};
static PERL: DirectoryWalkCalls = DirectoryWalkCalls {
    lists: &["find(", "glob", "readdir", "<*"],
    removes: &["unlink", "rmtree"],
    narrows: &["=~", "-M", "-A", " eq "],
};
static RUBY: DirectoryWalkCalls = DirectoryWalkCalls {
    lists: &["Dir.glob", "Dir[", "Find.find", "Dir.children", "Dir.each_child", "Dir.entries"],
    removes: &["File.delete", "File.unlink", "FileUtils.rm", "File.truncate"],
    narrows: &["=~", "end_with?", "start_with?", "extname", ".match", "grep(", "mtime"],
};
static PHP: DirectoryWalkCalls = DirectoryWalkCalls {
    lists: &["glob(", "scandir(", "RecursiveDirectoryIterator(", "DirectoryIterator("],
    removes: &["unlink(", "rmdir("],
    narrows: &["preg_match", "pathinfo", "fnmatch", "str_ends_with", "getExtension", "filemtime"],
};
static JAVASCRIPT: DirectoryWalkCalls = DirectoryWalkCalls {
    lists: &["readdirSync(", "readdir(", "globSync(", "glob(", "walkSync(", "walk("],
    removes: &["unlinkSync(", "rmSync(", "unlink(", "rm(", "removeSync(", "rmdirSync(", "truncateSync("],
    narrows: &["endsWith", "startsWith", "extname", ".match(", ".test(", "includes(", "filter(", "mtime"],
};

/// Returns the removal of the directory whose files a program removes, unless it leaves some of them out.
pub(super) fn walked(language: InterpretedLanguage, program: &WordValue, via: &str) -> Option<InnerCommand> {
    let walks = match language {
        InterpretedLanguage::Python => &PYTHON,
        InterpretedLanguage::Perl => &PERL,
        InterpretedLanguage::Ruby => &RUBY,
        InterpretedLanguage::Php => &PHP,
        InterpretedLanguage::JavaScript => &JAVASCRIPT,
        InterpretedLanguage::Lua | InterpretedLanguage::Awk | InterpretedLanguage::Other => return None,
    };
    let text = program.known()?;
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if !has(walks.removes) || has(walks.narrows) {
        return None;
    }
    let (at, list) = walks.lists.iter().filter_map(|list| Some((text.find(list)?, *list))).min()?;
    let removed = ["rm", "-rf", "--"].into_iter().map(WordValue::of).chain([root(text, at, list)?]);
    let mut inner = InnerCommand::argv(removed.collect(), via);
    if let InnerCommand::Argv { confidence, .. } = &mut inner {
        // The program may leave files out in a way that a glance does not see.
        *confidence = AnalysisConfidence::Partial;
    }
    Some(inner)
}

/// The directory that a call lists. `None` if it lists only some of the files.
fn root(text: &str, at: usize, list: &str) -> Option<WordValue> {
    let behind = literal(&text[at + list.len()..]);
    let owner = owner(&text[..at]);
    let path = match (owner, behind) {
        // `Path('src').rglob('*')`
        (Some(owner), Some(pattern)) => format!("{owner}/{pattern}"),
        (Some(owner), None) => owner.to_owned(),
        (None, Some(path)) => path.to_owned(),
        (None, None) if list == "<*" => ".".to_owned(),
        (None, None) => return Some(WordValue::unknown()),
    };
    let mut names: Vec<&str> = path.split('/').collect();
    while names.last().is_some_and(|last| last.contains(['*', '?', '[', '{'])) {
        let last = names.pop()?;
        if PathComponentGlob::parse(last).coverage() == GlobCoverage::Some {
            return None;
        }
    }
    let root = names.join("/");
    Some(WordValue::of(if root.is_empty() && !path.starts_with('/') { ".".to_owned() } else { root + "/" }))
}

/// The first text between quotes, if it is near: within the arguments of a call.
fn literal(text: &str) -> Option<&str> {
    const NEAR: usize = 80;
    let near = &text[..text.floor_char_boundary(NEAR)];
    let open = near.find(['\'', '"'])?;
    let quote = text.as_bytes()[open] as char;
    let rest = &text[open + 1..];
    rest.find(quote).map(|end| &rest[..end])
}

/// The path in `Path('src').` before a call.
fn owner(before: &str) -> Option<&str> {
    let before = before.trim_end_matches(|next: char| next.is_ascii_lowercase()).strip_suffix('.')?;
    let inside = before.strip_suffix(')')?;
    let (_, path) = inside.rsplit_once("Path(")?;
    Some(path.trim_matches(['\'', '"']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_of_a_walk_is_found() {
        for (language, program, wanted) in [
            (
                InterpretedLanguage::Python,
                "for d, _, fs in os.walk('.'):\n  for f in fs: os.unlink(os.path.join(d, f))",
                "./",
            ),
            (InterpretedLanguage::Python, "[p.unlink() for p in Path('src').rglob('*')]", "src/"),
            (InterpretedLanguage::Python, "[os.remove(f) for f in glob.glob('**', recursive=True)]", "."),
            (InterpretedLanguage::Perl, "find(sub { unlink }, '/a')", "/a/"),
            (InterpretedLanguage::Perl, "unlink glob \"*\"", "."),
            (InterpretedLanguage::Ruby, "Dir.glob('**/*').each { |f| File.delete(f) }", "."),
            (InterpretedLanguage::Php, "foreach (glob('/*') as $f) unlink($f);", "/"),
            (InterpretedLanguage::JavaScript, "for (const f of fs.readdirSync('..')) fs.rmSync(f)", "../"),
        ] {
            let Some(InnerCommand::Argv { argv, .. }) = walked(language, &WordValue::of(program), "x") else {
                panic!("{program}");
            };
            assert_eq!(argv.last().and_then(WordValue::known), Some(wanted), "{program}");
        }
        for (language, program) in [
            (InterpretedLanguage::Python, "[os.remove(f) for f in glob.glob('*.pyc')]"),
            (InterpretedLanguage::Python, "[p.unlink() for p in Path('.').rglob('*.pyc')]"),
            (InterpretedLanguage::Python, "for f in os.listdir('.'):\n  if f.endswith('.tmp'): os.remove(f)"),
            (InterpretedLanguage::Python, "print(os.listdir('.'))"),
            (
                InterpretedLanguage::JavaScript,
                "fs.readdirSync('.').filter(f => /x/.test(f)).forEach(f => fs.unlinkSync(f))",
            ),
        ] {
            assert!(walked(language, &WordValue::of(program), "x").is_none(), "{program}");
        }
    }
}
