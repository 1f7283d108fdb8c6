//! The secrets of a world, as a request to one host sees them.

use std::sync::Arc;

use confine_policy::{SecretPlace, SecretRule};

use super::secret_vault::{SecretValue, SecretVault};
use super::stream_replacer::TextReplacements;
use super::text_forms::{all_forms, in_url, readable_forms};

/// The stand-ins of a world, in all forms, to find one wherever it stands.
#[derive(Debug)]
pub(crate) struct StandIns {
    pub rules: Vec<SecretRule>,
    /// Each form of each stand-in, with the number of its rule.
    forms: Vec<(Vec<u8>, usize)>,
    /// The search for all forms.
    pub search: Option<Arc<TextReplacements>>,
}

impl StandIns {
    /// Returns the stand-ins of these rules.
    pub fn new(rules: Vec<SecretRule>) -> Self {
        let of = |(number, rule): (usize, &SecretRule)| {
            all_forms(&rule.stand_in).into_iter().map(move |form| (form, number)).collect::<Vec<_>>()
        };
        let mut forms: Vec<_> = rules.iter().enumerate().flat_map(of).collect();
        forms.sort();
        forms.dedup_by(|one, other| one.0 == other.0);
        let search = search_of(forms.iter().map(|(form, _)| form)).map(Arc::new);
        Self { rules, forms, search }
    }

    /// Returns the number of the rule whose stand-in is in these bytes, in any form.
    pub fn find(&self, bytes: &[u8]) -> Option<usize> {
        let found = self.search.as_ref()?.find(bytes)?;
        self.forms.iter().find(|(form, _)| form == found).map(|(_, number)| *number)
    }

    /// Returns the numbers of the rules whose stand-ins are in this text as they are.
    pub fn all_in<'a>(&'a self, text: &'a str) -> impl Iterator<Item = usize> + 'a {
        let found = self.rules.iter().enumerate().filter(|(_, rule)| text.contains(&rule.stand_in));
        found.map(|(number, _)| number)
    }

    /// Returns the search for the stand-ins of all rules but these.
    pub fn search_besides(&self, except: &[usize]) -> Option<Arc<TextReplacements>> {
        if except.is_empty() {
            return self.search.clone();
        }
        let others = self.forms.iter().filter(|(_, number)| !except.contains(number));
        search_of(others.map(|(form, _)| form)).map(Arc::new)
    }

    /// Returns whether a secret goes to a host.
    pub fn has_host(&self, name: &str, port: u16) -> bool {
        self.rules.iter().any(|rule| rule.goes_to(name, port))
    }
}

/// Returns a search for texts, which replaces them by nothing.
pub(crate) fn search_of<'a>(texts: impl Iterator<Item = &'a Vec<u8>>) -> Option<TextReplacements> {
    TextReplacements::new(texts.map(|text| (text.clone(), Vec::new())))
}

/// What a request has sent, which its answer may hold although the gate has other values by then.
#[derive(Debug, Default)]
pub(crate) struct SentTexts {
    /// Texts, each with the text that the program has sent.
    pub texts: Vec<(Vec<u8>, Vec<u8>)>,
    /// Values, each with the number of its rule.
    pub values: Vec<(usize, SecretValue)>,
}

/// The secrets for the requests of a connection to a host.
pub(crate) struct HostSecrets {
    pub host: String,
    pub port: u16,
    pub all: Arc<StandIns>,
    vault: Arc<SecretVault>,
}

impl HostSecrets {
    /// Returns the secrets for a host.
    pub fn new(host: String, port: u16, all: Arc<StandIns>, vault: Arc<SecretVault>) -> Self {
        Self { host, port, all, vault }
    }

    /// Returns the rule with this number.
    pub fn rule(&self, number: usize) -> &SecretRule {
        &self.all.rules[number]
    }

    /// Returns whether a secret goes to the host.
    pub fn goes_here(&self, number: usize) -> bool {
        self.rule(number).goes_to(&self.host, self.port)
    }

    /// Returns the host, with its port unless that is 443.
    pub fn authority(&self) -> String {
        if self.port == 443 { self.host.clone() } else { format!("{}:{}", self.host, self.port) }
    }

    /// Returns the value of a secret of the host, or why there is none.
    pub async fn value(&self, number: usize) -> Result<SecretValue, String> {
        self.vault.value(self.rule(number)).await
    }

    /// Returns the secrets that go to the host.
    pub fn numbers(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.all.rules.len()).filter(|number| self.goes_here(*number))
    }

    /// Returns the texts of an answer that are replaced: all values that the gate knows, in each form. The host may
    /// know its own from requests of other worlds, so these are asked for first.
    pub async fn in_answer(&self, sent: SentTexts) -> Option<Arc<TextReplacements>> {
        for number in self.numbers() {
            if self.vault.known_values(self.rule(number)).is_empty() {
                let _ = self.value(number).await;
            }
        }
        let known = (0..self.all.rules.len()).flat_map(|number| {
            let known = self.vault.known_values(self.rule(number));
            known.into_iter().map(move |value| (number, value))
        });
        let mut pairs = sent.texts;
        for (number, value) in sent.values.into_iter().chain(known) {
            let stand_in = &self.rule(number).stand_in;
            pairs.extend(all_forms(&value).into_iter().zip(all_forms(stand_in)));
            // The names of headers have no capital letters.
            pairs.push((value.to_ascii_lowercase().into_bytes(), stand_in.to_ascii_lowercase().into_bytes()));
        }
        TextReplacements::new(pairs).map(Arc::new)
    }

    /// Returns the texts of a body that are replaced, for secrets that may stand there.
    pub fn in_body(&self, values: &[(usize, SecretValue)]) -> Option<TextReplacements> {
        let pairs = values.iter().flat_map(|(number, value)| {
            readable_forms(&self.rule(*number).stand_in).into_iter().zip(readable_forms(value))
        });
        TextReplacements::new(pairs)
    }

    /// Returns the texts of a query that are replaced.
    pub fn in_query(&self, number: usize, value: &str) -> Option<TextReplacements> {
        let encoded = in_url(value).into_bytes();
        let stand_in = &self.rule(number).stand_in;
        TextReplacements::new(
            [stand_in.clone().into_bytes(), in_url(stand_in).into_bytes()].map(|of| (of, encoded.clone())),
        )
    }

    /// Returns the secrets that may stand in a place and go to the host.
    pub fn may_stand_in(&self, place: SecretPlace) -> Vec<usize> {
        self.numbers().filter(|number| self.rule(*number).may_stand_in(place)).collect()
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use zeroize::Zeroizing;

    use super::*;
    use crate::tests::fixture::rule;

    #[test]
    fn an_answer_has_no_value_that_its_request_had_and_the_gate_has_forgotten() {
        let stand_ins = Arc::new(StandIns::new(vec![rule("TOKEN", "ghp_StandStandStandStand")]));
        let (socket, _host) = sys::packet_pair().expect("a pair");
        let vault = Arc::new(SecretVault::new(socket));
        let of = HostSecrets::new("other.example".into(), 443, stand_ins, vault);
        let old = Arc::new(Zeroizing::new("ghp_OldOldOldOldOldOldOl".to_owned()));
        let sent = SentTexts { texts: Vec::new(), values: vec![(0, old)] };
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let texts = runtime.block_on(of.in_answer(sent)).expect("texts");
        let replaced = texts.replace(b"ghp_OldOldOldOldOldOldOl ghp_oldoldoldoldoldoldol").expect("replaced");
        assert_eq!(replaced, b"ghp_StandStandStandStand ghp_standstandstandstand");
    }
}
