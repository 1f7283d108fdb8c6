//! Puts values into a request, where its stand-ins may stand.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, HeaderValue};
use http::request::Parts;
use http::uri::{Authority, PathAndQuery};
use http::{HeaderMap, Method, StatusCode, Version};
use percent_encoding::percent_decode_str;

use confine_policy::SecretPlace;

use super::host_secrets::HostSecrets;
use super::secret_vault::SecretValue;
use super::sig_v4::{self, RequestSignature};
use super::stream_replacer::TextReplacements;

/// The content types of bodies in which values may be put: forms and JSON.
const OF_BODIES: [&str; 4] = ["application/json", "application/x-www-form-urlencoded", "multipart/form-data", "+json"];

/// A request that may be sent.
#[derive(Debug, Default)]
pub(crate) struct OpenedRequest {
    /// The secrets that were put in.
    pub used: Vec<usize>,
    /// Texts that were sent, each with the text that the program has sent.
    pub sent: Vec<(Vec<u8>, Vec<u8>)>,
    /// The values that were put in, each with the number of its rule.
    pub values: Vec<(usize, SecretValue)>,
    /// The texts of the body that are replaced.
    pub in_body: Option<TextReplacements>,
    /// The secrets that the body may have.
    pub of_body: Vec<usize>,
}

/// A request that is answered by the gate.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RefusedRequest {
    /// The secret in the request.
    pub secret: Option<usize>,
    /// Whether the secret would have gone to a host that is not one of its own.
    pub leaks: bool,
    pub status: StatusCode,
    pub reason: String,
}

impl RefusedRequest {
    fn of(secret: usize, reason: impl Into<String>) -> Self {
        Self { secret: Some(secret), leaks: false, status: StatusCode::FORBIDDEN, reason: reason.into() }
    }

    fn unclear(reason: &str) -> Self {
        Self { secret: None, leaks: false, status: StatusCode::BAD_REQUEST, reason: reason.to_owned() }
    }

    fn without_value(secret: usize, reason: &str) -> Self {
        let reason = format!("its value could not be had: {reason}");
        Self { secret: Some(secret), leaks: false, status: StatusCode::PROXY_AUTHENTICATION_REQUIRED, reason }
    }
}

/// Checks that a request is one to the host of its connection.
pub(crate) fn check_target(request: &Parts, of: &HostSecrets) -> Result<(), RefusedRequest> {
    if request.method == Method::CONNECT {
        return Err(RefusedRequest::unclear("CONNECT inside a connection is not forwarded"));
    }
    // The whole text counts: what follows the name may be no port at all, which servers read as they like.
    let is_host = |authority: &Authority| {
        let (name, port) = match authority.as_str().split_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (authority.as_str(), None),
        };
        name.eq_ignore_ascii_case(&of.host) && port.is_none_or(|port| port == of.port.to_string())
    };
    let mut hosts = request.headers.get_all(HOST).iter();
    let header = hosts.next().map(|value| Authority::try_from(value.as_bytes()));
    let has_host = header.is_some() || request.uri.authority().is_some() || request.version < Version::HTTP_11;
    let agrees = header.is_none_or(|host| host.is_ok_and(|host| is_host(&host)))
        && request.uri.authority().is_none_or(is_host)
        && request.uri.scheme_str().is_none_or(|scheme| scheme == "https");
    if has_host && agrees && hosts.next().is_none() {
        Ok(())
    } else {
        Err(RefusedRequest::unclear("the request names another host than its connection"))
    }
}

/// Puts the values in. `body` is the hash of the body, of a request that is signed with it.
pub(crate) async fn put_in_secrets(
    request: &mut Parts,
    of: &HostSecrets,
    body: Option<String>,
) -> Result<OpenedRequest, RefusedRequest> {
    let mut opened = OpenedRequest::default();
    let before = signature_of(&request.headers).map(|signature| (signature, request.clone()));
    let path = request.uri.path().to_owned();
    if let Some(found) = find_in_url(of, &path) {
        return Err(refused_in(of, found, "the path"));
    }
    let request_of = RequestOf { method: request.method.clone(), path };
    put_into_query(request, of, &request_of, &mut opened).await?;
    put_into_headers(request, of, &request_of, &mut opened).await?;
    if let Some((signature, before)) = before {
        sign_again(request, of, &request_of, &mut opened, (signature, &before, body)).await?;
    }
    inject(request, of, &request_of, &mut opened).await?;
    prepare_body(request, of, &request_of, &mut opened).await;
    opened.used.sort_unstable();
    opened.used.dedup();
    Ok(opened)
}

