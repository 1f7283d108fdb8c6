//! Programs that delete or overwrite what exists.
//!
//! In the table: programs that remove, move or edit files in place, unpack over them, or take another state of a
//! repository or of installed packages. Left out on purpose: what only appends (`>>`, `tee -a`), what only adds
//! (`git add`, `git commit`, `mkdir`), builds and tests, and programs whose words do not tell (`node x.js`, a script in
//! `package.json`). What the table leaves out is not undone by `'risky'`, but by `'always'`.

/// A use of programs that deletes or overwrites. A program may have several.
#[derive(Debug)]
pub struct Overwriting {
    /// The names of the programs.
    pub programs: &'static str,
    /// Paths of subcommands, one of which must come first. Empty: any words.
    pub sub: &'static str,
    /// Options, one of which must be given. Empty: none.
    pub with: &'static str,
    /// Options with which nothing is overwritten.
    pub unless: &'static str,
    /// Operands, one of which must be given anywhere. Empty: none. For git, the first operand behind the subcommand.
    /// With `-` among them, no operand counts, too.
    pub operands: &'static str,
}
