//! Bodies on their way through the gate.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderValue};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;

use super::body_decoder::BodyDecoder;
use super::memory_budget::BudgetShare;
use super::stream_replacer::{StreamReplacer, TextReplacements};

/// Why a body ends early.
pub(crate) type BodyError = Box<dyn std::error::Error + Send + Sync>;

/// Called when a body has the texts that are looked for.
pub(crate) type OnFound = Box<dyn FnOnce(&[u8]) + Send>;

/// A body that was read to its end.
pub(crate) struct WholeBody {
    pub bytes: Bytes,
    /// The memory that it takes.
    pub memory: BudgetShare,
}

impl WholeBody {
    /// Reads a body to its end, which may have this many bytes.
    pub async fn read(mut body: Incoming, most: usize, mut memory: BudgetShare) -> Result<Self, BodyError> {
        let mut bytes = BytesMut::new();
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame?.into_data() else { continue };
            if bytes.len() + data.len() > most {
                return Err("the body is too long".into());
            }
            memory.grow_to(bytes.len() + data.len())?;
            bytes.extend_from_slice(&data);
        }
        Ok(Self { bytes: bytes.freeze(), memory })
    }
}

/// A body in which texts are replaced, or that ends at the first one.
pub(crate) struct SecretBody {
    inner: Option<Incoming>,
    decoder: Option<BodyDecoder>,
    /// Compressed bytes that are not opened yet.
    compressed: Bytes,
    replacer: Option<StreamReplacer>,
    refused: Option<(StreamReplacer, Option<OnFound>)>,
    on_replaced: Option<OnFound>,
    trailers: Option<HeaderMap>,
    /// A text of the gate, as the whole body.
    text: Option<Bytes>,
    /// The memory that a text takes.
    _memory: Option<BudgetShare>,
    size: SizeHint,
    ended: bool,
}

impl SecretBody {
    /// Returns a text as a body.
    pub fn text(text: impl Into<Bytes>) -> Self {
        let text = text.into();
        let size = SizeHint::with_exact(text.len() as u64);
        Self { text: Some(text), size, ended: false, ..Self::empty() }
    }

    /// Returns a body that was read as a whole.
    pub fn whole(whole: WholeBody) -> Self {
        Self { _memory: Some(whole.memory), ..Self::text(whole.bytes) }
    }

    fn empty() -> Self {
        Self {
            inner: None,
            decoder: None,
            compressed: Bytes::new(),
            replacer: None,
            refused: None,
            on_replaced: None,
            trailers: None,
            text: None,
            _memory: None,
            size: SizeHint::with_exact(0),
            ended: true,
        }
    }

    /// Returns a body as it arrives.
    pub fn of(inner: Incoming) -> Self {
        let (size, ended) = (inner.size_hint(), inner.is_end_stream());
        Self { inner: Some(inner), size, ended, ..Self::empty() }
    }

    /// Opens a compressed body.
    pub fn opened_by(self, decoder: Option<BodyDecoder>) -> Self {
        let size = if decoder.is_some() { SizeHint::default() } else { self.size };
        Self { decoder, size, ..self }
    }

    /// Replaces texts.
    pub fn replacing(self, texts: Option<Arc<TextReplacements>>, on_replaced: Option<OnFound>) -> Self {
        let size = if texts.as_ref().is_none_or(|texts| texts.keep_length()) { self.size } else { SizeHint::default() };
        Self { replacer: texts.map(StreamReplacer::new), on_replaced, size, ..self }
    }

    /// Ends before the first of these texts, with an error.
    pub fn without(self, texts: Option<Arc<TextReplacements>>, on_found: OnFound) -> Self {
        Self { refused: texts.map(|texts| (StreamReplacer::new(texts), Some(on_found))), ..self }
    }

