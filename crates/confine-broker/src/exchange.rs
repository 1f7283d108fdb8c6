//! A request on its way to the host, and the answer on its way back.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, EXPECT, HOST,
    HeaderName, HeaderValue, IF_RANGE, RANGE, TE, TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, Method, Request, Response, StatusCode, Version};
use hyper::body::Incoming;
use hyper::ext::ReasonPhrase;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use confine_policy::CountedSecretUse;

use super::body_decoder::{BodyDecoder, CODINGS};
use super::broker_events::{BrokerEvent, EventSink, SharedOrigin};
use super::host_secrets::{HostSecrets, SentTexts};
use super::memory_budget::MemoryBudget;
use super::request_secrets::{
    OpenedRequest, RefusedRequest, check_target, needs_body_hash, put_in_secrets, refused_in,
};
use super::secret_body::{BodyError, SecretBody, WholeBody, replace_in_headers};
use super::sig_v4;
use super::stream_replacer::{StreamReplacer, TextReplacements};
use super::upstream::UpstreamConnection;

/// Headers that are about one connection (RFC 9110, 7.6.1).
const OF_CONNECTION: [HeaderName; 5] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    TRANSFER_ENCODING,
    UPGRADE,
];

const WEBSOCKET_EXTENSIONS: HeaderName = HeaderName::from_static("sec-websocket-extensions");

/// The largest answer of which no part is given before the whole was read.
const SMALL: usize = 1024 * 1024;

/// Bytes that are read at once from a connection that has changed its protocol.
const PIECE: usize = 16 * 1024;

/// The requests of one connection.
pub(crate) struct OpenedExchanges {
    pub of: HostSecrets,
    pub origin: SharedOrigin,
    pub upstream: UpstreamConnection,
    pub events: EventSink,
    pub memory: Arc<MemoryBudget>,
}

/// What the uses of a request have in common.
#[derive(Clone)]
struct UsesOf {
    host: String,
    method: String,
    path: String,
}

impl UsesOf {
    fn of(&self, name: &str, status: Option<StatusCode>, refused: Option<String>) -> CountedSecretUse {
        let (host, method, path) = (self.host.clone(), self.method.clone(), self.path.clone());
        let status = status.map(|status| status.as_u16());
        CountedSecretUse { name: name.to_owned(), host, method, path, count: 1, status, refused }
    }
}

/// Tells the uses of a request at its end, also if the program does not wait for the answer.
struct UsesTold<'a> {
    exchanges: &'a OpenedExchanges,
    uses: &'a UsesOf,
    used: Vec<usize>,
    in_body: Arc<Mutex<Vec<usize>>>,
    status: Option<StatusCode>,
}

impl Drop for UsesTold<'_> {
    fn drop(&mut self) {
        let OpenedExchanges { of, origin, events, .. } = self.exchanges;
        self.used.append(&mut self.in_body.lock().unwrap_or_else(PoisonError::into_inner));
        for number in &self.used {
            let of = self.uses.of(&of.rule(*number).name, self.status, None);
            events.send(BrokerEvent::Used { origin: origin.clone(), of });
        }
    }
}

impl OpenedExchanges {
    /// Answers a request.
    pub async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Result<Response<SecretBody>, BodyError> {
        let uses = UsesOf {
            host: self.of.authority(),
            method: request.method().as_str().to_owned(),
            path: request.uri().path().to_owned(),
        };
        let is_http1 = request.version() <= Version::HTTP_11;
        match self.exchange(request, &uses).await {
            Ok(response) => Ok(response),
            Err(refused) => {
                let mut response = self.refuse(refused, &uses);
                if is_http1 && response.status() == StatusCode::BAD_REQUEST {
                    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                }
                Ok(response)
            }
        }
    }

