//! Access rules. A page of another site in a browser on this machine can send requests here.
//! Whether it gets a response depends on headers that it cannot omit or forge in a browser: the
//! host (against DNS rebinding) and the requesting page.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::header::{
    ALLOW, AUTHORIZATION, CONNECTION, CONTENT_LENGTH, COOKIE, HOST, LOCATION, ORIGIN, SET_COOKIE,
    TRANSFER_ENCODING,
};
use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::answer::plain;
use crate::query::Query;

/// Longest path and query of a request, bytes.
const ADDRESS_BYTES: usize = 8 << 10;
/// Name of the cookie, and of the query parameter in the first address.
const TOKEN: &str = "qdepth_token";

/// Headers of every response. They forbid inline scripts and styles, foreign resources, and
/// framing.
const HEADERS: [(&str, &str); 7] = [
    (
        "content-security-policy",
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; \
         connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cache-control", "no-store"),
];

/// Address of the server, and its access token.
#[derive(Debug)]
pub struct AccessPolicy {
    address: SocketAddr,
    /// `None` at a loopback address, which needs no token.
    token: Option<String>,
}

impl AccessPolicy {
    /// Rules for a server at this address. At a loopback address every user of this machine has
    /// access; elsewhere the token is required.
    pub(crate) fn at(address: SocketAddr) -> Self {
        let token = (!address.ip().is_loopback()).then(|| Uuid::new_v4().simple().to_string());
        Self { address, token }
    }

    /// URL for a browser, including the token if one is required.
    pub fn address(&self) -> String {
        let address = self.address;
        match &self.token {
            None => format!("http://{address}/"),
            Some(token) => format!("http://{address}/?{TOKEN}={token}"),
        }
    }

    /// True if the server is reachable from other machines and requires a token.
    pub fn is_open(&self) -> bool {
        self.token.is_some()
    }

    /// True if the Host header names this server. A foreign host name that resolves to this machine
    /// is refused; a numeric address cannot be redirected.
    fn is_me(&self, host: &str) -> bool {
        let Ok(host) = host.parse::<Authority>() else { return false };
        if host.as_str().contains('@') || host.port_u16().unwrap_or(80) != self.address.port() {
            return false;
        }
        let name = host.host();
        let digits = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        match digits {
            Ok(ip) if self.is_open() => !ip.is_unspecified() || ip == self.address.ip(),
            Ok(ip) => ip == self.address.ip(),
            Err(_) => name.eq_ignore_ascii_case("localhost") && !self.is_open(),
        }
    }

    /// True if the token is correct. Comparing digests prevents timing attacks.
    fn accepts_token(&self, given: &str) -> bool {
        let digest = |text: &str| Sha256::digest(text);
        self.token.as_deref().is_some_and(|token| digest(token) == digest(given))
    }
}

/// Middleware that refuses forbidden requests and adds [`HEADERS`] to every response.
pub(crate) async fn guard(
    State(access): State<Arc<AccessPolicy>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let mut answer = match refusal(&access, &request) {
        Some(refused) => refused,
        None => next.run(request).await,
    };
    for (name, value) in HEADERS {
        answer.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    answer
}

fn refusal(access: &AccessPolicy, request: &Request) -> Option<Response<Body>> {
    let (headers, uri) = (request.headers(), request.uri());
    let no = |status: StatusCode, why: &str| Some(with_close(plain(status, why)));
    if uri.path_and_query().is_some_and(|both| both.as_str().len() > ADDRESS_BYTES) {
        return no(StatusCode::URI_TOO_LONG, "the address is too long");
    }
    let Some(host) = single_header(headers, &HOST) else {
        return no(StatusCode::BAD_REQUEST, "a request needs exactly one Host header");
    };
    let named = uri.authority().is_none_or(|authority| authority.as_str() == host);
    if !access.is_me(host) || !named {
        return no(
            StatusCode::MISDIRECTED_REQUEST,
            "this server has another name: use the address that qdepth serve printed",
        );
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut refused = with_close(plain(StatusCode::METHOD_NOT_ALLOWED, "pages are read-only"));
        refused.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return Some(refused);
    }
    if is_of_another_page(headers, host) {
        return no(StatusCode::FORBIDDEN, "requests from pages of another server are refused");
    }
    let has_body = headers.contains_key(TRANSFER_ENCODING)
        || headers.get(CONTENT_LENGTH).is_some_and(|length| length != "0");
    if has_body {
        return no(StatusCode::PAYLOAD_TOO_LARGE, "a request for a page must not have a body");
    }
    if access.is_open() { check_token(access, request) } else { None }
}

/// Value of a header that must occur exactly once; otherwise `None`.
fn single_header<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?.to_str().ok();
    first.filter(|_| all.next().is_none())
}

/// True if a page of another site sent the request, except by following a link.
fn is_of_another_page(headers: &HeaderMap, host: &str) -> bool {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let origin = headers.get(ORIGIN).map(|value| value.to_str().unwrap_or_default());
    let foreign = origin.is_some_and(|origin| origin != format!("http://{host}"));
    let asked_by = text("sec-fetch-site").unwrap_or("none");
    let follows_a_link = text("sec-fetch-mode") == Some("navigate");
    foreign || (!matches!(asked_by, "none" | "same-origin") && !follows_a_link)
}

/// Checks the token: in the cookie, in the Authorization header, or in the query, which then sets
/// the cookie. Returns a response for a redirect or a refusal.
fn check_token(access: &AccessPolicy, request: &Request) -> Option<Response<Body>> {
    let headers = request.headers();
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut cookies = cookies.flat_map(|all| all.split(';')).map(str::trim);
    let by_cookie = cookies.any(|cookie| {
        cookie
            .split_once('=')
            .is_some_and(|(name, value)| name == TOKEN && access.accepts_token(value))
    });
    let bearer = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let bearer = bearer.and_then(|value| value.strip_prefix("Bearer "));
    if by_cookie || bearer.is_some_and(|token| access.accepts_token(token)) {
        return None;
    }
    let query = Query::from_uri(request.uri());
    match query.first(TOKEN).filter(|token| access.accepts_token(token)) {
        Some(token) => {
            let mut onward = plain(StatusCode::SEE_OTHER, "");
            let cookie = format!("{TOKEN}={token}; HttpOnly; SameSite=Strict; Path=/");
            // `//host` and `/\\host` would lead elsewhere.
            let path = request.uri().path().trim_start_matches(['/', '\\']);
            let location = query.without(TOKEN).address(&format!("/{path}"));
            let value = |text: String| HeaderValue::from_str(&text).ok();
            let (cookie, location) = value(cookie).zip(value(location))?;
            onward.headers_mut().insert(SET_COOKIE, cookie);
            onward.headers_mut().insert(LOCATION, location);
            Some(onward)
        }
        None => Some(with_close(plain(
            StatusCode::UNAUTHORIZED,
            "this server can be reached from other machines, so it needs the token: use the whole \
             address that qdepth serve printed",
        ))),
    }
}

/// Closes the connection after a refusal, so that the request's remaining bytes are not taken for
/// another request.
fn with_close(mut answer: Response<Body>) -> Response<Body> {
    answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(address: &str) -> AccessPolicy {
        AccessPolicy::at(address.parse().unwrap())
    }

    #[test]
    fn foreign_host_names_are_rejected() {
        let access = access("127.0.0.1:8080");
        for (host, ours) in [
            ("127.0.0.1:8080", true),
            ("localhost:8080", true),
            ("LOCALHOST:8080", true),
            ("127.0.0.1", false),
            ("127.0.0.1:80", false),
            ("127.0.0.2:8080", false),
            ("[::1]:8080", false),
            ("0.0.0.0:8080", false),
            ("evil.example:8080", false),
            ("localhost.evil.example:8080", false),
            ("127.0.0.1.evil.example:8080", false),
            ("user@127.0.0.1:8080", false),
            ("127.0.0.1:8080:8080", false),
            ("", false),
            ("[127.0.0.1:8080", false),
        ] {
            assert_eq!(access.is_me(host), ours, "{host}");
        }
    }

    #[test]
    fn non_loopback_address_needs_the_token() {
        let open = access("0.0.0.0:8080");
        assert!(open.is_open() && open.is_me("192.168.1.7:8080") && !open.is_me("evil:8080"));
        let token = open.address().split_once('=').unwrap().1.to_owned();
        assert!(
            open.accepts_token(&token)
                && !open.accepts_token("")
                && !open.accepts_token(&token[1..])
        );
        let shut = access("[::1]:8080");
        assert!(!shut.is_open() && shut.is_me("[::1]:8080") && shut.address().ends_with(":8080/"));
        assert_ne!(access("0.0.0.0:1").token, access("0.0.0.0:1").token);
    }
}
