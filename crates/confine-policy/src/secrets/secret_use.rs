//! What secrets were used for, as a result reports it.

use serde::{Deserialize, Serialize};

/// The most different uses of a result.
const LISTED_USES: usize = 50;

/// The longest path of a use, in bytes.
const LONGEST_PATH: usize = 512;

/// Equal requests that were made with a secret, or would have been.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedSecretUse {
    /// The name of the secret.
    pub name: String,
    /// The host, with its port unless that is 443.
    pub host: String,
    /// The method of the request.
    pub method: String,
    /// The path of the request, without its query.
    pub path: String,
    /// The number of requests.
    pub count: u64,
    /// The status of the host's answer. `None`: there was none.
    pub status: Option<u16>,
    /// Why the secret was not put in. `None`: it was.
    pub refused: Option<String>,
}

/// The uses of one command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretUses(pub Vec<CountedSecretUse>);

impl SecretUses {
    /// Counts a use. Beyond [`LISTED_USES`] different ones, uses are dropped.
    pub fn add(&mut self, mut of: CountedSecretUse) {
        if of.path.len() > LONGEST_PATH {
            let end = (0..=LONGEST_PATH).rev().find(|end| of.path.is_char_boundary(*end)).unwrap_or(0);
            of.path.truncate(end);
            of.path.push('…');
        }
        let equal = |one: &&mut CountedSecretUse| {
            (&one.name, &one.host, &one.method, &one.path, one.status, &one.refused)
                == (&of.name, &of.host, &of.method, &of.path, of.status, &of.refused)
        };
        if let Some(known) = self.0.iter_mut().find(equal) {
            known.count += of.count;
        } else if self.0.len() < LISTED_USES {
            self.0.push(of);
        }
    }

    /// Adds the uses of another time.
    pub fn merge(&mut self, other: Self) {
        other.0.into_iter().for_each(|of| self.add(of));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str, status: Option<u16>) -> CountedSecretUse {
        CountedSecretUse {
            name: "TOKEN".into(),
            host: "api.example".into(),
            method: "GET".into(),
            path: path.into(),
            count: 1,
            status,
            refused: None,
        }
    }

    #[test]
    fn equal_uses_are_counted_together_and_a_result_stays_small() {
        let mut uses = SecretUses::default();
        for _ in 0..3 {
            uses.add(of("/a", Some(200)));
            uses.add(of("/a", Some(404)));
        }
        assert_eq!(uses.0.iter().map(|of| of.count).collect::<Vec<_>>(), [3, 3]);
        for number in 0..2 * LISTED_USES {
            uses.add(of(&format!("/{number}"), None));
        }
        assert_eq!(uses.0.len(), LISTED_USES);
        let mut both = SecretUses::default();
        both.add(of("/a", Some(200)));
        both.merge(uses);
        assert_eq!(both.0[0].count, 4);
    }

    #[test]
    fn a_long_path_is_cut_between_characters() {
        let mut uses = SecretUses::default();
        uses.add(of(&format!("/{}", "ä".repeat(LONGEST_PATH)), None));
        assert!(uses.0[0].path.ends_with("ä…") && uses.0[0].path.len() <= LONGEST_PATH + '…'.len_utf8());
    }
}