    /// Records a refusal. Returns the answer of the gate.
    fn refuse(&self, refused: RefusedRequest, uses: &UsesOf) -> Response<SecretBody> {
        let RefusedRequest { secret, leaks, status, reason } = refused;
        let name = secret.map_or("", |number| self.of.rule(number).name.as_str());
        if let Some(number) = secret {
            let name = self.of.rule(number).name.clone();
            let of = uses.of(&name, None, Some(reason.clone()));
            self.events.send(BrokerEvent::Used { origin: self.origin.clone(), of });
            if leaks {
                let to = format!("{}:{}", self.of.host, self.of.port);
                self.events.send(BrokerEvent::Leaked { origin: self.origin.clone(), name, to });
            }
        }
        let mut response = Response::new(SecretBody::text(format!("agent-bash: {name}: {reason}\n")));
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        if status == StatusCode::PROXY_AUTHENTICATION_REQUIRED {
            response.headers_mut().insert("proxy-authenticate", HeaderValue::from_static("agent-bash"));
        }
        response
    }

    async fn exchange(
        self: &Arc<Self>,
        mut request: Request<Incoming>,
        uses: &UsesOf,
    ) -> Result<Response<SecretBody>, RefusedRequest> {
        let client = upgraded_of(&mut request);
        let (mut parts, body) = request.into_parts();
        check_target(&parts, &self.of)?;
        let (body, hash) = if needs_body_hash(&parts.headers) {
            let whole = self.whole_body(body).await?;
            let hash = sig_v4::hash(&whole.bytes);
            (SecretBody::whole(whole), Some(hash))
        } else {
            (SecretBody::of(body), None)
        };
        let mut opened = put_in_secrets(&mut parts, &self.of, hash).await?;
        let upgrades = client.is_some();
        prepare_headers(&mut parts.headers, upgrades);
        remove_unclear_range(&mut parts);
        parts.uri = self.upstream.target(&parts.uri, &self.of.authority()).map_err(|reason| unsent(&reason))?;
        parts.version = self.upstream.version();
        if parts.version == Version::HTTP_2 {
            parts.headers.remove(HOST);
        } else if !parts.headers.contains_key(HOST) {
            let host = HeaderValue::try_from(self.of.authority()).map_err(|error| unsent(&error.to_string()))?;
            parts.headers.insert(HOST, host);
        }
        let values = SentTexts { texts: std::mem::take(&mut opened.sent), values: std::mem::take(&mut opened.values) };
        let in_body = Arc::new(Mutex::new(Vec::new()));
        let body = self.body_of(body, &mut opened, &mut parts.headers, uses, &in_body);
        let is_head = parts.method == Method::HEAD;
        let whole = whole_of(&parts);
        let mut told = UsesTold { exchanges: self, uses, used: opened.used, in_body, status: None };
        let sent = self.upstream.send(Request::from_parts(parts, body)).await;
        told.status = sent.as_ref().ok().map(Response::status);
        drop(told);
        let response = sent.map_err(|reason| unsent(&reason))?;
        if let Some(whole) = whole.filter(|_| response.status() == StatusCode::PARTIAL_CONTENT) {
            match AnsweredRange::of(response.headers()) {
                Some(range) if range.total > SMALL => {}
                range => return self.part_of(range, response, whole, values).await,
            }
        }
        self.answer_of(response, values, client, is_head).await
    }

    /// Returns the body of a request, in which values are put or stand-ins refused.
    fn body_of(
        self: &Arc<Self>,
        body: SecretBody,
        opened: &mut OpenedRequest,
        headers: &mut HeaderMap,
        uses: &UsesOf,
        in_body: &Arc<Mutex<Vec<usize>>>,
    ) -> SecretBody {
        let all = Arc::clone(&self.of.all);
        let others = all.search_besides(&opened.of_body);
        let texts = opened.in_body.take().map(Arc::new);
        if texts.as_ref().is_some_and(|texts| !texts.keep_length()) {
            headers.remove(CONTENT_LENGTH);
        }
        let (this, uses) = (Arc::clone(self), uses.clone());
        let on_refused = move |found: &[u8]| {
            if let Some(number) = this.of.all.find(found) {
                this.refuse(refused_in(&this.of, number, "the body"), &uses);
            }
        };
        let found_in = Arc::clone(in_body);
        let on_replaced = move |found: &[u8]| {
            let number = all.find(found);
            found_in.lock().unwrap_or_else(PoisonError::into_inner).extend(number);
        };
        body.without(others, Box::new(on_refused)).replacing(texts, Some(Box::new(on_replaced)))
    }

