//! Programs that delete or overwrite what exists.
//!
//! The table has the programs that remove, move or edit files in place, unpack over them, or check out another state of
//! a repository or of installed packages. Left out on purpose: programs that only append (`>>`, `tee -a`) or add (`git
//! add`, `git commit`, `mkdir`), builds and tests, and programs whose words do not tell (`node x.js`, a script in
//! `package.json`). `'risky'` does not undo what the table leaves out. `'always'` does.

/// A use of programs that deletes or overwrites. A program may have several.
#[derive(Debug)]
pub struct OverwritingSpec {
    /// The names of the programs.
    pub programs: &'static str,
    /// Paths of subcommands. The call must begin with one of them. Empty: any words.
    pub sub: &'static str,
    /// Options, of which at least one must be given. Empty: no option is required.
    pub with: &'static str,
    /// Options with which nothing is overwritten.
    pub unless: &'static str,
    /// Operands, of which at least one must be given anywhere. Empty: no operand is required. For git, only the first
    /// operand behind the subcommand counts. With `-` in the list, a call without operands counts, too.
    pub operands: &'static str,
}
