//! Requests that AWS's Signature Version 4 signs: the signature of a stand-in becomes that of the value.
//!
//! A program signs with the stand-in of its key. The gate computes the same signature, so it knows which secret was
//! used and that it reads the request as the program does, and then signs again with the value.
//! <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html>

use http::request::Parts;
use http::{HeaderMap, HeaderName};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use ring::{digest, hmac};

/// The scheme of `Authorization`.
pub(crate) const SCHEME: &str = "AWS4-HMAC-SHA256 ";

/// The header with the hash of the body, or with a word that says why there is none.
pub(crate) const CONTENT_HASH: HeaderName = HeaderName::from_static("x-amz-content-sha256");

const DATE: HeaderName = HeaderName::from_static("x-amz-date");

/// The beginning of that word if each chunk of the body is signed.
const SIGNED_CHUNKS: &str = "STREAMING-AWS4-HMAC-SHA256";

/// All but the characters that no path encodes.
const IN_PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// The parts of a signature in `Authorization`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestSignature {
    /// `AKIA…/20150830/us-east-1/service/aws4_request`
    pub credential: String,
    signed_headers: String,
    signature: String,
}

/// How the path of a request was signed: S3 encodes it once, other services twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathEncoding {
    Once,
    Twice,
}

impl RequestSignature {
    /// Reads a signature. `None`: the header has none of this version.
    pub fn of(authorization: &str) -> Option<Self> {
        let (mut credential, mut signed_headers, mut signature) = (None, None, None);
        for part in authorization.strip_prefix(SCHEME)?.split(',') {
            let (name, value) = part.trim().split_once('=')?;
            let place = match name {
                "Credential" => &mut credential,
                "SignedHeaders" => &mut signed_headers,
                "Signature" => &mut signature,
                _ => return None,
            };
            *place = Some(value.to_owned());
        }
        Some(Self { credential: credential?, signed_headers: signed_headers?, signature: signature? })
    }

    /// Returns the header with another credential and another signature.
    pub fn header_with(&self, credential: &str, signature: &str) -> String {
        format!("{SCHEME}Credential={credential}, SignedHeaders={}, Signature={signature}", self.signed_headers)
    }

    /// Returns how the path was signed, if this secret has signed the request.
    pub fn encoding_of(&self, secret: &str, request: &Parts, payload: &str) -> Option<PathEncoding> {
        let signs = |encoding: &PathEncoding| {
            self.sign(secret, request, &request.headers, payload, *encoding).is_some_and(|own| own == self.signature)
        };
        [PathEncoding::Once, PathEncoding::Twice].into_iter().find(signs)
    }

    /// Returns the signature of a request with these headers. `None`: the request has no date, or lacks a header.
    pub fn sign(
        &self,
        secret: &str,
        request: &Parts,
        headers: &HeaderMap,
        payload: &str,
        encoding: PathEncoding,
    ) -> Option<String> {
        let (_, scope) = self.credential.split_once('/')?;
        let date = headers.get(DATE)?.to_str().ok()?;
        let canonical = self.canonical(request, headers, payload, encoding)?;
        let text = format!("{}\n{date}\n{scope}\n{}", SCHEME.trim_end(), hash(canonical.as_bytes()));
        let mut key = format!("AWS4{secret}").into_bytes();
        for part in scope.split('/') {
            key = code(&key, part.as_bytes());
        }
        Some(hexadecimal(&code(&key, text.as_bytes())))
    }

    /// Returns the form of a request that is signed.
    fn canonical(&self, request: &Parts, headers: &HeaderMap, payload: &str, encoding: PathEncoding) -> Option<String> {
        let path = match encoding {
            PathEncoding::Once => request.uri.path().to_owned(),
            PathEncoding::Twice => utf8_percent_encode(request.uri.path(), IN_PATH).to_string(),
        };
        let query = request.uri.query().unwrap_or_default();
        let mut query: Vec<String> = query
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| if pair.contains('=') { pair.to_owned() } else { format!("{pair}=") })
            .collect();
        query.sort();
        let mut text = format!("{}\n{path}\n{}\n", request.method, query.join("&"));
        for name in self.signed_headers.split(';') {
            let mut values = Vec::new();
            for value in headers.get_all(name) {
                values.push(value.to_str().ok()?.split_whitespace().collect::<Vec<_>>().join(" "));
            }
            // HTTP/2 has the host in another place.
            if values.is_empty() && name == "host" {
                values.push(request.uri.authority()?.as_str().to_owned());
            }
            if values.is_empty() {
                return None;
            }
            text.push_str(&format!("{name}:{}\n", values.join(",")));
        }
        Some(format!("{text}\n{}\n{payload}", self.signed_headers))
    }
}