    /// Takes opened bytes, or the end. Returns those that can be passed on.
    fn work(&mut self, bytes: Bytes, is_end: bool) -> Result<Bytes, BodyError> {
        let mut out = bytes;
        if let Some((search, on_found)) = &mut self.refused {
            out = search.push(out);
            if is_end {
                out = joined(out, search.finish());
            }
            if let Some(found) = search.found() {
                if let Some(on_found) = on_found.take() {
                    on_found(found);
                }
                return Err("the body has a secret in a place where it may not stand".into());
            }
        }
        if let Some(replacer) = &mut self.replacer {
            out = replacer.push(out);
            if is_end {
                out = joined(out, replacer.finish());
            }
            if let Some(found) = replacer.found()
                && let Some(on_replaced) = self.on_replaced.take()
            {
                on_replaced(found);
            }
        }
        Ok(out)
    }

    /// Replaces texts in trailers.
    fn work_trailers(&self, trailers: &mut HeaderMap) {
        let Some(texts) = self.replacer.as_ref().map(StreamReplacer::texts) else { return };
        replace_in_headers(trailers, texts);
    }

    /// Opens the next compressed bytes.
    fn open_next(&mut self) -> Result<Option<Bytes>, BodyError> {
        let compressed = &mut self.compressed;
        let decoder = self.decoder.as_mut().filter(|decoder| !compressed.is_empty() || decoder.has_more());
        decoder.map(|decoder| Ok(decoder.push(compressed)?.into())).transpose()
    }
}

/// Replaces texts in the values of headers, and removes headers with one in their name.
pub(crate) fn replace_in_headers(headers: &mut HeaderMap, texts: &TextReplacements) {
    let named: Vec<_> = headers.keys().filter(|name| texts.find(name.as_str().as_bytes()).is_some()).cloned().collect();
    for name in named {
        headers.remove(name);
    }
    for value in headers.values_mut() {
        if let Some(new) = texts.replace(value.as_bytes())
            && let Ok(new) = HeaderValue::from_bytes(&new)
        {
            *value = new;
        }
    }
}

fn joined(one: Bytes, other: Bytes) -> Bytes {
    match (one.is_empty(), other.is_empty()) {
        (true, _) => other,
        (_, true) => one,
        _ => [one, other].concat().into(),
    }
}

impl Body for SecretBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = self.get_mut();
        if let Some(text) = this.text.take() {
            let out = this.work(text, true)?;
            this.ended = true;
            return Poll::Ready((!out.is_empty()).then(|| Ok(Frame::data(out))));
        }
        loop {
            if let Some(opened) = this.open_next()? {
                let out = this.work(opened, false)?;
                if out.is_empty() {
                    continue;
                }
                return Poll::Ready(Some(Ok(Frame::data(out))));
            }
            let Some(inner) = this.inner.as_mut() else {
                this.ended = true;
                return Poll::Ready(this.trailers.take().map(|trailers| Ok(Frame::trailers(trailers))));
            };
            let rest = match ready!(Pin::new(inner).poll_frame(context)) {
                Some(Err(error)) => return Poll::Ready(Some(Err(error.into()))),
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) if this.decoder.is_some() => {
                        this.compressed = data;
                        continue;
                    }
                    Ok(data) => {
                        let out = this.work(data, false)?;
                        if out.is_empty() {
                            continue;
                        }
                        return Poll::Ready(Some(Ok(Frame::data(out))));
                    }
                    Err(frame) => {
                        if let Ok(mut trailers) = frame.into_trailers() {
                            this.work_trailers(&mut trailers);
                            this.trailers = Some(trailers);
                        }
                        this.end()?
                    }
                },
                None => this.end()?,
            };
            this.inner = None;
            if !rest.is_empty() {
                this.ended = this.trailers.is_none();
                return Poll::Ready(Some(Ok(Frame::data(rest))));
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.ended
    }

    fn size_hint(&self) -> SizeHint {
        self.size
    }
}

impl SecretBody {
    /// Ends the body. Returns the bytes that were kept back.
    fn end(&mut self) -> Result<Bytes, BodyError> {
        let rest = match self.decoder.as_mut() {
            Some(decoder) => decoder.finish()?.into(),
            None => Bytes::new(),
        };
        self.work(rest, true)
    }
}