/// What the rules of a secret judge a request by.
struct RequestOf {
    method: Method,
    path: String,
}

impl RequestOf {
    /// Checks that a secret may be used for the request.
    fn check(&self, of: &HostSecrets, number: usize, place: SecretPlace) -> Result<(), RefusedRequest> {
        if !of.goes_here(number) {
            return Err(leak(of, number));
        }
        let rule = of.rule(number);
        if !rule.may_stand_in(place) {
            return Err(refused_in(of, number, &format!("the place '{}'", place.name())));
        }
        if !rule.permits_method(self.method.as_str()) {
            let methods = rule.methods.as_deref().unwrap_or_default().join(", ");
            let reason = format!("the method {} is none of its methods ({methods})", self.method);
            return Err(RefusedRequest::of(number, reason));
        }
        if rule.paths.is_some() && is_ambiguous(&self.path) {
            return Err(RefusedRequest::of(number, "servers may read the path in several ways, and it has paths"));
        }
        if !rule.permits_path(&self.path) {
            let paths = rule.paths.as_deref().unwrap_or_default().join(", ");
            return Err(RefusedRequest::of(number, format!("the path is none of its paths ({paths})")));
        }
        Ok(())
    }
}

fn leak(of: &HostSecrets, number: usize) -> RefusedRequest {
    let reason = format!("{} is not one of its hosts", of.authority());
    RefusedRequest { leaks: true, ..RefusedRequest::of(number, reason) }
}

/// Returns the refusal of a secret in a place in which it may not stand.
pub(crate) fn refused_in(of: &HostSecrets, number: usize, place: &str) -> RefusedRequest {
    if !of.goes_here(number) {
        return leak(of, number);
    }
    RefusedRequest::of(number, format!("it may not stand in {place}; `as` names where it may"))
}

/// Returns whether servers differ about what a path means.
fn is_ambiguous(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let encoded = ["%2e", "%2f", "%5c", "%25", "%00"].iter().any(|code| lower.contains(code));
    encoded
        || path.contains("//")
        || path.contains('\\')
        || path.split('/').any(|part| {
            let name = part.split(';').next().unwrap_or_default();
            name == "." || name == ".."
        })
}

/// Finds a stand-in in a part of a URL, as it is or decoded.
fn find_in_url(of: &HostSecrets, text: &str) -> Option<usize> {
    of.all.find(text.as_bytes()).or_else(|| {
        let decoded = percent_decode_str(text).collect::<Vec<u8>>();
        of.all.find(&decoded)
    })
}

/// Returns the value of a secret, which the request gets.
async fn value(of: &HostSecrets, number: usize, opened: &mut OpenedRequest) -> Result<SecretValue, RefusedRequest> {
    let value = of.value(number).await.map_err(|reason| RefusedRequest::without_value(number, &reason))?;
    opened.values.push((number, Arc::clone(&value)));
    Ok(value)
}

async fn put_into_query(
    request: &mut Parts,
    of: &HostSecrets,
    request_of: &RequestOf,
    opened: &mut OpenedRequest,
) -> Result<(), RefusedRequest> {
    let Some(query) = request.uri.query() else { return Ok(()) };
    let mut query = query.to_owned();
    // Each secret is found once, as its value takes the place of all its stand-ins.
    while let Some(number) = find_in_url(of, &query) {
        request_of.check(of, number, SecretPlace::Query)?;
        let value = value(of, number, opened).await?;
        let replaced = of.in_query(number, &value).and_then(|texts| texts.replace(query.as_bytes()));
        let Some(new) = replaced.and_then(|bytes| String::from_utf8(bytes).ok()) else {
            return Err(RefusedRequest::of(number, "it stands in the query in an encoding that is not replaced"));
        };
        if opened.used.contains(&number) {
            return Err(RefusedRequest::of(number, "its value holds its stand-in"));
        }
        opened.used.push(number);
        query = new;
    }
    if opened.used.is_empty() {
        return Ok(());
    }
    let mut uri = request.uri.clone().into_parts();
    let target = format!("{}?{query}", request.uri.path());
    uri.path_and_query = Some(PathAndQuery::try_from(target).map_err(|_| RefusedRequest::unclear("an invalid URL"))?);
    request.uri = uri.try_into().map_err(|_| RefusedRequest::unclear("an invalid URL"))?;
    Ok(())
}