    /// Returns the answer, without values.
    async fn answer_of(
        self: &Arc<Self>,
        mut response: Response<Incoming>,
        sent: SentTexts,
        client: Option<hyper::upgrade::OnUpgrade>,
        is_head: bool,
    ) -> Result<Response<SecretBody>, RefusedRequest> {
        let texts = self.of.in_answer(sent).await;
        let switches = response.status() == StatusCode::SWITCHING_PROTOCOLS;
        let server = switches.then(|| hyper::upgrade::on(&mut response));
        let (mut parts, body) = response.into_parts();
        clean_head(&mut parts, texts.as_deref());
        if let (Some(client), Some(server)) = (client, server) {
            let this = Arc::clone(self);
            tokio::spawn(async move { this.pass_on(client, server, texts).await });
            return Ok(Response::from_parts(parts, SecretBody::text("")));
        }
        check_transfer(&parts.headers)?;
        for name in OF_CONNECTION {
            parts.headers.remove(name);
        }
        let decoder = if is_head || texts.is_none() { None } else { decoder_of(&parts.headers, &self.memory)? };
        if decoder.is_some() {
            parts.headers.remove(CONTENT_ENCODING);
        }
        let keeps_length = decoder.is_none() && texts.as_ref().is_none_or(|texts| texts.keep_length());
        if !keeps_length && !is_head {
            parts.headers.remove(CONTENT_LENGTH);
        }
        Ok(Response::from_parts(parts, SecretBody::of(body).opened_by(decoder).replacing(texts, None)))
    }

    /// Returns a part of a small answer. A part of a value would not be recognized, so the whole is asked for. The
    /// program gets the whole if the host did not say which part it has given.
    async fn part_of(
        self: &Arc<Self>,
        range: Option<AnsweredRange>,
        part: Response<Incoming>,
        whole: http::request::Parts,
        sent: SentTexts,
    ) -> Result<Response<SecretBody>, RefusedRequest> {
        let (mut parts, body) = part.into_parts();
        // The connection is free for another request once the part was read.
        self.whole_body(body).await?;
        let response = self.upstream.send(Request::from_parts(whole, SecretBody::text(""))).await;
        let response = response.map_err(|reason| unsent(&reason))?;
        let Some(range) =
            range.filter(|_| response.status() == StatusCode::OK && !response.headers().contains_key(CONTENT_ENCODING))
        else {
            return self.answer_of(response, sent, None, false).await;
        };
        let WholeBody { bytes: body, memory } = self.whole_body(response.into_body()).await?;
        let texts = self.of.in_answer(sent).await;
        let replaced = texts.as_ref().and_then(|texts| texts.replace(&body));
        let body = replaced.map_or(body, Bytes::from);
        if body.len() != range.total || range.last >= range.total {
            return Err(unsent("the host gave a part and a whole that do not fit"));
        }
        clean_head(&mut parts, texts.as_deref());
        for name in OF_CONNECTION {
            parts.headers.remove(name);
        }
        let part = WholeBody { bytes: body.slice(range.first..=range.last), memory };
        Ok(Response::from_parts(parts, SecretBody::whole(part)))
    }

    /// Returns a body that has to be small.
    async fn whole_body(&self, body: Incoming) -> Result<WholeBody, RefusedRequest> {
        WholeBody::read(body, SMALL, self.memory.share()).await.map_err(|error| unsent(&error.to_string()))
    }

