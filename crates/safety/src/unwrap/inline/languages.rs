//! The grammar of each language, as data.

use super::program::Grammar;
use super::{calls, syntax};
use crate::programs::program::Language;

static PYTHON: Grammar = Grammar { syntax: &syntax::PYTHON, calls: calls::PYTHON, runs: ("python3", "-c") };
static RUBY: Grammar = Grammar { syntax: &syntax::RUBY, calls: calls::RUBY, runs: ("ruby", "-e") };
static PERL: Grammar = Grammar { syntax: &syntax::PERL, calls: calls::PERL, runs: ("perl", "-e") };
static JAVASCRIPT: Grammar = Grammar { syntax: &syntax::JAVASCRIPT, calls: calls::JAVASCRIPT, runs: ("node", "-e") };
static PHP: Grammar = Grammar { syntax: &syntax::PHP, calls: calls::PHP, runs: ("php", "-r") };
pub(super) static LUA: Grammar = Grammar { syntax: &syntax::LUA, calls: calls::LUA, runs: ("lua", "-e") };
static AWK: Grammar = Grammar { syntax: &syntax::AWK, calls: calls::AWK, runs: ("awk", "") };

/// Returns the grammar of a language. `None` if its programs are not read.
pub(super) fn grammar(language: Language) -> Option<&'static Grammar> {
    Some(match language {
        Language::Python => &PYTHON,
        Language::Ruby => &RUBY,
        Language::Perl => &PERL,
        Language::JavaScript => &JAVASCRIPT,
        Language::Php => &PHP,
        Language::Lua => &LUA,
        Language::Awk => &AWK,
        Language::Other => return None,
    })
}
