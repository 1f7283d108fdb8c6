//! Recognizes a prompt in the last, unfinished line of a command.

/// Endings of a question that is answered with a word or a key, in lower case.
const ENDS: &[&str] = &[
    "[y/n]",
    "[y/n/a]",
    "(y/n)",
    "(yes/no)",
    "[yes/no]",
    "y/n",
    "yes/no",
    "(yes/no/[fingerprint])",
    "[y/n/q]",
    "[y|n]",
    "[no]",
    "[yes]",
];
/// Words of a prompt before its colon, in lower case.
const ASKED: &[&str] = &[
    "password",
    "passphrase",
    "passwort",
    "passcode",
    "pin",
    "login",
    "username",
    "user name",
    "token",
    "otp",
    "verification code",
    "one-time code",
    "email",
    "name",
    "choice",
    "selection",
    "answer",
];
/// Words of a prompt in any position, in lower case.
const WORDS: &[&str] = &[
    "press any key",
    "press enter",
    "press return",
    "hit enter",
    "hit return",
    "to continue",
    "continue?",
    "proceed?",
    "are you sure",
    "overwrite?",
    "--more--",
];
/// Words that only a prompt has before its colon, in lower case.
const SURE: &[&str] =
    &["password", "passphrase", "passwort", "passcode", "verification code", "one-time code", "username for '"];
/// Bytes at the end of a long line that are examined.
const LOOKED_AT: usize = 1024;

/// Returns whether a line is a prompt if its writer is blocked. Only an unfinished line can be a prompt.
pub fn looks_like_prompt(line: &str) -> bool {
    let line = end_of(line);
    if line.is_empty() {
        return false;
    }
    let bare = line.trim_end_matches([':', '?', '>', ' ']);
    let colon = line.ends_with(':');
    line.ends_with('?')
        || line.starts_with("? ")
        || (ENDS.iter().any(|end| bare.ends_with(end)) && bare.len() > 3)
        || (colon && ASKED.iter().any(|word| line.contains(word)))
        || WORDS.iter().any(|word| line.contains(word))
}

/// Returns whether a line is a prompt whatever its writer does: for a secret, for git's user name, or for yes or no.
pub fn is_prompt(line: &str) -> bool {
    let line = end_of(line);
    let bare = line.trim_end_matches([':', '?', '>', ' ']);
    let answers = || ENDS.iter().any(|end| end.starts_with(['[', '(']) && end.contains('/') && bare.ends_with(end));
    answers() || (line.ends_with(':') && SURE.iter().any(|word| line.contains(word)))
}

fn end_of(line: &str) -> String {
    let from = line.ceil_char_boundary(line.len().saturating_sub(LOOKED_AT));
    line[from..].trim().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::{is_prompt, looks_like_prompt};

    #[test]
    fn what_nobody_says_but_who_asks() {
        for line in [
            "Password:",
            "[sudo] password for joe: ",
            "Username for 'https://example.org': ",
            "Continue? [y/N] ",
            "Are you sure (yes/no)? ",
            "[Y/n]",
        ] {
            assert!(is_prompt(line) && looks_like_prompt(line), "{line}");
        }
        for line in
            ["", "what?", "name: ", "username: ", "host login: ", "y/n", "Press any key", "> ", "password", "3/4 [no]"]
        {
            assert!(!is_prompt(line), "{line}");
        }
    }

    #[test]
    fn what_asks_for_something() {
        for line in [
            "Password:",
            "Password: ",
            "[sudo] password for joe: ",
            "Enter passphrase for key '/home/joe/.ssh/id_ed25519': ",
            "Username for 'https://example.org': ",
            "Are you sure you want to continue connecting (yes/no/[fingerprint])? ",
            "Do you want to continue? [Y/n] ",
            "Overwrite (y/n)? ",
            "remove write-protected regular file 'x'? ",
            "? What is your name › ",
            "package name: (demo) is this a name:",
            "Press any key to continue . . .",
            "--More--(45%)",
            "Is this OK? (yes) (yes/no) ",
            "host login: ",
        ] {
            assert!(looks_like_prompt(line), "{line}");
        }
    }

    #[test]
    fn what_only_says_something() {
        for line in
            ["", "   ", "Compiling foo v0.1.0", "45% [=====>     ]", "Downloading: 12 MB", "progress 3/4", "> ", "y/n"]
        {
            assert!(!looks_like_prompt(line), "{line}");
        }
    }
}
