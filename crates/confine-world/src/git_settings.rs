//! Configurations of git.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A setting.
#[derive(Debug, PartialEq, Eq)]
struct GitSetting {
    /// The section in lower case.
    section: String,
    /// The part of the section in quotes.
    part: Option<String>,
    /// The name in lower case.
    name: String,
    /// `None`: there is none, or it is written in a way that is not known here.
    value: Option<Vec<u8>>,
}

/// Returns the last value of `core.worktree` in a file, without included files. `None`: there is none, or the file is
/// written in a way that this function does not know.
pub(crate) fn work_tree(config: &[u8]) -> Option<PathBuf> {
    let mut found = None;
    for setting in settings(config).flatten() {
        if setting.is_setting("core", "worktree") {
            found = Some(setting.value?);
        }
    }
    found.filter(|value| !value.is_empty()).map(|value| PathBuf::from(OsStr::from_bytes(&value)))
}

/// Returns whether the options of a cherry-pick or a revert name a strategy by a path, or are not understood.
pub fn has_strategy_path(options: &[u8]) -> bool {
    settings(options).any(|one| {
        let Some(GitSetting { name, value: Some(value), .. }) = one else { return true };
        name == "strategy" && value.contains(&b'/')
    })
}

/// Returns a configuration without the settings by which git runs programs, or trusts what it should not. `None`: it
/// has none of them. Nothing is left of a file that is not understood. `may_change` says whether a path, relative to
/// the directory of the file, is one that the command may change.
pub fn without_dangerous_settings(config: &[u8], may_change: impl Fn(&Path) -> bool) -> Option<Vec<u8>> {
    let Some(all) = settings(config).map(|one| one.filter(|one| one.value.is_some())).collect::<Option<Vec<_>>>()
    else {
        return Some(NOTHING.as_bytes().to_vec());
    };
    let is_dangerous = |one: &GitSetting| one.is_dangerous() || one.work_tree().is_some_and(|path| !may_change(path));
    if !all.iter().any(is_dangerous) {
        return None;
    }
    Some(all.iter().filter(|one| !is_dangerous(one)).flat_map(GitSetting::to_config_text).collect())
}

/// The least that a configuration has.
const NOTHING: &str = "[core]\n\trepositoryformatversion = 0\n";
/// Words in the names of settings whose values are commands, or lead to more settings or another server.
const WORDS: [&str; 33] = [
    "agent",
    "allow",
    "askpass",
    "browser",
    "clean",
    "cmd",
    "command",
    "cookiefile",
    "driver",
    "editor",
    "exec",
    "external",
    "filter",
    "fsmonitor",
    "helper",
    "hook",
    "httpd",
    "insteadof",
    "pack",
    "pager",
    "path",
    "process",
    "prog",
    "proxy",
    "script",
    "sendmail",
    "shell",
    "smtpserver",
    "smudge",
    "sslverify",
    "templatedir",
    "textconv",
    "tunnel",
];
/// Those of them whose settings may also be switches or numbers.
const SWITCHES: [&str; 5] = ["allow", "filter", "fsmonitor", "pack", "pager"];
/// Sections of which each setting may be a command.
const SECTIONS: [&str; 4] = ["alias", "include", "includeif", "hook"];
/// Settings that have such a word, and are harmless.
const HARMLESS: [(&str, &str); 7] = [
    ("submodule", "path"),
    ("core", "quotepath"),
    ("core", "packedgitlimit"),
    ("core", "packedgitwindowsize"),
    ("extensions", "partialclonefilter"),
    ("remote", "partialclonefilter"),
    ("gc", "autopacklimit"),
];

impl GitSetting {
    fn is_dangerous(&self) -> bool {
        let (section, name) = (self.section.as_str(), self.name.as_str());
        let value = self.value.as_deref().unwrap_or_default();
        // A command, or a program that git starts for an address.
        let runs = value.starts_with(b"!") || value.windows(2).any(|two| two == b"::") || value.starts_with(b"-");
        let is_switch =
            ["true", "false", "yes", "no", "on", "off", "0", "1"].iter().any(|word| value == word.as_bytes())
                || value.iter().all(u8::is_ascii_digit);
        let counts = |word: &&str| {
            (name.contains(*word) || section == *word && section == "pager") && !(is_switch && SWITCHES.contains(word))
        };
        let is_plain = HARMLESS.contains(&(section, name)) || section == "pack";
        let is_named = SECTIONS.contains(&section) || (section, name) == ("remote", "vcs");
        runs || is_named || !is_plain && WORDS.iter().any(counts)
    }

    fn is_setting(&self, section: &str, name: &str) -> bool {
        (self.section.as_str(), self.part.is_none(), self.name.as_str()) == (section, true, name)
    }