    /// Passes the bytes of a connection on that has changed its protocol.
    async fn pass_on(
        self: Arc<Self>,
        client: hyper::upgrade::OnUpgrade,
        server: hyper::upgrade::OnUpgrade,
        texts: Option<Arc<TextReplacements>>,
    ) {
        let (Ok(client), Ok(server)) = tokio::join!(client, server) else { return };
        let (mut from_client, mut to_client) = tokio::io::split(TokioIo::new(client));
        let (mut from_server, mut to_server) = tokio::io::split(TokioIo::new(server));
        let up = async {
            let mut search = self.of.all.search.clone().map(StreamReplacer::new);
            let copied = copy(&mut from_client, &mut to_server, &mut search, false).await;
            if let Some(number) =
                search.as_ref().and_then(StreamReplacer::found).and_then(|text| self.of.all.find(text))
            {
                let uses = UsesOf { host: self.of.authority(), method: "UPGRADE".into(), path: "/".into() };
                self.refuse(refused_in(&self.of, number, "a connection that has changed its protocol"), &uses);
            }
            copied
        };
        // Another length would break the frames of the protocol.
        let replaces = texts.as_ref().is_none_or(|texts| texts.keep_length());
        let mut replacer = texts.map(StreamReplacer::new);
        let down = copy(&mut from_server, &mut to_client, &mut replacer, replaces);
        let _ = tokio::try_join!(up, down);
    }
}

/// Copies bytes until their end. Texts are replaced, or are an error.
async fn copy(
    from: &mut (impl AsyncReadExt + Unpin),
    to: &mut (impl AsyncWriteExt + Unpin),
    replacer: &mut Option<StreamReplacer>,
    replaces: bool,
) -> std::io::Result<()> {
    let mut buffer = bytes::BytesMut::with_capacity(PIECE);
    loop {
        buffer.reserve(PIECE);
        let is_end = from.read_buf(&mut buffer).await? == 0;
        let mut out = buffer.split().freeze();
        if let Some(replacer) = replacer {
            out = replacer.push(out);
            if !replaces && replacer.found().is_some() {
                return Err(std::io::ErrorKind::InvalidData.into());
            }
            if is_end {
                to.write_all(&out).await?;
                out = replacer.finish();
            }
        }
        to.write_all(&out).await?;
        to.flush().await?;
        if is_end {
            return to.shutdown().await;
        }
    }
}

/// The part of a whole that an answer is.
struct AnsweredRange {
    first: usize,
    last: usize,
    total: usize,
}

impl AnsweredRange {
    /// Returns the part that an answer is. `None`: it does not say that, or is several.
    fn of(headers: &HeaderMap) -> Option<Self> {
        let range = headers.get(CONTENT_RANGE)?.to_str().ok()?.strip_prefix("bytes ")?;
        let (part, total) = range.split_once('/')?;
        let (first, last) = part.split_once('-')?;
        let range = Self { first: first.parse().ok()?, last: last.parse().ok()?, total: total.parse().ok()? };
        (range.first <= range.last && range.last < range.total).then_some(range)
    }
}

/// Returns whether a range is one of bytes. Other units, such as rows, split no value.
fn is_of_bytes(range: &HeaderValue) -> bool {
    range.as_bytes().trim_ascii_start().get(..5).is_some_and(|unit| unit.eq_ignore_ascii_case(b"bytes"))
}

/// Returns the request for the whole of which a request wants a part.
fn whole_of(request: &http::request::Parts) -> Option<http::request::Parts> {
    if request.method != Method::GET || !request.headers.get(RANGE).is_some_and(is_of_bytes) {
        return None;
    }
    let mut whole = request.clone();
    for name in [RANGE, IF_RANGE, CONTENT_LENGTH] {
        whole.headers.remove(name);
    }
    whole.headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    Some(whole)
}

/// Returns the answer of the gate to a request that did not reach its host.
fn unsent(reason: &str) -> RefusedRequest {
    RefusedRequest { secret: None, leaks: false, status: StatusCode::BAD_GATEWAY, reason: reason.to_owned() }
}

/// Removes a range of which the host could give several parts, which come in a form of their own, or that only some
/// hosts know: other methods than GET have none (RFC 9110, 14.2).
fn remove_unclear_range(request: &mut http::request::Parts) {
    let headers = &mut request.headers;
    let mut ranges = headers.get_all(RANGE).iter();
    let several = ranges.next().is_some_and(|range| range.as_bytes().contains(&b',')) || ranges.next().is_some();
    if several || (request.method != Method::GET && headers.get(RANGE).is_some_and(is_of_bytes)) {
        headers.remove(RANGE);
        headers.remove(IF_RANGE);
    }
}

