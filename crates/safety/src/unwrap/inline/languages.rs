//! The grammar of each language, as data.

use super::program::Grammar;
use super::{calls, syntax};
use crate::programs::program::Language;

static PYTHON: Grammar = Grammar { syntax: &syntax::PYTHON, calls: calls::PYTHON, runs: ("python3", "-c") };
static RUBY: Grammar = Grammar { syntax: &syntax::RUBY, calls: calls::RUBY, runs: ("ruby", "-e") };
static PERL: Grammar = Grammar { syntax: &syntax::PERL, calls: calls::PERL, runs: ("perl", "-e") };
static JAVASCRIPT: Grammar = Grammar { syntax: &syntax::JAVASCRIPT, calls: calls::JAVASCRIPT, runs: ("node", "-e") };
static PHP: Grammar = Grammar { syntax: &syntax::PHP, calls: calls::PHP, runs: ("php", "-r") };
static LUA: Grammar = Grammar { syntax: &syntax::LUA, calls: calls::LUA, runs: ("lua", "-e") };
static R: Grammar = Grammar { syntax: &syntax::R, calls: calls::R, runs: ("Rscript", "-e") };
static JULIA: Grammar = Grammar { syntax: &syntax::JULIA, calls: calls::JULIA, runs: ("julia", "-e") };
static ELIXIR: Grammar = Grammar { syntax: &syntax::ELIXIR, calls: calls::ELIXIR, runs: ("elixir", "-e") };
static AWK: Grammar = Grammar { syntax: &syntax::AWK, calls: calls::AWK, runs: ("awk", "") };
static APPLESCRIPT: Grammar = Grammar { syntax: &syntax::APPLESCRIPT, calls: &[], runs: ("osascript", "-e") };

/// The grammar of a language.
pub(super) fn grammar(language: Language) -> &'static Grammar {
    match language {
        Language::Python => &PYTHON,
        Language::Ruby => &RUBY,
        Language::Perl => &PERL,
        Language::JavaScript => &JAVASCRIPT,
        Language::Php => &PHP,
        Language::Lua => &LUA,
        Language::R => &R,
        Language::Julia => &JULIA,
        Language::Elixir => &ELIXIR,
        Language::Awk => &AWK,
        Language::AppleScript => &APPLESCRIPT,
    }
}
