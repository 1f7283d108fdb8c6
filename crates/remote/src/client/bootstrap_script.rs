//! The text that starts our program there, in one connection: it searches for the program, checks its hash, and
//! receives the program if it is missing.
//!
//! The text is one argument of `/bin/sh -c`, and stands between two `'` in the line for a login shell. So it has no
//! `'`, no newline, and no `!`, which some shells replace. Its answers are lines that begin with a random mark, since a
//! login shell and its start files may print anything before them.
//!
//! | answer | meaning |
//! |---|---|
//! | `run PATH SENT` | the program starts, frames follow; `SENT`: it was received just now |
//! | `send SYSTEM MACHINE TOOL` | there is a place for the program, and its bytes are awaited, in the form for this tool |
//! | `none PLACE…` | there is no place to start a program from |
//! | `hash` | the program that should be installed is missing, or another one |
//! | `unsupported SYSTEM MACHINE` | there is no program for this system, or none that can be sent |

use super::target_programs::TargetProgram;
use crate::messages::DIRECTORY;
use capture::keep_controls;

/// What starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BootstrapScript {
    /// The programs, one for each machine.
    pub programs: Vec<TargetProgram>,
    /// The path there of a program that is installed. `None`: it is searched for, or sent.
    pub installed: Option<String>,
    /// The random mark, of letters and digits.
    pub mark: String,
}

/// Checks the hash of a file by any tool that does. Without one, a whole program tells its own.
const CHECK_HASH: &str = concat!(
    r#"s() { for t in "sha256sum" "busybox sha256sum" "openssl dgst -sha256 -r" "shasum -a 256"; do "#,
    r#"k=`$t "$1" 2>/dev/null` && { case $k in $h*) return 0;; esac; return 1; }; done; "#,
    r#"[ `wc -c <"$1"` = $n ] && "$1" sum $h </dev/null >/dev/null 2>&1; }; "#,
);

/// Checks that a directory is ours alone.
const CHECK_OWNER: &str =
    r#"o() { set -- `ls -ldn "$1" 2>/dev/null`; case $1 in drwx------*) [ "$3" = "$u" ];; *) false;; esac; }; "#;

/// Checks that a directory takes a program, by a small one.
const CHECK_PLACE: &str = concat!(
    r#"x() { o "$1" || { mkdir "$1" && o "$1"; } 2>/dev/null || return 1; e=$1/.$m; "#,
    r##"printf "#\041/bin/sh\nexit 7\n" 2>/dev/null >"$e" && chmod 700 "$e" && "$e" 2>/dev/null; "##,
    r#"y=$?; rm -f "$e"; [ $y = 7 ]; }; "#,
);

/// Searches each place for the program.
const SEARCH: &str = concat!(
    r#"q="$XDG_CACHE_HOME ${HOME:+$HOME/.cache} $XDG_RUNTIME_DIR /var/tmp /tmp"; "#,
    r#"for d in $q; do case $d in /*) p=$d/D-$u; f=$p/$h; "#,
    r#"if o "$p" && [ -x "$f" ] && s "$f"; then a run "$f" 0; umask $v; exec "$f"; fi;; esac; done; "#,
    r#"[ "$c" ] || { a unsupported $w; exit 1; }; "#,
);

/// Receives the program in the first place that has room, by the first tool that is there and decodes it. The last
/// `cat` takes what a tool that failed has left. `head` may read ahead: nothing follows the program. A missing cache
/// directory is made, but no home: this shell may outlive its link, and the home with it.
const RECEIVE: &str = concat!(
    r#"case $XDG_CACHE_HOME in /*) d=$XDG_CACHE_HOME;; *) d=$HOME/.cache;; esac; "#,
    r#"[ "$d" = /.cache ] || mkdir "$d" 2>/dev/null; "#,
    r#"for d in $q; do case $d in /*) p=$d/D-$u; f=$p/$h; if x "$p"; then for i in $c; do "#,
    r#"z=${i%:*}; if command -v $z >/dev/null 2>&1; then a send $w $z; [ $z = cat ] || z="$z -dc"; "#,
    r#"head -c ${i#*:} 2>/dev/null | { $z 2>/dev/null >"$p/.$m"; cat >/dev/null; }; "#,
    r#"chmod 700 "$p/.$m" && s "$p/.$m" && mv -f "$p/.$m" "$f" && "#,
    r#"{ a run "$f" 1; umask $v; exec "$f"; }; rm -f "$p/.$m"; fi; done; fi;; esac; done; a none $q"#,
);

/// Starts a program that is installed. In an image that has a shell and no `uname`, it tells itself which one it is.
const START_INSTALLED: &str = concat!(
    r#"f="FILE"; r() { a run "$f" 0; umask $v; exec "$f"; }; if [ "$w" ]; then [ -x "$f" ] && s "$f" && r; "#,
    r#"else for h in HASHES; do "$f" sum $h </dev/null >/dev/null 2>&1 && r; done; fi; a hash"#,
);

