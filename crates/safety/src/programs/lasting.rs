//! Effects that reach beyond this machine, or that nothing takes back.

use crate::options::OptionSpec;

/// A lasting effect of a program or a subcommand. A person is asked about it.
///
/// `says` and `instead` are templates. `{}` is the operands behind the subcommand, `{context kube-context}` the value
/// of one of these options, `{resources}` the operands as resources of a cluster. Of `[one|other]` the first text
/// counts whose values are all given. Without one there is no text.
#[derive(Clone, Copy, Debug)]
pub struct Lasting {
    /// The kind of the effect, which decides the rule.
    pub stake: Stake,
    /// The effect, in words, after "this": `deletes {} of the cluster`.
    pub says: &'static str,
    /// The safe form, behind the program and its own options: `plan -destroy`. With `+` before it, the whole call with
    /// this behind the subcommand: `+--dry-run=client`. Empty without one.
    pub instead: &'static str,
    /// Options, one of which makes it lasting. Empty: the call is so without any. `replicas=0` also requires the value,
    /// `args~state=absent` a value that contains the text.
    pub with: &'static str,
    /// Options with which it is harmless, written as in `with`, besides `--help`, `-h` and `--dry-run`.
    pub unless: &'static str,
    /// The condition on its operands.
    pub operands: Operands,
    /// The options behind the subcommand, if they differ from those of the program.
    pub spec: Option<OptionSpec>,
}

/// The kinds of things that lasting effects put at risk. Each has one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stake {
    /// Infrastructure that is described in files.
    Infrastructure,
    /// A cluster, or what runs in it.
    Cluster,
    /// Containers, images and volumes.
    Containers,
    /// The contents of a database.
    Database,
    /// Something in a cloud or at a forge.
    Cloud,
    /// The public: a package, an image, a release, a site.
    Publication,
    /// This machine, its services, users and packages.
    System,
}

/// The operands that a call must have for its effect to last.
#[derive(Clone, Copy, Debug)]
pub enum Operands {
    /// Anything.
    Any,
    /// None is given: `terraform apply`.
    Missing,
    /// One is given.
    Given,
    /// Nothing is known of one of them before the call runs: `docker rm -f $(docker ps -aq)`.
    Unknown,
    /// None of them is one of these words. One that ends in `*` is the beginning of words.
    Unlike(&'static str),
}

impl Lasting {
    /// Whether each call of the subcommand has the effect, but for its dry runs.
    pub const fn is_certain(&self) -> bool {
        self.with.is_empty() && matches!(self.operands, Operands::Any)
    }
}