/// Returns what a request says about its body. `None`: the body has to be hashed.
///
/// # Errors
/// If each chunk of the body is signed, which cannot be signed again as it passes.
pub(crate) fn payload_of(headers: &HeaderMap) -> Result<Option<String>, &'static str> {
    let Some(payload) = headers.get(CONTENT_HASH).and_then(|payload| payload.to_str().ok()) else { return Ok(None) };
    if payload.starts_with(SIGNED_CHUNKS) {
        return Err("each chunk of the body is signed, which the gate cannot do; upload it whole or unsigned");
    }
    Ok(Some(payload.to_owned()))
}

/// Returns the hash of some bytes in hexadecimal.
pub(crate) fn hash(bytes: &[u8]) -> String {
    hexadecimal(digest::digest(&digest::SHA256, bytes).as_ref())
}

fn code(key: &[u8], bytes: &[u8]) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), bytes).as_ref().to_vec()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    const KEY: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
    const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    /// Requests of AWS's own tests of Signature Version 4.
    fn request(line: &str, more: &[(&str, &str)]) -> Parts {
        let (method, target) = line.split_once(' ').expect("a line");
        let mut request = Request::builder()
            .method(method)
            .uri(target)
            .header("host", "example.amazonaws.com")
            .header("x-amz-date", "20150830T123600Z");
        for (name, value) in more {
            request = request.header(*name, *value);
        }
        request.body(()).expect("a request").into_parts().0
    }

    fn signature(headers: &str, signature: &str) -> RequestSignature {
        let text = format!(
            "{SCHEME}Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders={headers}, \
             Signature={signature}"
        );
        RequestSignature::of(&text).expect("a signature")
    }

    #[test]
    fn signatures_are_those_of_the_published_tests() {
        for (line, headers, expected) in [
            ("GET /", "host;x-amz-date", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
            (
                "GET /?Param2=value2&Param1=value1",
                "host;x-amz-date",
                "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
            ),
            ("POST /", "host;x-amz-date", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
        ] {
            let (request, signature) = (request(line, &[]), signature(headers, expected));
            assert_eq!(signature.encoding_of(KEY, &request, EMPTY), Some(PathEncoding::Once), "{line}");
            assert_eq!(signature.encoding_of("another", &request, EMPTY), None);
        }
    }

    #[test]
    fn a_request_that_was_signed_with_a_stand_in_is_signed_with_the_value() {
        let request = request("PUT /a%20b", &[("x-amz-security-token", "stand-in")]);
        let names = "host;x-amz-date;x-amz-security-token";
        let draft = signature(names, "");
        for encoding in [PathEncoding::Once, PathEncoding::Twice] {
            let own = draft.sign("stand-in", &request, &request.headers, EMPTY, encoding).expect("signed");
            let signed = signature(names, &own);
            assert_eq!(signed.encoding_of("stand-in", &request, EMPTY), Some(encoding));
            let mut headers = request.headers.clone();
            headers.insert("x-amz-security-token", "value".parse().expect("a value"));
            let again = signed.sign(KEY, &request, &headers, EMPTY, encoding).expect("signed");
            assert_ne!(again, own);
            let header = signed.header_with("AKIAVALUE/20150830/us-east-1/service/aws4_request", &again);
            assert_eq!(RequestSignature::of(&header).expect("a signature").signature, again);
        }
    }

    #[test]
    fn what_is_no_signature_is_none() {
        for text in [
            "Bearer x",
            "AWS4-HMAC-SHA256 ",
            "AWS4-HMAC-SHA256 Credential=a, Signature=b",
            "AWS4-ECDSA-P256-SHA256 x=y",
        ] {
            assert_eq!(RequestSignature::of(text), None, "{text}");
        }
    }
}
