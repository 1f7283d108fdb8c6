//! The certificate authority of a world. Its key exists in the memory of the gate alone, and ends with it.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, GeneralSubtree, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, NameConstraints,
};
use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

use super::kept_by_host::KeptByHost;
use confine_policy::{AllowHost, SecretRule};

/// Why a certificate could not be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CertificateError {
    #[error("no certificate could be made: {0}")]
    Made(#[from] rcgen::Error),
    #[error("a certificate cannot be used: {0}")]
    Used(#[from] rustls::Error),
}

/// An authority that only the programs of one world trust, for the hosts of its secrets alone.
pub(crate) struct WorldAuthority {
    issuer: Issuer<'static, KeyPair>,
    certificate: CertificateDer<'static>,
    pem: String,
    provider: Arc<CryptoProvider>,
    /// The configurations of servers, by host and protocol.
    made: KeptByHost<HttpProtocol, Arc<ServerConfig>>,
}

/// The protocol inside TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum HttpProtocol {
    Http1,
    Http2,
}

impl HttpProtocol {
    /// Returns the protocol's name in handshakes.
    pub fn alpn(self) -> &'static [u8] {
        match self {
            Self::Http1 => b"http/1.1",
            Self::Http2 => b"h2",
        }
    }
}

impl WorldAuthority {
    /// Makes an authority for the hosts of these secrets.
    pub fn new(rules: &[SecretRule], provider: Arc<CryptoProvider>) -> Result<Self, CertificateError> {
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, "agent-bash: the secrets of one world");
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let mut names: Vec<String> = rules
            .iter()
            .flat_map(|rule| &rule.hosts)
            .filter_map(|entry| match &entry.host {
                AllowHost::Name(name) | AllowHost::Below(name) => Some(name.clone()),
                AllowHost::Net(..) => None,
            })
            .collect();
        names.sort();
        names.dedup();
        params.name_constraints = Some(NameConstraints {
            permitted_subtrees: names.into_iter().map(GeneralSubtree::DnsName).collect(),
            excluded_subtrees: Vec::new(),
        });
        set_times(&mut params);
        let key = KeyPair::generate()?;
        let certificate = params.self_signed(&key)?;
        let der = certificate.der().clone();
        let pem = pem_of(&der);
        Ok(Self { issuer: Issuer::new(params, key), certificate: der, pem, provider, made: KeptByHost::default() })
    }

    /// Returns the certificate as PEM, which the programs of the world trust.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// Returns the configuration of a server with this name and protocol.
    pub fn server(&self, name: &str, protocol: HttpProtocol) -> Result<Arc<ServerConfig>, CertificateError> {
        if let Some(config) = self.made.get(name, protocol) {
            return Ok(config);
        }
        let config = Arc::new(self.make_server(name, protocol)?);
        self.made.keep(name, protocol, Arc::clone(&config));
        Ok(config)
    }

    fn make_server(&self, name: &str, protocol: HttpProtocol) -> Result<ServerConfig, CertificateError> {
        let mut params = CertificateParams::new([name.to_owned()])?;
        params.distinguished_name = DistinguishedName::new();
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        set_times(&mut params);
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        let chain = vec![certificate.der().clone(), self.certificate.clone()];
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        config.alpn_protocols = vec![protocol.alpn().to_vec()];
        if protocol == HttpProtocol::Http1 {
            // A program may offer this alone.
            config.alpn_protocols.push(b"http/1.0".to_vec());
        }
        Ok(config)
    }
}

/// Returns a certificate as PEM (RFC 7468).
fn pem_of(certificate: &CertificateDer<'_>) -> String {
    const LINE: usize = 64;
    let encoded = STANDARD.encode(certificate);
    let lines = encoded.as_bytes().chunks(LINE).map(|line| format!("{}\n", String::from_utf8_lossy(line)));
    format!("-----BEGIN CERTIFICATE-----\n{}-----END CERTIFICATE-----\n", lines.collect::<String>())
}

/// Lets a certificate begin yesterday, for clocks that differ, and hold as long as any world.
fn set_times(params: &mut CertificateParams) {
    const DAY: std::time::Duration = std::time::Duration::from_secs(24 * 60 * 60);
    let now = std::time::SystemTime::now();
    params.not_before = (now - DAY).into();
    params.not_after = (now + 365 * DAY).into();
}