impl BootstrapScript {
    /// Returns the text.
    #[must_use]
    pub fn text(&self) -> String {
        // The mark stands here in two parts: a shell that prints its commands does not print the mark.
        let (first, last) = self.mark.split_at(self.mark.len() / 2);
        let known: String = self.programs.iter().map(machine_branch).collect();
        let bare = if self.installed.is_some() { r#""") ;; "# } else { "" };
        let begin = format!(
            r#"v=`umask`; umask 077; m={first}""{last}; u=`id -u`; w=`uname -sm`; a() {{ echo; echo "$m $*"; }}; case $w in Linux*) case `uname -m` in {known}*) a unsupported $w; exit 1;; esac;; {bare}*) a unsupported $w; exit 1;; esac; "#
        );
        let rest = match &self.installed {
            Some(path) => {
                let hashes: Vec<_> = self.programs.iter().map(|program| program.sha256.as_str()).collect();
                START_INSTALLED.replace("HASHES", &hashes.join(" ")).replace("FILE", &escape_path(path))
            }
            None => format!("{CHECK_OWNER}{CHECK_PLACE}{SEARCH}{RECEIVE}").replace("/D-", &format!("/{DIRECTORY}-")),
        };
        format!("{begin}{CHECK_HASH}{rest}")
    }
}

/// Returns the branch for a machine: the hash and length of its program, then its codings with their lengths.
fn machine_branch(program: &TargetProgram) -> String {
    let TargetProgram { machine, sha256, bytes, .. } = program;
    let codings = program.encodings().into_iter().map(|(coding, length)| format!("{}:{length}", coding.tool()));
    let codings: Vec<_> = codings.collect();
    format!("{machine}) h={sha256}; n={bytes}; c=\"{}\";; ", codings.join(" "))
}

/// Returns a path within double quotes. [`is_scriptable_path`] has checked it.
fn escape_path(path: &str) -> String {
    path.chars().flat_map(|c| matches!(c, '"' | '$' | '`' | '\\').then_some('\\').into_iter().chain([c])).collect()
}

/// Returns whether a path can stand in the text.
#[must_use]
pub fn is_scriptable_path(path: &str) -> bool {
    path.starts_with('/') && !path.chars().any(|c| matches!(c, '\'' | '!' | '\\') || c.is_control())
}

/// An answer of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BootstrapAnswer {
    /// The program of this path starts. Whether it was received just now.
    Run(String, bool),
    /// The bytes of the program are awaited, for the machine that `uname -m` names, in the form for this tool.
    Send(String, String),
    /// None of these places takes a program.
    None(String),
    /// The program that should be installed is missing, or another one.
    Hash,
    /// There is no program for this system, or none that can be sent.
    Unsupported(String),
}

impl BootstrapAnswer {
    /// Reads a line without its mark. `None`: no text of ours says this.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        Some(match word {
            "run" => {
                let (path, sent) = rest.rsplit_once(' ')?;
                Self::Run(path.to_owned(), sent == "1")
            }
            "send" => {
                let (system, tool) = rest.rsplit_once(' ')?;
                Self::Send(system.rsplit_once(' ')?.1.to_owned(), tool.to_owned())
            }
            "none" => Self::None(rest.to_owned()),
            "hash" => Self::Hash,
            "unsupported" => Self::Unsupported(rest.to_owned()),
            _ => return None,
        })
    }
}

/// Most bytes that are skipped before the first mark.
pub const MAX_NOISE: usize = 64 * 1024;

/// Finds answers in what arrives.
#[derive(Debug)]
pub struct BootstrapAnswerReader {
    mark: String,
    bytes: Vec<u8>,
    /// Bytes that were skipped since the last answer.
    skipped: usize,
    /// The lines that were skipped before the first answer, the first few KiB.
    printed: String,
}

/// The most of what a login shell has printed that an error shows, bytes.
const MAX_PRINTED: usize = 4096;

/// The next thing found in the output.
#[derive(Debug, PartialEq, Eq)]
pub enum BootstrapFinding {
    /// The rest of the line has not arrived.
    Nothing,
    /// More than [`MAX_NOISE`] came before the mark, or the mark is followed by what we never say.
    Noise,
    /// An answer.
    Answer(BootstrapAnswer),
}

impl BootstrapAnswerReader {
    /// Waits for answers with this mark.
    #[must_use]
    pub fn new(mark: &str) -> Self {
        Self { mark: mark.to_owned(), bytes: Vec::new(), skipped: 0, printed: String::new() }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
    }

    /// Returns the next answer.
    pub fn next_answer(&mut self) -> BootstrapFinding {
        while self.skipped <= MAX_NOISE
            && let Some(end) = self.bytes.iter().position(|byte| *byte == b'\n')
        {
            let line: Vec<u8> = self.bytes.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line[..end]);
            // A terminal in between may have added a carriage return.
            if let Some(said) = line.trim_end_matches('\r').strip_prefix(self.mark.as_str()) {
                self.skipped = 0;
                let mut said = said.trim_start().to_owned();
                keep_controls(&mut said, &[]);
                return BootstrapAnswer::parse(&said).map_or(BootstrapFinding::Noise, BootstrapFinding::Answer);
            }
            self.skipped += end + 1;
            if self.printed.len() < MAX_PRINTED {
                self.printed.push_str(&line);
                self.printed.push('\n');
            }
        }
        if self.skipped + self.bytes.len() > MAX_NOISE { BootstrapFinding::Noise } else { BootstrapFinding::Nothing }
    }

    /// Returns what a login shell has printed in place of an answer.
    #[must_use]
    pub fn printed(&self) -> String {
        let rest = &self.bytes[..self.bytes.len().min(MAX_PRINTED)];
        self.printed.clone() + &String::from_utf8_lossy(rest)
    }

    /// Returns the bytes after the last answer: frames of the program.
    #[must_use]
    pub fn into_rest(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
#[path = "bootstrap_tests.rs"]
mod tests;