    /// Returns the work tree that the setting gives to the repository.
    fn work_tree(&self) -> Option<&Path> {
        let value = self.value.as_ref().filter(|value| !value.is_empty() && self.is_setting("core", "worktree"))?;
        Some(Path::new(OsStr::from_bytes(value)))
    }

    /// Returns the setting as git reads it.
    fn to_config_text(&self) -> Vec<u8> {
        let quoted = |text: &[u8]| {
            let mut quoted = vec![b'"'];
            for byte in text {
                match byte {
                    b'\n' => quoted.extend(b"\\n"),
                    b'"' | b'\\' => quoted.extend([b'\\', *byte]),
                    _ => quoted.push(*byte),
                }
            }
            quoted.push(b'"');
            quoted
        };
        let part = self.part.iter().flat_map(|part| [b" ".to_vec(), quoted(part.as_bytes())].concat());
        let value = quoted(self.value.as_deref().unwrap_or_default());
        let head = [b"[", self.section.as_bytes()].concat().into_iter().chain(part);
        head.chain([b"]\n\t", self.name.as_bytes(), b" = ", &value, b"\n"].concat()).collect()
    }
}

/// Returns the settings of a file, without included files. `None`: a line is not understood.
fn settings(config: &[u8]) -> impl Iterator<Item = Option<GitSetting>> {
    let mut section: Option<(String, Option<String>)> = None;
    config.split(|byte| *byte == b'\n').filter_map(move |line| {
        let mut line = line.trim_ascii();
        if let Some(rest) = line.strip_prefix(b"[") {
            let end = rest.iter().position(|byte| *byte == b']');
            section = end.and_then(|end| section_of(&rest[..end]));
            line = match (&section, end) {
                (Some(_), Some(end)) => rest[end + 1..].trim_ascii(),
                _ => return Some(None),
            };
        }
        if line.is_empty() || line.starts_with(b"#") || line.starts_with(b";") {
            return None;
        }
        let Some((section, part)) = section.clone() else { return Some(None) };
        let (name, rest) = line.split_at(line.iter().position(|byte| !is_key(*byte)).unwrap_or(line.len()));
        if name.is_empty() {
            return Some(None);
        }
        let name = String::from_utf8_lossy(name).to_ascii_lowercase();
        let value = rest.trim_ascii().strip_prefix(b"=").and_then(value);
        Some(Some(GitSetting { section, part, name, value }))
    })
}

/// Returns a section and its part, from the text between brackets.
fn section_of(text: &[u8]) -> Option<(String, Option<String>)> {
    let text = std::str::from_utf8(text).ok()?;
    let (name, part) = match text.split_once([' ', '\t']) {
        None => (text, None),
        Some((name, part)) => (name, Some(part.trim_start().strip_prefix('"')?.strip_suffix('"')?)),
    };
    let is_plain = |part: &str| !part.contains(['"', '\\']);
    let is_known = !name.is_empty() && name.bytes().all(is_key) && part.is_none_or(is_plain);
    is_known.then(|| (name.to_ascii_lowercase(), part.map(str::to_owned)))
}

fn is_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

