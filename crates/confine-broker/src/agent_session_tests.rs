use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair};
use ssh_encoding::Encode;
use ssh_key::public::Ed25519PublicKey;

use confine_policy::{AllowEntry, HostKey};

use super::*;

/// A key of a host or a user.
struct TestKey {
    pair: Ed25519KeyPair,
    /// The public key, as SSH sends it.
    blob: Vec<u8>,
}

impl TestKey {
    fn new(seed: u8) -> Self {
        let pair = Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).expect("a seed");
        let public = Ed25519PublicKey(pair.public_key().as_ref().try_into().expect("32 bytes"));
        Self { pair, blob: PublicKey::from(KeyData::from(public)).to_bytes().expect("a key") }
    }

    fn text(&self) -> String {
        PublicKey::from_bytes(&self.blob).expect("a key").to_openssh().expect("a text")
    }

    fn print(&self) -> String {
        PublicKey::from_bytes(&self.blob).expect("a key").fingerprint(HashAlg::Sha256).to_string()
    }

    fn binding(&self, session: &[u8], forwarded: u8) -> Vec<u8> {
        binding(&self.blob, session, &strings(&[b"ssh-ed25519", self.pair.sign(session).as_ref()]), forwarded)
    }
}

fn strings(texts: &[&[u8]]) -> Vec<u8> {
    let mut all = Vec::new();
    texts.iter().for_each(|text| text.encode(&mut all).expect("room"));
    all
}

fn binding(key: &[u8], session: &[u8], signature: &[u8], forwarded: u8) -> Vec<u8> {
    [&[EXTENSION], strings(&[b"session-bind@openssh.com", key, session, signature]).as_slice(), &[forwarded]].concat()
}

/// A login, with a host key if the method has one.
fn login(session: &[u8], key: &[u8], host_key: Option<&[u8]>) -> Vec<u8> {
    let method: &[u8] = if host_key.is_some() { b"publickey-hostbound-v00@openssh.com" } else { b"publickey" };
    let mut data = [strings(&[session]), vec![LOGIN], strings(&[b"git", b"ssh-connection", method]), vec![1]].concat();
    data.extend(strings(&[b"ssh-ed25519", key]));
    data.extend(host_key.map(|key| strings(&[key])).unwrap_or_default());
    data
}

fn signing(key: &[u8], data: &[u8]) -> Vec<u8> {
    [&[SIGN], strings(&[key, data]).as_slice(), &[0; 4]].concat()
}

fn rules(hosts: &[&TestKey], keys: Option<Vec<String>>) -> AgentRules {
    let entry: AllowEntry = "git.example:22".parse().expect("an entry");
    let host_keys = hosts.iter().map(|key| HostKey { host: "git.example".into(), key: key.text() }).collect();
    let agent = "/none".into();
    AgentRules::new(&WorldSsh { agent, hosts: vec![entry], host_keys, known_hosts: None, keys })
}

const ID: &[u8] = &[7; 32];

#[test]
fn a_login_to_a_host_of_the_world_is_signed() {
    let (host, user) = (TestKey::new(1), TestKey::new(2));
    let rules = rules(&[&host], None);
    for host_key in [None, Some(host.blob.as_slice())] {
        let mut session = AgentSession::default();
        assert_eq!(session.judge(&host.binding(ID, 0), &rules), Ok(AgentRequest::Bind));
        let request = signing(&user.blob, &login(ID, &user.blob, host_key));
        assert_eq!(session.judge(&request, &rules), Ok(AgentRequest::Sign));
    }
}

#[test]
fn nothing_but_a_login_of_the_session_is_signed() {
    let (host, user, other) = (TestKey::new(1), TestKey::new(2), TestKey::new(3));
    let rules = rules(&[&host], None);
    let sign = |session: &mut AgentSession, data: &[u8]| session.judge(&signing(&user.blob, data), &rules);
    let whole = login(ID, &user.blob, None);
    let refused = Err(RefusedAgentRequest::OtherSignature);
    assert_eq!(sign(&mut AgentSession::default(), &whole), refused, "without a session");
    let mut session = AgentSession::default();
    session.judge(&host.binding(ID, 0), &rules).expect("bound");
    let replaced = |at: usize, byte: u8| {
        let mut data = whole.clone();
        data[at] = byte;
        data
    };
    for (what, data) in [
        ("another session", login(&[8; 32], &user.blob, None)),
        ("another key in the login", login(ID, &other.blob, None)),
        ("another host in the login", login(ID, &user.blob, Some(&other.blob))),
        ("a signature of a text", strings(&[b"SSHSIG", b"file"])),
        ("something behind the login", [whole.as_slice(), b"x"].concat()),
        ("half a login", whole[..whole.len() - 1].to_vec()),
        ("another message", replaced(36, 51)),
        ("another service", replaced(4 + 32 + 1 + 4 + 3 + 4, b'x')),
        ("nothing", Vec::new()),
    ] {
        assert_eq!(sign(&mut session, &data), refused, "{what}");
    }
    assert_eq!(sign(&mut session, &whole), Ok(AgentRequest::Sign));
}