async fn put_into_headers(
    request: &mut Parts,
    of: &HostSecrets,
    request_of: &RequestOf,
    opened: &mut OpenedRequest,
) -> Result<(), RefusedRequest> {
    let mut changed: Vec<(usize, HeaderValue)> = Vec::new();
    for (at, (name, header)) in request.headers.iter().enumerate() {
        if let Some(text) = basic_credentials(name, header) {
            let numbers: Vec<usize> = of.all.all_in(&text).collect();
            if numbers.is_empty() {
                continue;
            }
            let mut credentials = text;
            for number in numbers {
                request_of.check(of, number, SecretPlace::Basic)?;
                credentials = credentials.replace(&of.rule(number).stand_in, &value(of, number, opened).await?);
                opened.used.push(number);
            }
            let encoded = STANDARD.encode(&credentials);
            let before = header.as_bytes()[BASIC.len()..].trim_ascii().to_vec();
            opened.sent.push((encoded.clone().into_bytes(), before));
            changed.push((at, secret_header(format!("Basic {encoded}"), &opened.used)?));
            continue;
        }
        if name == AUTHORIZATION && header.as_bytes().starts_with(sig_v4::SCHEME.as_bytes()) {
            continue;
        }
        let Some(found) = of.all.find(header.as_bytes()) else { continue };
        let Ok(text) = std::str::from_utf8(header.as_bytes()) else {
            return Err(refused_in(of, found, "a header that is no text"));
        };
        let place = place_of(name, text);
        let (numbers, mut new): (Vec<usize>, String) = (of.all.all_in(text).collect(), text.to_owned());
        for number in numbers {
            request_of.check(of, number, place)?;
            new = new.replace(&of.rule(number).stand_in, &value(of, number, opened).await?);
            opened.used.push(number);
        }
        if let Some(left) = of.all.find(new.as_bytes()) {
            return Err(refused_in(of, left, &format!("the header {name} in another encoding")));
        }
        changed.push((at, secret_header(new, &opened.used)?));
    }
    let mut changed = changed.into_iter().peekable();
    for (at, (_, header)) in request.headers.iter_mut().enumerate() {
        if let Some((_, new)) = changed.next_if(|(number, _)| *number == at) {
            *header = new;
        }
    }
    Ok(())
}

/// Returns the signature of a request.
fn signature_of(headers: &HeaderMap) -> Option<RequestSignature> {
    headers.get(AUTHORIZATION).and_then(|text| RequestSignature::of(text.to_str().ok()?))
}

/// Returns whether the body of a request has to be hashed, because its signature depends on it and no header has it.
pub(crate) fn needs_body_hash(headers: &HeaderMap) -> bool {
    signature_of(headers).is_some() && !headers.contains_key(sig_v4::CONTENT_HASH)
}

/// Signs a request again whose key is a stand-in.
async fn sign_again(
    request: &mut Parts,
    of: &HostSecrets,
    request_of: &RequestOf,
    opened: &mut OpenedRequest,
    (signature, before, body): (RequestSignature, &Parts, Option<String>),
) -> Result<(), RefusedRequest> {
    let in_credential: Vec<usize> = of.all.all_in(&signature.credential).collect();
    let unsigned = |number: usize, reason: &str| RefusedRequest::of(number, reason);
    let named = in_credential.first().copied().or_else(|| of.may_stand_in(SecretPlace::SigV4).first().copied());
    let Some(named) = named else { return Ok(()) };
    let payload = sig_v4::payload_of(&request.headers).map_err(|reason| unsigned(named, reason))?;
    let payload = payload.or(body).unwrap_or_else(|| sig_v4::hash(b""));
    let signs = |number: &usize| {
        signature.encoding_of(&of.rule(*number).stand_in, before, &payload).map(|encoding| (*number, encoding))
    };
    let Some((key, encoding)) = (0..of.all.rules.len()).find_map(|number| signs(&number)) else {
        // A request of another key is none of ours, unless it names ours.
        return match in_credential.first() {
            Some(number) => Err(unsigned(*number, "the request is not signed with the stand-in of a secret key")),
            None => Ok(()),
        };
    };
    request_of.check(of, key, SecretPlace::SigV4)?;
    opened.used.push(key);
    let mut credential = signature.credential.clone();
    for number in in_credential {
        request_of.check(of, number, SecretPlace::SigV4)?;
        credential = credential.replace(&of.rule(number).stand_in, &value(of, number, opened).await?);
        opened.used.push(number);
    }
    let key = value(of, key, opened).await?;
    let signed = signature.sign(&key, request, &request.headers, &payload, encoding);
    let Some(signed) = signed else { return Err(RefusedRequest::unclear("a signature without what it signs")) };
    let header = secret_header(signature.header_with(&credential, &signed), &opened.used)?;
    request.headers.insert(AUTHORIZATION, header);
    Ok(())
}