/// Returns a value without its quotes, escapes and comment. `None`: it goes on in the next line, or git refuses it. git
/// reads `a = "b"c ; comment` as `bc`.
fn value(text: &[u8]) -> Option<Vec<u8>> {
    let (mut value, mut length, mut is_quoted) = (Vec::new(), 0, false);
    let mut bytes = text.trim_ascii().iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'#' | b';' if !is_quoted => break,
            b'\\' => value.push(match bytes.next()? {
                b'n' => b'\n',
                b't' => b'\t',
                b'b' => 8,
                byte @ (b'"' | b'\\') => *byte,
                _ => return None,
            }),
            byte => value.push(*byte),
        }
        if is_quoted || !byte.is_ascii_whitespace() {
            length = value.len();
        }
    }
    value.truncate(length);
    (!is_quoted && !value.contains(&0)).then_some(value)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{NOTHING, without_dangerous_settings, work_tree};

    #[test]
    fn settings_that_run_programs_are_taken_out() {
        let plain = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tfsmonitor = true\n[remote \"origin\"]\n\turl = git@host.test:a/b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n[user]\n\tname = A B\n\temail = a@b.test\n[submodule \"x\"]\n\turl = https://host.test/x\n\tactive = true\n[pager]\n\tlog = false\n[transfer]\n\tunpackLimit = 1\n[uploadpack]\n\tallowFilter = true\n[core]\n\tworktree = ../../../x\n";
        let harmless = |config: &[u8]| without_dangerous_settings(config, |path| path == Path::new("../../../x"));
        assert_eq!(harmless(plain.as_bytes()), None);
        let evil = [plain, "[core]\nfsmonitor = ./x\n"].concat();
        let reduced = String::from_utf8(harmless(evil.as_bytes()).expect("it has one")).expect("text");
        assert!(reduced.contains("\turl = \"git@host.test:a/b.git\"\n") && !reduced.contains("\"./x"), "{reduced}");
        for evil in [
            "[core] sshCommand = ./x\n",
            "[CORE]\nPager=./x\n",
            "[core]\n\teditor = ./x\n",
            "[core]\nhooksPath = h\n",
            "[core]\naskpass = ./x\n",
            "[core]\ngitProxy = ./x\n",
            "[core]\nalternateRefsCommand = ./x\n",
            "[sequence]\neditor = ./x\n",
            "[filter \"a\"]\nclean = ./x\n",
            "[filter \"a\"]\nprocess = ./x\n",
            "[diff]\nexternal = ./x\n",
            "[diff \"a\"]\ncommand = ./x\n",
            "[diff \"a\"]\ntextconv = ./x\n",
            "[merge \"a\"]\ndriver = ./x\n",
            "[difftool \"a\"]\ncmd = ./x\n",
            "[mergetool \"a\"]\npath = ./x\n",
            "[alias]\nst = !./x\n",
            "[alias]\nst = log\n",
            "[include]\npath = ../x\n",
            "[includeIf \"gitdir:/\"]\npath = ../x\n",
            "[gpg]\nprogram = ./x\n",
            "[gpg \"ssh\"]\ndefaultKeyCommand = ./x\n",
            "[credential]\nhelper = ./x\n",
            "[credential \"https://a\"]\nhelper = ./x\n",
            "[remote \"a\"]\nurl = ext::./x\n",
            "[remote \"a\"]\nuploadpack = ./x\n",
            "[remote \"a\"]\nvcs = ../x\n",
            "[remote \"a\"]\nurl = --upload-pack=x\n",
            "[url \"ext::./x \"]\ninsteadOf = https\n",
            "[protocol \"ext\"]\nallow = always\n",
            "[submodule \"a\"]\nupdate = !./x\n",
            "[pager]\nlog = ./x\n",
            "[interactive]\ndiffFilter = ./x\n",
            "[trailer \"a\"]\ncmd = ./x\n",
            "[tar \"a\"]\ncommand = ./x\n",
            "[hook \"a\"]\ncommand = ./x\n",
            "[browser \"a\"]\ncmd = ./x\n",
            "[core]\nfsmonitor = \\\n./x\n",
            "[core]\nbare\n",
            "[core]\nhooksPath = 1 #./x\n",
            "[core]\nhooksPath = true #./x\n",
            "[include]\npath = 1 #./x\n",
            "[http]\nsslVerify = false #./x\n",
            "[core]\nworktree = ../../../../x\n",
            "[core]\nworktree = ./x\n",
            "[svn]\nauthorsProg = ./x\n",
            "[sendemail]\nsmtpServer = ./x\n",
            "[init]\ntemplateDir = ./x\n",
            "[http]\ncookieFile = ./x\n",
            "[core \"a\\\"]\"]\nfsmonitor = ./x\n",
            "\u{feff}[core]\nfsmonitor = ./x\n",
            "x",
        ] {
            let left = harmless([plain, evil].concat().as_bytes()).expect(evil);
            let left = String::from_utf8(left).expect("text");
            assert!(left == reduced || left == NOTHING, "{evil}: {left}");
            assert_eq!(harmless(left.as_bytes()), None, "{evil}: {left}");
        }
    }

    #[test]
    fn the_work_tree_is_read_as_git_reads_it() {
        for (config, expected) in [
            ("[core]\n\tworktree = ../../../sub\n", Some("../../../sub")),
            ("[CORE]\nWorkTree=/a b/c  \n", Some("/a b/c")),
            ("[core] worktree = x ; why\n", Some("x")),
            ("[core]\nworktree = \"a # b\" # c\n", Some("a # b")),
            ("[core]\nworktree = a\\\\b\\\"c\n", Some("a\\b\"c")),
            ("[core]\nworktree = a\nbare = false\nworktree = b\n", Some("b")),
            ("[core]\r\nworktree = a\r\n", Some("a")),
            ("[core]\nworktree = a\n[user]\nworktree = b\n", Some("a")),
            ("[core \"x\"]\nworktree = a\n", None),
            ("[core]\nworktrees = a\n", None),
            ("[core]\n# worktree = a\n", None),
            ("[core]\nworktree = \n", None),
            ("[core]\nworktree\n", None),
            ("[core]\nworktree = a\\\nb\n", None),
            ("[core]\nworktree = \"a\n", None),
            ("worktree = a\n", None),
            ("[core\nworktree = a\n", None),
            ("", None),
        ] {
            assert_eq!(work_tree(config.as_bytes()).as_deref(), expected.map(Path::new), "{config:?}");
        }
    }
}
