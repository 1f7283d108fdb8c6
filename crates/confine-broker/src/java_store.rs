//! Java's form of a list of authorities. Java reads neither PEM nor the system's bundle.

use std::collections::HashSet;

use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY};
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

/// The head of a store of the kind JKS, which every Java reads: the mark and the version.
const HEAD: [u8; 8] = [0xFE, 0xED, 0xFE, 0xED, 0, 0, 0, 2];
/// The mark of an entry with a certificate that is trusted.
const TRUSTED: [u8; 4] = [0, 0, 0, 2];
/// The password that Java's own store has. It hides nothing.
const PASSWORD: &str = "changeit";

/// Returns a store with the certificates of a PEM, without those that cannot be read: one would make the whole store
/// unreadable.
pub fn java_store(pem: &[u8]) -> Vec<u8> {
    let (mut seen, mut roots) = (HashSet::new(), RootCertStore::empty());
    let all = CertificateDer::pem_slice_iter(pem).flatten();
    let usable: Vec<_> = all.filter(|one| seen.insert(one.clone()) && roots.add(one.clone()).is_ok()).collect();
    let mut store = HEAD.to_vec();
    put_length(&mut store, usable.len());
    for (number, certificate) in usable.iter().enumerate() {
        store.extend(TRUSTED);
        put_text(&mut store, &format!("authority-{number}"));
        // The time at which it was added.
        store.extend([0; 8]);
        put_text(&mut store, "X.509");
        put_length(&mut store, certificate.len());
        store.extend_from_slice(certificate);
    }
    let mut digest = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
    digest.update(&PASSWORD.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<_>>());
    digest.update(b"Mighty Aphrodite");
    digest.update(&store);
    store.extend_from_slice(digest.finish().as_ref());
    store
}

fn put_length(store: &mut Vec<u8>, length: usize) {
    store.extend(u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes());
}

fn put_text(store: &mut Vec<u8>, text: &str) {
    store.extend(u16::try_from(text.len()).unwrap_or(u16::MAX).to_be_bytes());
    store.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::authority::WorldAuthority;
    use crate::broker::provider;
    use crate::tests::fixture::rule_at;

    #[test]
    fn a_store_has_each_certificate_once_and_no_rubbish() {
        let pem = |name: &str| {
            let rules = [rule_at(name)];
            WorldAuthority::new(&rules, Arc::new(provider())).expect("made").pem().to_owned()
        };
        let (one, two) = (pem("one.test"), pem("two.test"));
        let rubbish = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";
        let store = java_store(format!("{one}{rubbish}{two}{one}").as_bytes());
        assert!(store.starts_with(&[0xFE, 0xED, 0xFE, 0xED, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2, 0, 11]));
        for certificate in [one, two] {
            let der = CertificateDer::from_pem_slice(certificate.as_bytes()).expect("a certificate");
            assert_eq!(store.windows(der.len()).filter(|window| **window == *der).count(), 1);
        }
        assert_eq!(java_store(b"").len(), HEAD.len() + 4 + 20);
    }
}
