//! The contents of outputs, as far as they matter without the text: secrets, by the names of files, and numbers of
//! processes.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::file_listings::{listed_files, passes_all};
use super::name_lists::{has_word, words};
use super::programs::contents::{
    CREDENTIAL_FILES, ENVIRONMENT_FILES, KEY_FILES, KNOWN_PROCESSES, PLAIN_FILES, PLAIN_PARTS, PRINTS_FILES,
    PRINTS_FURTHER_FILES, PRINTS_INPUT, PRINTS_MATCHES, PRINTS_PROCESSES, PRINTS_VARIABLES, SECRET_EXTENSIONS,
    SECRET_FILES, SECRET_PATHS,
};
use super::simple_command_view::{CommandStdin, ExpandedRedirect};
use super::word_value::{ValueContents, ValuePiece, WordValue};

/// The part of a program's input, or of the machine's state, that the program's output carries.
#[derive(Clone, Copy, Debug)]
enum OutputProvenance {
    /// The standard input, and the files that the operands name. The number counts the operands before these files.
    Files(usize),
    /// The lines of the standard input and of the files behind the first operand that fit the first operand.
    Matches,
    /// The standard input alone.
    Input,
    /// All variables, if the program has no other words than these.
    Variables(&'static str),
    /// Numbers of processes.
    Processes,
}

static PROGRAMS: LazyLock<HashMap<&'static str, OutputProvenance>> = LazyLock::new(|| {
    let of = |names: &'static str, carries| words(names).map(move |name| (name, carries));
    of(PRINTS_FILES, OutputProvenance::Files(0))
        .chain(of(PRINTS_FURTHER_FILES, OutputProvenance::Files(1)))
        .chain(of(PRINTS_MATCHES, OutputProvenance::Matches))
        .chain(of(PRINTS_INPUT, OutputProvenance::Input))
        .chain(of(PRINTS_PROCESSES, OutputProvenance::Processes))
        .chain(PRINTS_VARIABLES.iter().map(|(name, words)| (*name, OutputProvenance::Variables(words))))
        .collect()
});

/// Returns the contents of a command's output, as far as they are known.
pub fn printed_contents<'a>(
    argv: &[WordValue],
    redirects: impl Iterator<Item = &'a ExpandedRedirect>,
    input: &CommandStdin,
    cwd: &WordValue,
) -> Option<ValueContents> {
    let Some(program) = argv.first() else {
        // `$(< .env)`
        return secret_on_stdin(redirects);
    };
    let name = program.base_name()?;
    let name = if name.starts_with("python3.") { "python3" } else { name };
    let args = &argv[1..];
    let operands = || args.iter().filter(|arg| !arg.prefix().starts_with('-'));
    let several_words = |word: &WordValue| word.prefix().contains(' ');
    if let Some(files) = listed_files(argv, cwd) {
        return Some(files);
    }
    let carries = *PROGRAMS.get(name)?;
    let behind = match carries {
        OutputProvenance::Files(behind) => Some(behind),
        OutputProvenance::Matches => Some(1),
        OutputProvenance::Input => None,
        OutputProvenance::Variables(with) => {
            let all = args.iter().all(|arg| arg.known().is_some_and(|arg| has_word(with, arg)));
            return all.then(|| ValueContents::Secrets("all variables of the environment".into()));
        }
        OutputProvenance::Processes => {
            let known = |arg: &WordValue| words(KNOWN_PROCESSES).any(|start| arg.prefix().starts_with(start));
            return (!args.iter().any(known) && !operands().any(several_words)).then_some(ValueContents::Processes);
        }
    };
    let of_files =
        || behind.and_then(|behind| operands().skip(behind).find_map(of_file)).or_else(|| secret_on_stdin(redirects));
    if let Some(contents) = input.contents().or_else(|| args.iter().find_map(WordValue::contents)) {
        if matches!(contents, ValueContents::Files(_)) {
            return of_files().or_else(|| passes_all(name, args).then(|| contents.clone()));
        }
        // A pattern of several words is a command line, not a name.
        let narrow = matches!(carries, OutputProvenance::Matches) && operands().next().is_some_and(several_words);
        return (!narrow || *contents != ValueContents::Processes).then(|| contents.clone());
    }
    of_files()
}

/// Returns the contents of the file with secrets that redirects make the standard input.
pub fn secret_on_stdin<'a>(redirects: impl Iterator<Item = &'a ExpandedRedirect>) -> Option<ValueContents> {
    redirects
        .filter(|redirect| redirect.op == "<" && redirect.fd.is_none_or(|fd| fd == 0))
        .find_map(|redirect| of_file(&redirect.target))
}

/// Returns the contents of the file that a word names, if the file holds secrets.
pub fn of_file(word: &WordValue) -> Option<ValueContents> {
    secret_file_named(word).map(|path| ValueContents::Secrets(format!("the file {path}").into()))
}

/// Returns the path of the file with secrets that a word names, as far as the path is known.
pub fn secret_file_named(word: &WordValue) -> Option<String> {
    if let [ValuePiece::OneOf(texts)] = word.pieces() {
        return texts.iter().find(|text| is_secret(text)).cloned();
    }
    let path = match word.pattern() {
        Some(path) => path,
        // `$DIR/.env`
        None => Cow::Owned(format!("…{}", word.suffix())),
    };
    let path = path.strip_prefix("if=").unwrap_or(&path);
    is_secret(path).then(|| path.to_owned())
}

