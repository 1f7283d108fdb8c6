//! Effects that reach beyond this machine, or that nothing takes back.

use crate::options::OptionSpec;

/// A lasting effect of a program or a subcommand. A person is asked about it.
///
/// `says` and `instead` are templates. `{}` stands for the operands behind the subcommand, `{context kube-context}` for
/// the value of one of these options, `{resources}` for the operands as resources of a cluster. `[first|second]` stands
/// for the first alternative whose values are all given. If no alternative is complete, there is no text.
#[derive(Clone, Copy, Debug)]
pub struct LastingEffect {
    /// The kind of the effect, which decides the rule.
    pub stake: EffectStake,
    /// The effect, in words, after "this": `deletes {} of the cluster`.
    pub says: &'static str,
    /// The safe form, behind the program and its own options: `plan -destroy`. With `+` before it, the whole call with
    /// this behind the subcommand: `+--dry-run=client`. Empty without one.
    pub instead: &'static str,
    /// Options that make the call lasting. One of them is enough. Empty: the call always lasts. `replicas=0` also
    /// requires the value, `args~state=absent` a value that contains the text.
    pub with: &'static str,
    /// Options that make the call harmless, written as in `with`. `--help`, `-h` and `--dry-run` always do.
    pub unless: &'static str,
    /// The condition on the call's operands.
    pub operands: OperandCondition,
    /// The options behind the subcommand, if they differ from the program's options.
    pub spec: Option<OptionSpec>,
}

/// The kinds of things that lasting effects put at risk. Each has one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectStake {
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
pub enum OperandCondition {
    /// Anything.
    Any,
    /// No operand is given: `terraform apply`.
    Missing,
    /// At least one operand is given.
    Given,
    /// An operand is unknown until the call runs: `docker rm -f $(docker ps -aq)`.
    Unknown,
    /// No operand is in this list. An entry that ends in `*` is a prefix.
    Unlike(&'static str),
    /// A word behind the subcommand, also the value of an option, contains one of these texts.
    Containing(&'static str),
}

impl LastingEffect {
    /// Returns whether each call of the subcommand has the effect, except for dry runs.
    pub const fn is_certain(&self) -> bool {
        self.with.is_empty() && matches!(self.operands, OperandCondition::Any)
    }
}
