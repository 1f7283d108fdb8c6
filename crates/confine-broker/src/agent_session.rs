//! What a program may ask of the host's ssh agent.
//!
//! A program first binds its connection to a session: it gives the key of the host, and the host's signature of the
//! session. From then on the agent signs logins of that session alone. OpenSSH does so since 8.9. See PROTOCOL.agent of
//! OpenSSH, section 1, and draft-miller-ssh-agent.

use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA512,
    RsaPublicKeyComponents, UnparsedPublicKey,
};
use ssh_encoding::{Decode, Encode, Reader};
use ssh_key::public::{EcdsaPublicKey, KeyData};
use ssh_key::{Algorithm, HashAlg, Mpint, PublicKey, Signature};

use confine_policy::WorldSsh;

/// `SSH_AGENT_FAILURE`
pub(crate) const FAILURE: &[u8] = &[5];
/// `SSH_AGENT_SUCCESS`
pub(crate) const SUCCESS: &[u8] = &[6];
/// `SSH_AGENTC_REQUEST_IDENTITIES`
const LIST: u8 = 11;
/// `SSH_AGENT_IDENTITIES_ANSWER`
const LISTED: u8 = 12;
/// `SSH_AGENTC_SIGN_REQUEST`
const SIGN: u8 = 13;
/// `SSH_AGENTC_EXTENSION`
const EXTENSION: u8 = 27;
/// `SSH_MSG_USERAUTH_REQUEST`
const LOGIN: u8 = 50;
/// The most keys of an agent that are listed.
const MOST_KEYS: u32 = 2048;

/// A request, as far as it may be made.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum AgentRequest {
    /// The list of keys. The answer needs [`AgentRules::listed`].
    List,
    /// A signature.
    Sign,
    /// The session of the connection, which is bound now. The agent may hear of it as well.
    Bind,
}

/// Why a request may not be made.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RefusedAgentRequest {
    /// A session with a host that is not one of the world's.
    #[error("a session with a host that confine.ssh.hosts does not have")]
    OtherHost,
    /// A signature for anything but a login of the session.
    #[error("a signature for something else than a login to a host of confine.ssh.hosts")]
    OtherSignature,
    /// A signature with a key that is not one of the world's.
    #[error("a signature with a key that confine.ssh.keys does not have")]
    OtherKey,
    /// A change of the agent, or something that is unknown.
    #[error("a request that changes the agent")]
    Change,
    /// An extension that is unknown, as programs try them.
    #[error("an unknown extension")]
    Extension,
}

/// The hosts and the keys of a world.
#[derive(Debug)]
pub(crate) struct AgentRules {
    host_keys: Vec<KeyData>,
    /// Fingerprints. `None`: all.
    keys: Option<Vec<String>>,
}

/// A session with a host.
#[derive(Debug)]
struct BoundSession {
    id: Vec<u8>,
    host_key: Vec<u8>,
}

/// The connection of a program.
#[derive(Debug, Default)]
pub(crate) struct AgentSession(Option<BoundSession>);

impl AgentRules {
    /// Returns the rules of a world.
    pub fn new(ssh: &WorldSsh) -> Self {
        let parsed = ssh.host_keys.iter().filter_map(|known| PublicKey::from_openssh(&known.key).ok());
        Self { host_keys: parsed.map(KeyData::from).collect(), keys: ssh.keys.clone() }
    }

    /// Returns whether a program may use a key.
    fn permits(&self, key: &[u8]) -> bool {
        let Some(permitted) = &self.keys else { return true };
        let print = PublicKey::from_bytes(key).map(|key| key.fingerprint(HashAlg::Sha256).to_string());
        print.is_ok_and(|print| permitted.contains(&print))
    }

    /// Returns an answer of the agent with the keys that a program may use. `None`: it is no list.
    pub fn listed(&self, answer: &[u8]) -> Option<Vec<u8>> {
        let mut rest = answer.strip_prefix(&[LISTED])?;
        let count = u32::decode(&mut rest).ok().filter(|count| *count <= MOST_KEYS)?;
        let (mut kept, mut keys) = (0u32, Vec::new());
        for _ in 0..count {
            let (key, comment) = (Vec::<u8>::decode(&mut rest).ok()?, Vec::<u8>::decode(&mut rest).ok()?);
            if self.permits(&key) {
                kept += 1;
                key.encode(&mut keys).and_then(|()| comment.encode(&mut keys)).ok()?;
            }
        }
        Some([&[LISTED], kept.to_be_bytes().as_slice(), &keys].concat())
    }
}

impl AgentSession {
    /// Judges a request.
    pub fn judge(&mut self, request: &[u8], rules: &AgentRules) -> Result<AgentRequest, RefusedAgentRequest> {
        let (kind, content) = request.split_first().ok_or(RefusedAgentRequest::Change)?;
        match *kind {
            LIST if content.is_empty() => Ok(AgentRequest::List),
            SIGN => self.judge_signature(content, rules).map(|()| AgentRequest::Sign),
            EXTENSION => self.bind(content, rules).map(|()| AgentRequest::Bind),
            _ => Err(RefusedAgentRequest::Change),
        }
    }