/// Removes values from the head of an answer.
fn clean_head(answer: &mut http::response::Parts, texts: Option<&TextReplacements>) {
    // The words after the status mean nothing, and a host may put anything there.
    answer.extensions.remove::<ReasonPhrase>();
    if let Some(texts) = texts {
        replace_in_headers(&mut answer.headers, texts);
    }
}

/// Refuses an answer with a transfer coding other than `chunked`. No request asks for one.
fn check_transfer(headers: &HeaderMap) -> Result<(), RefusedRequest> {
    let codings =
        headers.get_all(TRANSFER_ENCODING).iter().flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    if codings.map(<[u8]>::trim_ascii).all(|coding| coding.eq_ignore_ascii_case(b"chunked")) {
        Ok(())
    } else {
        Err(unsent("the answer has a transfer coding that the gate cannot open"))
    }
}

/// Returns the connection of a request that asks for another protocol. HTTP/2 inside TLS is agreed on by the handshake.
fn upgraded_of(request: &mut Request<Incoming>) -> Option<hyper::upgrade::OnUpgrade> {
    let asked = request.headers().get(UPGRADE)?.to_str().ok()?.to_ascii_lowercase();
    (request.version() == Version::HTTP_11 && !asked.contains("h2c")).then(|| hyper::upgrade::on(request))
}

/// Removes the headers that are about one connection, and asks for nothing that the gate cannot read.
fn prepare_headers(headers: &mut HeaderMap, upgrades: bool) {
    for value in headers.get_all(CONNECTION).iter().cloned().collect::<Vec<_>>() {
        for name in value.to_str().unwrap_or_default().split(',').map(str::trim) {
            if !(upgrades && name.eq_ignore_ascii_case("upgrade")) {
                headers.remove(name);
            }
        }
    }
    let upgrade = headers.get(UPGRADE).cloned().filter(|_| upgrades);
    for name in OF_CONNECTION {
        headers.remove(name);
    }
    if let Some(upgrade) = upgrade {
        headers.insert(UPGRADE, upgrade);
        headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    }
    // The gate has answered it. Frames that are compressed cannot be read.
    for name in [EXPECT, WEBSOCKET_EXTENSIONS] {
        headers.remove(name);
    }
    if headers.get_all(TE).iter().any(|te| te != "trailers") {
        headers.remove(TE);
    }
    if let Some(accepted) = headers.get(ACCEPT_ENCODING) {
        let accepted = accepted.to_str().unwrap_or_default().split(',').map(str::trim);
        let known = accepted.filter(|coding| {
            let name = coding.split(';').next().unwrap_or_default().trim();
            CODINGS.iter().any(|known| known.eq_ignore_ascii_case(name))
        });
        let known = known.collect::<Vec<_>>().join(", ");
        let known = if known.is_empty() {
            HeaderValue::from_static("identity")
        } else {
            HeaderValue::try_from(known).unwrap_or(HeaderValue::from_static("identity"))
        };
        headers.insert(ACCEPT_ENCODING, known);
    }
}

/// Returns the decoder of an answer. One that was compressed twice is refused.
fn decoder_of(headers: &HeaderMap, memory: &Arc<MemoryBudget>) -> Result<Option<BodyDecoder>, RefusedRequest> {
    let codings = headers.get_all(CONTENT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let codings: Vec<String> =
        codings.flat_map(|value| value.split(',')).map(|coding| coding.trim().to_ascii_lowercase()).collect();
    let mut decoder = None;
    for coding in &codings {
        if let Some(found) = BodyDecoder::of(coding, memory).map_err(|error| unsent(&error.to_string()))?
            && decoder.replace(found).is_some()
        {
            return Err(unsent("the answer was compressed twice"));
        }
    }
    Ok(decoder)
}