const BASIC: &str = "Basic ";
const BEARER: &str = "Bearer ";

/// Returns whether a text begins with a scheme of authentication, whose case does not matter.
fn has_scheme(text: &[u8], scheme: &str) -> bool {
    text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme.as_bytes()))
}

/// Returns the user and the password of a header.
fn basic_credentials(name: &HeaderName, header: &HeaderValue) -> Option<String> {
    if name != AUTHORIZATION || !has_scheme(header.as_bytes(), BASIC) {
        return None;
    }
    let decoded = STANDARD.decode(header.as_bytes()[BASIC.len()..].trim_ascii()).ok()?;
    String::from_utf8(decoded).ok()
}

fn place_of(name: &HeaderName, text: &str) -> SecretPlace {
    if name != AUTHORIZATION {
        return SecretPlace::Header;
    }
    match text {
        text if has_scheme(text.as_bytes(), BEARER) => SecretPlace::Bearer,
        text if text.starts_with("AWS4-") => SecretPlace::SigV4,
        _ => SecretPlace::Header,
    }
}

/// Returns a header with a value, which no message shows.
fn secret_header(text: String, used: &[usize]) -> Result<HeaderValue, RefusedRequest> {
    let mut header = HeaderValue::try_from(text).map_err(|_| RefusedRequest {
        secret: used.last().copied(),
        leaks: false,
        status: StatusCode::FORBIDDEN,
        reason: "its value cannot stand in a header".to_owned(),
    })?;
    header.set_sensitive(true);
    Ok(header)
}

/// Puts secrets in that the command does not send.
async fn inject(
    request: &mut Parts,
    of: &HostSecrets,
    request_of: &RequestOf,
    opened: &mut OpenedRequest,
) -> Result<(), RefusedRequest> {
    if request.headers.contains_key(AUTHORIZATION) {
        return Ok(());
    }
    let Some(number) = of.numbers().find(|number| of.rule(*number).inject) else { return Ok(()) };
    let place = of.rule(number).places.first().copied().unwrap_or(SecretPlace::Bearer);
    request_of.check(of, number, place)?;
    let value = value(of, number, opened).await?;
    opened.used.push(number);
    let text = match place {
        SecretPlace::Basic => {
            let encoded = STANDARD.encode(value.as_bytes());
            let stand_in = STANDARD.encode(&of.rule(number).stand_in);
            opened.sent.push((encoded.clone().into_bytes(), stand_in.into_bytes()));
            format!("{BASIC}{encoded}")
        }
        _ => format!("{BEARER}{}", **value),
    };
    request.headers.insert(AUTHORIZATION, secret_header(text, &opened.used)?);
    Ok(())
}

/// Finds out what may be replaced in the body. A secret whose value cannot be had is refused when it is there.
async fn prepare_body(request: &Parts, of: &HostSecrets, request_of: &RequestOf, opened: &mut OpenedRequest) {
    let kind = request.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if !OF_BODIES.iter().any(|of| kind.ends_with(of)) || signature_of(&request.headers).is_some() {
        return;
    }
    let mut values = Vec::new();
    for number in of.may_stand_in(SecretPlace::Body) {
        if request_of.check(of, number, SecretPlace::Body).is_ok()
            && let Ok(value) = of.value(number).await
        {
            values.push((number, value));
        }
    }
    opened.in_body = of.in_body(&values);
    opened.values.extend(values.iter().cloned());
    opened.of_body = values.into_iter().map(|(number, _)| number).collect();
}