    /// Binds the connection to a session. A connection that has one stays with it.
    fn bind(&mut self, mut content: &[u8], rules: &AgentRules) -> Result<(), RefusedAgentRequest> {
        let name = Vec::<u8>::decode(&mut content).map_err(|_| RefusedAgentRequest::Extension)?;
        if name != b"session-bind@openssh.com" {
            return Err(RefusedAgentRequest::Extension);
        }
        let binding = SessionBinding::decode(content).ok_or(RefusedAgentRequest::OtherHost)?;
        let SessionBinding { host_key, id, signature, is_forwarded } = binding;
        let known = PublicKey::from_bytes(&host_key).ok().map(KeyData::from);
        let known = known.filter(|key| rules.host_keys.contains(key)).ok_or(RefusedAgentRequest::OtherHost)?;
        if is_forwarded || self.0.is_some() || !has_signed(&known, &id, &signature) {
            return Err(RefusedAgentRequest::OtherHost);
        }
        self.0 = Some(BoundSession { id, host_key });
        Ok(())
    }

    fn judge_signature(&self, mut content: &[u8], rules: &AgentRules) -> Result<(), RefusedAgentRequest> {
        let wanted = || Some((Vec::<u8>::decode(&mut content).ok()?, Vec::<u8>::decode(&mut content).ok()?));
        let (key, data) = { wanted }().ok_or(RefusedAgentRequest::OtherSignature)?;
        let session = self.0.as_ref().ok_or(RefusedAgentRequest::OtherSignature)?;
        if session.has_login(&data, &key).is_none() {
            return Err(RefusedAgentRequest::OtherSignature);
        }
        if rules.permits(&key) { Ok(()) } else { Err(RefusedAgentRequest::OtherKey) }
    }
}

impl BoundSession {
    /// Returns something if data is a login of this session with a key, and nothing else (RFC 4252, section 7).
    fn has_login(&self, mut data: &[u8], key: &[u8]) -> Option<()> {
        let text = |data: &mut &[u8]| Vec::<u8>::decode(data).ok();
        let id = text(&mut data)?;
        let kind = u8::decode(&mut data).ok()?;
        let (_user, service, method) = (text(&mut data)?, text(&mut data)?, text(&mut data)?);
        let has_signature = u8::decode(&mut data).ok()?;
        let (_algorithm, of_key) = (text(&mut data)?, text(&mut data)?);
        let to_host = match method.as_slice() {
            b"publickey" => true,
            b"publickey-hostbound-v00@openssh.com" => text(&mut data)? == self.host_key,
            _ => false,
        };
        let is_login = kind == LOGIN && has_signature == 1 && service == b"ssh-connection" && to_host;
        (is_login && id == self.id && of_key == key && data.is_empty()).then_some(())
    }
}

/// The content of `session-bind@openssh.com`.
struct SessionBinding {
    host_key: Vec<u8>,
    id: Vec<u8>,
    signature: Signature,
    is_forwarded: bool,
}

impl SessionBinding {
    fn decode(mut content: &[u8]) -> Option<Self> {
        let (host_key, id) = (Vec::decode(&mut content).ok()?, Vec::decode(&mut content).ok()?);
        let signature = Vec::<u8>::decode(&mut content).ok()?;
        let signature = Signature::try_from(signature.as_slice()).ok()?;
        let is_forwarded = u8::decode(&mut content).ok()? != 0;
        content.is_finished().then_some(Self { host_key, id, signature, is_forwarded })
    }
}

/// Returns whether the host with this key has signed a session. Keys of other kinds sign none: DSA, P-521, and RSA with
/// SHA-1.
fn has_signed(key: &KeyData, session: &[u8], signature: &Signature) -> bool {
    let bytes = signature.as_bytes();
    let fixed = |length: usize| fixed_length(bytes, length).unwrap_or_default();
    let done = match (key, signature.algorithm()) {
        (KeyData::Ed25519(key), Algorithm::Ed25519) => {
            UnparsedPublicKey::new(&ED25519, key.as_ref()).verify(session, bytes)
        }
        (KeyData::Ecdsa(key @ EcdsaPublicKey::NistP256(_)), Algorithm::Ecdsa { .. }) => {
            UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key.as_sec1_bytes()).verify(session, &fixed(32))
        }
        (KeyData::Ecdsa(key @ EcdsaPublicKey::NistP384(_)), Algorithm::Ecdsa { .. }) => {
            UnparsedPublicKey::new(&ECDSA_P384_SHA384_FIXED, key.as_sec1_bytes()).verify(session, &fixed(48))
        }
        (KeyData::Rsa(key), Algorithm::Rsa { hash: Some(hash) }) => {
            let (n, e) = (key.n.as_positive_bytes().unwrap_or_default(), key.e.as_positive_bytes().unwrap_or_default());
            let by = match hash {
                HashAlg::Sha256 => &RSA_PKCS1_2048_8192_SHA256,
                _ => &RSA_PKCS1_2048_8192_SHA512,
            };
            RsaPublicKeyComponents { n, e }.verify(by, session, bytes)
        }
        _ => return false,
    };
    done.is_ok()
}

/// Returns the two numbers of a signature of an elliptic curve, each with this length.
fn fixed_length(mut bytes: &[u8], length: usize) -> Option<Vec<u8>> {
    let mut both = Vec::with_capacity(2 * length);
    for _ in 0..2 {
        let number = Mpint::decode(&mut bytes).ok()?;
        let number = number.as_positive_bytes()?;
        both.resize(both.len() + length.checked_sub(number.len())?, 0);
        both.extend_from_slice(number);
    }
    bytes.is_empty().then_some(both)
}

#[cfg(test)]
#[path = "agent_session_tests.rs"]
mod tests;
