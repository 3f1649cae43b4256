//! HTTP server of one page: metrics for Prometheus.
//!
//! Anyone who can reach it may read the page, but can do nothing else. The page is made beforehand, and at most
//! [`MOST`] connections are served at once. None of them lasts longer than [`PATIENCE`], and one without a request
//! gives way to others.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy, sink};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, yield_now};
use tokio::time::{sleep, timeout};

/// Maximum number of connections at once.
const MOST: usize = 32;
/// Maximum duration of a connection, from its beginning to the last byte.
const PATIENCE: Duration = Duration::from_secs(5);
/// Maximum size of a request line with headers, in bytes.
const LONGEST_HEAD: usize = 8 << 10;
/// Maximum number of bytes read after a request before the connection is closed, so that the answer arrives.
const LONGEST_REST: u64 = 64 << 10;

/// Current page of the server; at first there is none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Page(Arc<RwLock<Option<Bytes>>>);

impl Page {
    /// Replaces the page.
    pub(crate) fn publish(&self, text: String) {
        // Nothing panics while it holds the lock, and a page is always replaced as a whole.
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(text.into());
    }

    fn now(&self) -> Option<Bytes> {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// Listens at an address, and serves `page` there until the process ends. Returns the address, with the port that the
/// kernel chose if it was 0.
pub(super) fn serve(address: SocketAddr, page: &Page) -> io::Result<SocketAddr> {
    serve_within(PATIENCE, address, page)
}

fn serve_within(patience: Duration, address: SocketAddr, page: &Page) -> io::Result<SocketAddr> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build()?;
    let listener = runtime.block_on(TcpListener::bind(address))?;
    let bound = listener.local_addr()?;
    let page = page.clone();
    thread::Builder::new()
        .name("metrics".into())
        .spawn(move || runtime.block_on(accept(listener, page, patience)))?;
    Ok(bound)
}

/// An open connection.
struct Connection {
    /// True once its request was read.
    has_asked: Arc<AtomicBool>,
    /// Handle that ends the connection.
    task: AbortHandle,
}

/// Serves all clients. If there are [`MOST`] connections, the oldest one without a request is ended, or else the
/// oldest one.
async fn accept(listener: TcpListener, page: Page, patience: Duration) {
    // In the order in which they came.
    let mut open: Vec<Connection> = Vec::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // The process may be out of file descriptors for a while.
            sleep(Duration::from_millis(100)).await;
            continue;
        };
        open.retain(|connection| !connection.task.is_finished());
        if open.len() >= MOST {
            let is_silent = |c: &Connection| !c.has_asked.load(Ordering::Relaxed);
            let silent = open.iter().position(is_silent);
            open.remove(silent.unwrap_or(0)).task.abort();
        }
        let has_asked = Arc::default();
        let answered = answer(stream, page.clone(), Arc::clone(&has_asked));
        let task = tokio::spawn(timeout(patience, answered)).abort_handle();
        open.push(Connection { has_asked, task });
        // This lets requests that came meanwhile be read, however many connections wait to be accepted.
        yield_now().await;
    }
}

/// Reads one request, records that, answers it, and closes the connection.
async fn answer(mut stream: TcpStream, page: Page, has_asked: Arc<AtomicBool>) -> io::Result<()> {
    let service = service_fn(|request: hyper::Request<hyper::body::Incoming>| {
        has_asked.store(true, Ordering::Relaxed);
        let response = respond(request.method(), request.uri().path(), &page);
        std::future::ready(Ok::<_, Infallible>(response))
    });
    let served = http1::Builder::new()
        .keep_alive(false)
        // A client may close its sending side, and then read.
        .half_close(true)
        .max_buf_size(LONGEST_HEAD)
        .title_case_headers(true)
        .serve_connection(TokioIo::new(&mut stream), service)
        .await;
    // hyper has answered a malformed request, and a client that goes away needs no answer.
    drop(served);
    stream.shutdown().await?;
    // Unread bytes would make the kernel reset the connection, and drop the answer.
    copy(&mut stream.take(LONGEST_REST), &mut sink()).await?;
    Ok(())
}

