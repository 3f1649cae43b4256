//! A small HTTP server that gives one page: figures for Prometheus.
//!
//! Anyone who can reach it may read it, and no more than that: the page is made beforehand, at most [`MOST`](super::connections::MOST)
//! connections are served at once, none of them is waited for longer than [`PATIENCE`], and one that asks for nothing gives way to others.

use super::connections::Connections;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

/// How long a connection may take, from its beginning to the last byte.
const PATIENCE: Duration = Duration::from_secs(5);
/// What is written at once: a call may wait as long again for each part that the reader takes.
const PIECE: usize = 4 << 10;
/// The longest request line with headers.
const LONGEST_HEAD: usize = 8 << 10;
/// What is read of a request's body before the connection is closed, so that the answer arrives.
const LONGEST_REST: usize = 64 << 10;

/// The page that the server gives now; at first there is none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Page(Arc<RwLock<Option<Arc<str>>>>);

impl Page {
    /// Replaces the page.
    pub(crate) fn publish(&self, text: String) {
        // Nothing panics while it holds the lock; and a page is replaced as a whole.
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(text.into());
    }

    fn now(&self) -> Option<Arc<str>> {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// Listens at an address, and serves `page` there until the process ends. Returns the address, with the port that the
/// kernel chose if it was 0.
pub(super) fn serve(address: SocketAddr, page: &Page) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind(address)?;
    let bound = listener.local_addr()?;
    let page = page.clone();
    let connections = Arc::new(Connections::default());
    thread::Builder::new()
        .name("metrics".into())
        .spawn(move || {
            for number in 0.. {
                let accepted = listener.accept();
                let begun =
                    accepted.and_then(|(stream, _)| begin(stream, number, &connections, &page));
                if begun.is_err() {
                    // Out of file descriptors or threads, perhaps: it passes.
                    thread::sleep(Duration::from_millis(100));
                }
            }
        })?;
    Ok(bound)
}

/// Has a thread serve a connection.
fn begin(
    mut stream: TcpStream,
    number: u64,
    connections: &Arc<Connections>,
    page: &Page,
) -> io::Result<()> {
    connections.enter(number, &stream)?;
    let (all, page) = (Arc::clone(connections), page.clone());
    let serve = move || {
        // A client that goes away is its own affair.
        drop(answer(&mut stream, &page, PATIENCE, || all.asked(number)));
        all.leave(number);
    };
    let begun = thread::Builder::new()
        .name(format!("metrics-{number}"))
        .spawn(serve);
    if begun.is_err() {
        connections.leave(number);
    }
    begun.map(drop)
}

/// Reads one request, calls `asked`, answers it, and closes; all of it takes no longer than `patience`.
fn answer(
    stream: &mut TcpStream,
    page: &Page,
    patience: Duration,
    asked: impl FnOnce(),
) -> io::Result<()> {
    let until = Instant::now() + patience;
    let head = read_head(stream, until)?;
    asked();
    let response = match head {
        Some(head) if head.starts_with(b"HEAD ") => without_body(respond(&head, page)),
        Some(head) => respond(&head, page),
        None => response(
            "431 Request Header Fields Too Large",
            "",
            "the request is too long\n",
        ),
    };
    let mut unsent = response.as_bytes();
    while !unsent.is_empty() {
        stream.set_write_timeout(Some(left(until)?))?;
        let piece = &unsent[..unsent.len().min(PIECE)];
        match stream.write(piece)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            sent => unsent = &unsent[sent..],
        }
    }
    stream.shutdown(Shutdown::Write)?;
    // What came and was not read would make the kernel reset the connection, and the answer with it.
    let mut rest = 0;
    let mut buffer = [0; 1024];
    while rest < LONGEST_REST {
        stream.set_read_timeout(Some(left(until)?))?;
        match stream.read(&mut buffer)? {
            0 => break,
            read => rest += read,
        }
    }
    Ok(())
}

/// The request up to the empty line; nothing if that is too far.
fn read_head(stream: &mut TcpStream, until: Instant) -> io::Result<Option<Vec<u8>>> {
    let mut head = Vec::new();
    let mut buffer = [0; 1024];
    loop {
        stream.set_read_timeout(Some(left(until)?))?;
        let read = stream.read(&mut buffer)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        head.extend_from_slice(&buffer[..read]);
        if head.windows(4).any(|w| w == b"\r\n\r\n") {
            return Ok(Some(head));
        }
        if head.len() >= LONGEST_HEAD {
            return Ok(None);
        }
    }
}

fn left(until: Instant) -> io::Result<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    Ok(left)
}

fn respond(head: &[u8], page: &Page) -> String {
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let words: Vec<&str> = line.split(' ').collect();
    let [method, target, version] = words[..] else {
        return response("400 Bad Request", "", "this is no HTTP request\n");
    };
    if !version.starts_with("HTTP/1.") {
        return response(
            "505 HTTP Version Not Supported",
            "",
            "HTTP/1.0 and HTTP/1.1 are understood\n",
        );
    }
    if target.split('?').next() != Some("/metrics") {
        return response("404 Not Found", "", "the figures are at /metrics\n");
    }
    if !["GET", "HEAD"].contains(&method) {
        return response(
            "405 Method Not Allowed",
            "Allow: GET, HEAD\r\n",
            "this page can be read only\n",
        );
    }
    match page.now() {
        Some(text) => respond_with(
            "200 OK",
            "",
            "text/plain; version=0.0.4; charset=utf-8",
            &text,
        ),
        None => response(
            "503 Service Unavailable",
            "Retry-After: 1\r\n",
            "there are no figures yet\n",
        ),
    }
}

/// The answer to a request for the head alone (RFC 9110, 9.3.2).
fn without_body(mut answer: String) -> String {
    const END: &str = "\r\n\r\n";
    let end = answer.find(END);
    answer.truncate(end.map_or(0, |at| at + END.len()));
    answer
}

fn response(status: &str, headers: &str, text: &str) -> String {
    respond_with(status, headers, "text/plain; charset=utf-8", text)
}

fn respond_with(status: &str, headers: &str, kind: &str, text: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n{headers}Connection: close\r\n\r\n{text}",
        text.len()
    )
}

#[cfg(test)]
mod tests {
    use super::super::connections::MOST;
    use super::*;

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
        assert!(ask(b"GET /metrics HTTP/2\r\n\r\n").contains(" 505 "));
    }

    #[test]
    fn before_there_is_a_page_it_says_so() {
        let text = respond(b"GET /metrics HTTP/1.1\r\n\r\n", &Page::default());
        assert!(text.starts_with("HTTP/1.1 503 "), "{text}");
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
    fn a_client_that_reads_little_by_little_is_not_waited_for() {
        let page = Page::default();
        // More than the kernel keeps for a connection.
        page.publish("x".repeat(64 << 20));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        let begun = Instant::now();
        let answered =
            thread::spawn(move || answer(&mut stream, &page, Duration::from_millis(300), || ()));
        let mut little = vec![0; 256 << 10];
        while !answered.is_finished() && begun.elapsed() < PATIENCE {
            client.read_exact(&mut little).ok();
            thread::sleep(Duration::from_millis(100));
        }
        assert!(answered.is_finished(), "after {:?}", begun.elapsed());
        assert!(answered.join().unwrap().is_err());
    }

    #[test]
    fn an_address_that_is_taken_is_an_error() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let error = serve(taken.local_addr().unwrap(), &Page::default()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    }
}