#[test]
fn a_session_with_another_host_is_not_bound() {
    let (host, other) = (TestKey::new(1), TestKey::new(3));
    let rules = rules(&[&host], None);
    let of_other = strings(&[b"ssh-ed25519", other.pair.sign(ID).as_ref()]);
    for (what, request) in [
        ("an unknown host", other.binding(ID, 0)),
        ("a key with the signature of another", binding(&host.blob, ID, &of_other, 0)),
        ("a signature of another session", {
            let signature = strings(&[b"ssh-ed25519", host.pair.sign(&[8; 32]).as_ref()]);
            binding(&host.blob, ID, &signature, 0)
        }),
        ("a signature of another kind", binding(&host.blob, ID, &strings(&[b"ssh-rsa", &[0; 256]]), 0)),
        ("a forwarded connection", host.binding(ID, 1)),
        ("half a binding", host.binding(ID, 0)[..60].to_vec()),
        ("something behind the binding", [host.binding(ID, 0), vec![0]].concat()),
    ] {
        let mut session = AgentSession::default();
        assert_eq!(session.judge(&request, &rules), Err(RefusedAgentRequest::OtherHost), "{what}");
        assert!(session.0.is_none(), "{what}");
    }
    let mut session = AgentSession::default();
    session.judge(&host.binding(ID, 0), &rules).expect("bound");
    let again = session.judge(&host.binding(&[8; 32], 0), &rules);
    assert_eq!(again, Err(RefusedAgentRequest::OtherHost), "a second session");
}

#[test]
fn the_agent_is_not_changed() {
    let rules = rules(&[&TestKey::new(1)], None);
    let mut session = AgentSession::default();
    // Adding, removing, locking, smart cards, the list with something behind it, an answer, nothing.
    for request in [&[17][..], &[18], &[19], &[20], &[21], &[22], &[23], &[25], &[26], &[11, 0], &[12], &[1], &[]] {
        assert_eq!(session.judge(request, &rules), Err(RefusedAgentRequest::Change), "{request:?}");
    }
    for request in [strings(&[b"query"]), strings(&[b"restrict-destination-v00@openssh.com"]), vec![0, 0]] {
        let request = [vec![EXTENSION], request].concat();
        assert_eq!(session.judge(&request, &rules), Err(RefusedAgentRequest::Extension));
    }
    assert_eq!(session.judge(&[11], &rules), Ok(AgentRequest::List));
}

#[test]
fn only_the_keys_of_the_world_are_listed_and_used() {
    let (host, user, other) = (TestKey::new(1), TestKey::new(2), TestKey::new(3));
    let only = rules(&[&host], Some(vec![user.print()]));
    let answer = |keys: &[&TestKey]| {
        let listed: Vec<_> = keys.iter().flat_map(|key| [key.blob.as_slice(), b"comment"]).collect();
        [&[LISTED], u32::try_from(keys.len()).expect("few").to_be_bytes().as_slice(), &strings(&listed)].concat()
    };
    assert_eq!(only.listed(&answer(&[&other, &user])), Some(answer(&[&user])));
    assert_eq!(rules(&[&host], None).listed(&answer(&[&other, &user])), Some(answer(&[&other, &user])));
    for answer in [&[5][..], &[LISTED], &[LISTED, 0, 0, 0, 1], &[LISTED, 255, 255, 255, 255]] {
        assert_eq!(only.listed(answer), None, "{answer:?}");
    }
    let mut session = AgentSession::default();
    session.judge(&host.binding(ID, 0), &only).expect("bound");
    let with = |key: &TestKey| signing(&key.blob, &login(ID, &key.blob, None));
    assert_eq!(session.judge(&with(&other), &only), Err(RefusedAgentRequest::OtherKey));
    assert_eq!(session.judge(&with(&user), &only), Ok(AgentRequest::Sign));
}

#[test]
fn hosts_sign_with_elliptic_curves() {
    let random = SystemRandom::new();
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).expect("a key");
    let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random).expect("a key");
    let key = KeyData::from(EcdsaPublicKey::from_sec1_bytes(pair.public_key().as_ref()).expect("a point"));
    // Numbers of every length, with zeroes in front.
    for number in 0..64u8 {
        let fixed = pair.sign(&random, &[number]).expect("signed");
        let mut data = Vec::new();
        for half in fixed.as_ref().chunks(32) {
            Mpint::from_positive_bytes(half).and_then(|half| Ok(half.encode(&mut data)?)).expect("a number");
        }
        let kind = Algorithm::Ecdsa { curve: ssh_key::EcdsaCurve::NistP256 };
        let signature = Signature::new(kind, data).expect("a signature");
        assert!(has_signed(&key, &[number], &signature) && !has_signed(&key, &[number, 1], &signature));
    }
}
