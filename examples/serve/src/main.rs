//! Serves a compiled function over HTTP: the leaves of its argument as numbers in, those of its result as JSON out.
//!
//! `serve FILE [ADDRESS]` answers `POST /` whose body is the numbers of the only argument, with spaces or commas between.
//! `serve FILE --once` runs the function on zeros and says how long that took from the start of the process.
//! The program holds neither tracer nor compiler nor Python: it is the crate `pullback-native` and a server.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::fmt::Write;
use std::sync::Arc;
use std::time::Instant;

use pullback_native::{Array, Compiled, DType};
use tiny_http::{Method, Request, Response, Server};

type Failed = Box<dyn std::error::Error + Send + Sync>;

/// More numbers than any request should hold are not read.
const MOST_BYTES: usize = 1 << 20;

fn main() -> Result<(), Failed> {
    let start = Instant::now();
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [path, rest @ ..] = &args[..] else { return Err("usage: serve FILE [ADDRESS | --once]".into()) };
    let function = Arc::new(Compiled::load(&std::fs::read(path)?)?);
    if function.in_avals().len() != 1 || function.in_avals()[0].dtype != DType::F32 {
        return Err("this server is for functions of one array of float32".into());
    }
    match rest.first().map_or("127.0.0.1:8000", String::as_str) {
        "--once" => once(&function, start),
        address => serve(&function, address),
    }
}

fn once(function: &Compiled, start: Instant) -> Result<(), Failed> {
    let answer = answer(function, &vec![0.0; function.in_avals()[0].size()])?;
    println!("{answer}\nfirst result {:.2} ms after the start", start.elapsed().as_secs_f64() * 1e3);
    Ok(())
}

fn serve(function: &Arc<Compiled>, address: &str) -> Result<(), Failed> {
    let server = Arc::new(Server::http(address)?);
    println!("listening on http://{}", server.server_addr());
    let n_threads = std::thread::available_parallelism().map_or(2, usize::from);
    let threads: Vec<_> = (0..n_threads)
        .map(|_| {
            let (server, function) = (server.clone(), function.clone());
            std::thread::spawn(move || server.incoming_requests().for_each(|request| respond(&function, request)))
        })
        .collect();
    threads.into_iter().for_each(|thread| drop(thread.join()));
    Ok(())
}

/// Answers one request; whatever is wrong with it is told to who sent it.
fn respond(function: &Compiled, mut request: Request) {
    let (status, text) = match numbers_of(&mut request).and_then(|numbers| answer(function, &numbers)) {
        Ok(text) => (200, text),
        Err(error) => (400, format!("{error}\n")),
    };
    // Who sent it may be gone.
    let _ = request.respond(Response::from_string(text).with_status_code(status));
}

fn numbers_of(request: &mut Request) -> Result<Vec<f32>, Failed> {
    if *request.method() != Method::Post {
        return Err("send the numbers by POST".into());
    }
    let mut text = String::new();
    std::io::Read::read_to_string(&mut std::io::Read::take(request.as_reader(), MOST_BYTES as u64), &mut text)?;
    let words = text.split([',', ' ', '\n', '\t', '\r', '[', ']']).filter(|word| !word.is_empty());
    words.map(|word| word.parse().map_err(|_| format!("{word:?} is no number").into())).collect()
}

/// The leaves of the result as a JSON list for each.
fn answer(function: &Compiled, numbers: &[f32]) -> Result<String, Failed> {
    let aval = function.in_avals()[0];
    if numbers.len() != aval.size() {
        return Err(format!("{} numbers in place of {}", numbers.len(), aval.size()).into());
    }
    let mut text = String::new();
    for leaf in function.run(&[Array::f32s(numbers).reinterpret(aval)?])? {
        let elements: Vec<String> = leaf.elements()?.iter().map(|x| x.as_f64().to_string()).collect();
        writeln!(text, "[{}]", elements.join(", "))?;
    }
    Ok(text)
}
