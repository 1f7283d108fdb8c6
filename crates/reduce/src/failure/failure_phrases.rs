//! Set phrases that report a failure wherever they are in a line.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::failure_words::FailureWords;

const PHRASES: [&str; 36] = [
    "stack smashing detected",
    "double free or corruption",
    "no space left on device",
    "stack overflow",
    "operation not permitted",
    "address already in use",
    "data race",
    "password is required",
    "did not complete successfully",
    "execution failed for",
    "command not found",
    "no such file or directory",
    "permission denied",
    "segmentation fault",
    "core dumped",
    "panicked at",
    "undefined reference to",
    "traceback (most recent call last)",
    "fatal error",
    ": error:",
    "): error",
    ": fatal:",
    " error ts",
    "build failed",
    "build failure",
    "connection refused",
    "unhandled exception",
    "unhandled promise rejection",
    "[rejected]",
    "[remote rejected]",
    "out of memory",
    "cannot find module",
    "is not recognized as",
    "exited with signal",
    "assertion failed",
    "level=error",
];

/// Phrases that need a number other than zero.
const CODES: [&str; 10] = [
    "exit code ",
    "exit code: ",
    "exit status ",
    "exit status: ",
    "exited with code ",
    "exited with ",
    "exited (",
    "returned non-zero exit status ",
    "exitcode=",
    "status code ",
];

/// Texts that matter only together with others.
const NO_ERRORS: &str = "0 errors";
const STARS: &str = "*** ";
const STAR_ERROR: &str = " error ";

/// The offsets of the arrays' texts in one array of all texts.
const FIRST_CODE: usize = PHRASES.len();
const FIRST_PART: usize = FIRST_CODE + CODES.len();

/// Finds all texts in one pass, in any case of letters.
static FINDER: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let texts = PHRASES.iter().chain(&CODES).chain(&[NO_ERRORS, STARS, STAR_ERROR]);
    AhoCorasick::builder().ascii_case_insensitive(true).build(texts).expect("few and short texts")
});

/// Returns whether a line has a phrase of failure, or counts failures.
pub(super) fn is_failure(line: &str, words: &FailureWords) -> bool {
    if words.counted {
        return true;
    }
    let mut phrase = false;
    let mut parts = [false; 3];
    for found in FINDER.find_overlapping_iter(line) {
        let at = found.pattern().as_usize();
        if at >= FIRST_PART {
            parts[at - FIRST_PART] = true;
        } else if at < FIRST_CODE {
            phrase = true;
        } else if has_code(&line[found.end()..], CODES[at - FIRST_CODE]) {
            return true;
        }
    }
    let [no_errors, stars, star_error] = parts;
    // `make: *** [Makefile:3: all] Error 1`
    phrase && !no_errors || stars && star_error
}

/// Returns whether a number other than zero follows a phrase.
fn has_code(behind: &str, phrase: &str) -> bool {
    let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
    // An HTTP status below 400 is no failure.
    digits > 0
        && behind[..digits].bytes().any(|byte| byte != b'0')
        && !(phrase == "status code " && behind.starts_with(['1', '2', '3']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_found_in_any_case_and_codes_that_are_not_zero() {
        for (line, fails) in [
            ("x: Segmentation Fault here", true),
            ("the step exited with code 7", true),
            ("the step exited with code 0", false),
            ("status code 204", false),
            ("Status Code 503", true),
            ("fatal error, 0 errors", false),
            ("make: *** [Makefile:3: all] Error 1", true),
            ("*** done ***", false),
        ] {
            assert_eq!(is_failure(line, &FailureWords::default()), fails, "{line}");
        }
    }
}