/// The names of files and directories that hold secrets.
struct SecretFileNames {
    files: HashSet<String>,
    extensions: HashSet<&'static str>,
    /// Paths by their first components.
    paths: HashMap<String, Vec<String>>,
}

static NAMES: LazyLock<SecretFileNames> = LazyLock::new(|| {
    let blanks = |entry: &str| entry.replace('?', " ");
    let mut paths: HashMap<String, Vec<String>> = HashMap::new();
    for entry in words(SECRET_PATHS) {
        let (first, rest) = entry.split_once('/').unwrap_or((entry, ""));
        paths.entry(blanks(first)).or_default().push(rest.to_owned());
    }
    SecretFileNames {
        files: words(SECRET_FILES).map(blanks).collect(),
        extensions: words(SECRET_EXTENSIONS).collect(),
        paths,
    }
});

/// Returns whether a path names a file or a directory that holds secrets.
fn is_secret(path: &str) -> bool {
    let path = path.trim_end_matches('/');
    let name = path.rsplit('/').next().unwrap_or(path);
    let has_extension = || name.rsplit_once('.').is_some_and(|(_, end)| NAMES.extensions.contains(end));
    let is_key = || name.strip_prefix(KEY_FILES).is_some_and(|rest| !rest.is_empty() && !rest.contains('.'));
    let secret = name.starts_with(ENVIRONMENT_FILES)
        || name.ends_with(CREDENTIAL_FILES)
        || NAMES.files.contains(name)
        || has_extension()
        || is_key()
        || in_secret_directory(path);
    secret
        && !name.split(['.', '-', '_']).any(|part| has_word(PLAIN_PARTS, part))
        && !words(PLAIN_FILES).any(|plain| ends_with(path, plain))
}

/// Returns whether a path ends with these components.
fn ends_with(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

/// Returns whether a path is, or leads through, a directory that holds secrets.
fn in_secret_directory(path: &str) -> bool {
    let mut rest = path;
    loop {
        let (first, behind) = rest.split_once('/').unwrap_or((rest, ""));
        let begins = |own: &String| {
            behind
                .strip_prefix(own.as_str())
                .is_some_and(|end| own.is_empty() || end.is_empty() || end.starts_with('/'))
        };
        if NAMES.paths.get(first).is_some_and(|own| own.iter().any(begins)) {
            return true;
        }
        if behind.is_empty() {
            return false;
        }
        rest = behind;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_secrets_are_known_by_their_names() {
        for path in [
            ".env",
            "./.env.production",
            ".env*",
            "*.pem",
            "/home/dev/.ssh/id_ed25519",
            "/home/dev/.ssh",
            "/home/dev/.ssh/work",
            "certs/server.key",
            "/home/dev/.aws/credentials",
            "credentials.json",
            "/home/dev/.kube/config",
            "kubeconfig",
            ".npmrc",
            "/home/dev/.config/google-chrome/Default/Login Data",
            "/home/dev/.mozilla/firefox",
            "Library/Keychains/login.keychain-db",
            "/proc/self/environ",
        ] {
            assert!(is_secret(path), "{path}");
        }
        for path in [
            ".env.example",
            ".env.sample",
            "env",
            "id_rsa.pub",
            "id_mapping.json",
            "server.key.pub",
            "public.pem",
            "/home/dev/.ssh/config",
            "/home/dev/.ssh/known_hosts",
            "src/keys/index.ts",
            "src/credentials.ts",
            "README.md",
            "config",
            "",
        ] {
            assert!(!is_secret(path), "{path}");
        }
    }

    #[test]
    fn commands_print_the_secrets_that_they_read() {
        let of = |line: &str| {
            let argv: Vec<WordValue> = line.split(' ').map(WordValue::of).collect();
            printed_contents(&argv, std::iter::empty(), &CommandStdin::Inherited, &WordValue::of("/p"))
        };
        for (line, processes) in [
            ("pgrep -f node", true),
            ("ps aux", true),
            ("ps -o ppid= -p 12", false),
            ("pgrep -P 12", false),
            ("lsof -ti:3000", false),
        ] {
            assert_eq!(of(line) == Some(ValueContents::Processes), processes, "{line}");
        }
        for line in
            ["cat .env", "base64 -w0 .env", "grep -v x .env", "tar czf - .ssh", "dd if=.env", "env", "export -p", "set"]
        {
            assert!(of(line).is_some(), "{line}");
        }
        for line in [
            "cat .env.example",
            "grep .env README.md",
            "jq .env x.json",
            "ls .env",
            "env X=1",
            "set -e",
            "printenv HOME",
            "tee .env",
            "echo .env",
        ] {
            assert!(of(line).as_ref().and_then(ValueContents::secret).is_none(), "{line}");
        }
        let secret =
            CommandStdin::Opaque { program: None, contents: Some(ValueContents::Secrets("the file .env".into())) };
        for (line, prints) in [("base64", true), ("tee x", true), ("wc -l", false), ("sha256sum", false)] {
            let argv: Vec<WordValue> = line.split(' ').map(WordValue::of).collect();
            assert_eq!(
                printed_contents(&argv, std::iter::empty(), &secret, &WordValue::of("/p")).is_some(),
                prints,
                "{line}"
            );
        }
    }
}