fn respond(method: &Method, path: &str, page: &Page) -> Response<Full<Bytes>> {
    let refusal = |status, header, text: &'static str| {
        (status, header, "text/plain; charset=utf-8", text.into())
    };
    let (status, header, kind, text): (_, Option<(HeaderName, _)>, _, Bytes) = match page.now() {
        _ if path != "/metrics" => {
            refusal(StatusCode::NOT_FOUND, None, "the metrics are at /metrics\n")
        }
        _ if method != Method::GET && method != Method::HEAD => refusal(
            StatusCode::METHOD_NOT_ALLOWED,
            Some((ALLOW, "GET, HEAD")),
            "this page can be read only\n",
        ),
        None => refusal(
            StatusCode::SERVICE_UNAVAILABLE,
            Some((RETRY_AFTER, "1")),
            "there are no metrics yet\n",
        ),
        Some(text) => (
            StatusCode::OK,
            None,
            "text/plain; version=0.0.4; charset=utf-8",
            text,
        ),
    };
    let mut response = Response::new(Full::new(text));
    *response.status_mut() = status;
    let kind = Some((CONTENT_TYPE, kind));
    for (name, value) in kind.into_iter().chain(header) {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::time::Instant;

    fn ask(request: &[u8]) -> String {
        let page = Page::default();
        page.publish("onpath_pdm_up 1\n".into());
        let address = serve("127.0.0.1:0".parse().unwrap(), &page).unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn the_page_is_given_with_its_form() {
        let text = ask(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
        assert!(
            text.contains("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"),
            "{text}"
        );
        assert!(text.contains("Content-Length: 16\r\n"), "{text}");
        assert!(text.ends_with("\r\n\r\nonpath_pdm_up 1\n"), "{text}");
        assert!(ask(b"GET /metrics?x=1 HTTP/1.0\r\n\r\n").contains("200 OK"));
    }

    #[test]
    fn heads_have_no_body() {
        for (target, status) in [("/metrics", " 200 "), ("/", " 404 ")] {
            let text = ask(format!("HEAD {target} HTTP/1.1\r\n\r\n").as_bytes());
            assert!(
                text.contains(status) && text.ends_with("\r\n\r\n"),
                "{text}"
            );
            assert!(
                text.contains("Content-Length: ") && !text.contains(": 0\r\n"),
                "{text}"
            );
        }
    }

    #[test]
    fn nothing_else_is_given() {
        assert!(ask(b"GET / HTTP/1.1\r\n\r\n").contains(" 404 "));
        assert!(ask(b"GET /metrics/../etc HTTP/1.1\r\n\r\n").contains(" 404 "));
        let text = ask(b"POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc");
        assert!(
            text.contains(" 405 ") && text.contains("\r\nAllow: GET, HEAD\r\n"),
            "{text}"
        );
        assert!(ask(b"hello\r\n\r\n").contains(" 400 "));
        assert!(ask(b"GET /metrics HTTP/2\r\n\r\n").contains(" 400 "));
    }

    #[test]
    fn before_there_is_a_page_it_says_so() {
        let response = respond(&Method::GET, "/metrics", &Page::default());
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    }

    #[test]
    fn a_request_without_end_is_refused() {
        let mut request = b"GET /metrics HTTP/1.1\r\nX: ".to_vec();
        request.resize(LONGEST_HEAD + 1024, b'x');
        assert!(ask(&request).contains(" 431 "));
    }

    #[test]
    fn silent_clients_do_not_keep_others_out() {
        let page = Page::default();
        page.publish("x 1\n".into());
        let address = serve("127.0.0.1:0".parse().unwrap(), &page).unwrap();
        let begun = Instant::now();
        let mut silent: Vec<TcpStream> = Vec::new();
        for _ in 0..5 {
            silent.extend((0..50).map(|_| TcpStream::connect(address).unwrap()));
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
            let mut text = String::new();
            stream.read_to_string(&mut text).unwrap();
            assert!(text.ends_with("x 1\n"), "{text}");
        }
        assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    }

    #[test]
    fn a_client_that_was_promised_an_answer_is_not_the_first_to_go() {
        let page = Page::default();
        // More than the kernel keeps for a connection.
        let long = "x".repeat(16 << 20);
        page.publish(long.clone());
        let address = serve("127.0.0.1:0".parse().unwrap(), &page).unwrap();
        let mut slow = TcpStream::connect(address).unwrap();
        slow.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
        let mut text = vec![0; 1000];
        slow.read_exact(&mut text).unwrap();
        let silent = (0..2 * MOST).map(|_| TcpStream::connect(address).unwrap());
        let silent: Vec<TcpStream> = silent.collect();
        slow.read_to_end(&mut text).unwrap();
        assert!(text.ends_with(long.as_bytes()), "{}", text.len());
        drop(silent);
    }

    #[test]
    fn a_client_that_sends_no_more_has_the_whole_page() {
        for long in [10, 16 << 20] {
            let page = Page::default();
            page.publish("x".repeat(long));
            let address = serve("127.0.0.1:0".parse().unwrap(), &page).unwrap();
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
            stream.shutdown(std::net::Shutdown::Write).unwrap();
            let mut text = String::new();
            stream.read_to_string(&mut text).unwrap();
            assert!(text.ends_with(&"x".repeat(long)), "{}", text.len());
        }
    }

    #[test]
    fn a_client_that_reads_little_by_little_is_not_waited_for() {
        let page = Page::default();
        // More than the kernel keeps for a connection.
        let long = 64 << 20;
        page.publish("x".repeat(long));
        let mut client = TcpStream::connect(serve_impatiently(&page)).unwrap();
        client.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
        let begun = Instant::now();
        let mut little = vec![0; 256 << 10];
        let mut all = 0;
        while let Ok(read @ 1..) = client.read(&mut little) {
            all += read;
            thread::sleep(Duration::from_millis(50));
        }
        assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
        assert!(all < long, "{all}");
    }

    #[test]
    fn a_client_that_asks_little_by_little_is_not_waited_for() {
        let mut client = TcpStream::connect(serve_impatiently(&Page::default())).unwrap();
        let begun = Instant::now();
        while client.write_all(b"G").is_ok() && begun.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(50));
        }
        assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    }

    fn serve_impatiently(page: &Page) -> SocketAddr {
        let patience = Duration::from_millis(300);
        serve_within(patience, "127.0.0.1:0".parse().unwrap(), page).unwrap()
    }

    #[test]
    fn an_address_that_is_taken_is_an_error() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let error = serve(taken.local_addr().unwrap(), &Page::default()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    }
}
