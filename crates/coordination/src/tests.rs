//! Processes as threads: a service and clients on this machine.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread::spawn;
use std::time::{Duration, Instant};

use crate::{Client, Service, Settings};

const SECOND: Duration = Duration::from_secs(1);

fn settings(port: u16, process: u64, n_processes: u64) -> Settings {
    let address = format!("127.0.0.1:{port}");
    Settings { address, process, n_processes, start: 10 * SECOND, silence: 2 * SECOND, end: 10 * SECOND }
}

/// A service for two processes, and both.
fn pair() -> (Service, Client, Client) {
    let service = Service::start("127.0.0.1:0", 2, 2 * SECOND).expect("a free port");
    let other = spawn({
        let settings = settings(service.port(), 1, 2);
        move || Client::join(settings).expect("process 1 joins")
    });
    let one = Client::join(settings(service.port(), 0, 2)).expect("process 0 joins");
    (service, one, other.join().expect("no panic"))
}

#[test]
fn values_are_shared() {
    let (_service, one, two) = pair();
    one.set("a/x", b"1", false).expect("a new key");
    assert_eq!(two.get("a/x", SECOND).expect("it is there"), b"1");
    assert!(two.set("a/x", b"2", false).expect_err("it is there").message().starts_with("ALREADY_EXISTS"));
    two.set("a/x", b"2", true).expect("it may be overwritten");
    two.set("b", b"", false).expect("a new key");
    assert_eq!(one.list("a").expect("a list"), [("a/x".to_string(), b"2".to_vec())]);
    one.delete("a").expect("deleted");
    assert!(one.try_get("a/x").expect_err("it is gone").message().starts_with("NOT_FOUND"));
    let late = one.get("a/x", Duration::from_millis(50)).expect_err("it does not come");
    assert!(late.message().starts_with("DEADLINE_EXCEEDED"), "{late}");
    assert_eq!((one.increment("n", 2).expect("a sum"), two.increment("n", 3).expect("a sum")), (2, 5));
    assert_eq!(one.live().expect("both"), [0, 1]);
}

#[test]
fn barriers_hold_until_all_are_there() {
    let (_service, one, two) = pair();
    for _ in 0..2 {
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| one.barrier("b", 5 * SECOND, &[]));
            std::thread::sleep(Duration::from_millis(50));
            assert!(!waiting.is_finished());
            two.barrier("b", 5 * SECOND, &[]).expect("both are here");
            waiting.join().expect("no panic").expect("both are here");
        });
    }
    let late = one.barrier("b", Duration::from_millis(100), &[]).expect_err("the other does not come");
    assert!(late.message().contains("Timed out task names: 1"), "{late}");
    one.barrier("own", SECOND, &[0]).expect("it is for one alone");
}

#[test]
fn a_lost_process_ends_all_waits() {
    let (service, one, two) = pair();
    let start = Instant::now();
    // A process that dies says nothing: its connection ends.
    let gone = spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        drop(service);
        std::mem::forget(two);
    });
    let error = one.get("never", 60 * SECOND).expect_err("the coordinator ended");
    assert!(error.message().starts_with("UNAVAILABLE"), "{error}");
    assert!(start.elapsed() < 10 * SECOND);
    gone.join().expect("no panic");
}

#[test]
fn garbage_is_sent_away() {
    let (service, one, _two) = pair();
    for garbage in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0xff; 64], b"PBKCOOR1\xff\xff\xff\xff"] {
        let mut stream = TcpStream::connect(("127.0.0.1", service.port())).expect("the port is open");
        stream.set_read_timeout(Some(10 * SECOND)).expect("a limit");
        stream.write_all(garbage).expect("sent");
        let mut heard = vec![];
        // The end of the connection, perhaps as an error: what was not read is refused.
        let _ = stream.read_to_end(&mut heard);
        assert!(heard.len() <= 8, "{heard:?}");
    }
    one.set("k", b"v", false).expect("the service goes on");
}

#[test]
fn who_does_not_belong_is_refused() {
    let (service, _one, _two) = pair();
    for (process, n, text) in [(1, 2, "ALREADY_EXISTS"), (2, 2, "INVALID_ARGUMENT"), (0, 3, "INVALID_ARGUMENT")] {
        let error = Client::join(settings(service.port(), process, n)).err().expect("refused");
        assert!(error.message().starts_with(text), "{error}");
    }
    let nowhere = Settings { start: Duration::from_millis(200), ..settings(1, 0, 2) };
    let error = Client::join(nowhere).err().expect("nobody listens");
    assert!(error.message().starts_with("DEADLINE_EXCEEDED"), "{error}");
}
