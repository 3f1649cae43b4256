//! Programs, bundles and queries that are started, changed and stopped without a command line. Needs root.

use bpf::abi::Hook;
use control::entries::{self, Existing};
use control::{Piece, Store};
use diag::{Diagnostics, SourceMap};
use driver::bpf_target::{self, Request};
use driver::bundle::Ports;
use driver::run::{
    Alone, AtHooks, Ended, Lasts, NotStarted, Observer, Options, ProgressStep, Unit, Unsuited,
    start,
};
use driver::{Input, built};
use kernel::attachment::{Mode, TcMethod, TcOrder};
use kernel::{KernelStore, Pins};
use net::netns::NetNs;
use net::raw_socket::RawSocket;
use net::veth;
use nix::mount::{MntFlags, umount2};
use std::cell::RefCell;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use telemetry::{Catalogue, Cell, NoMessages, Reading, Row, Stores};
use testkit::files::root;

/// Runs a test in a network namespace with a veth pair, and with its own folder of pins.
fn in_kernel(test: &str, work: impl FnOnce(&Pins) + Send) {
    let folder = std::env::temp_dir().join(format!("onpath-driver-{test}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("makes a folder");
    let pins = Pins::at(&folder);
    let ns = NetNs::new().expect("this test needs root");
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        ns.run(|| {
            veth::make_pairs(&[("one".into(), "two".into())])?;
            work(&pins);
            Ok(())
        })
        .expect("runs");
    }));
    let _ = pins.clear_all();
    let _ = umount2(&folder, MntFlags::MNT_DETACH);
    let _ = std::fs::remove_dir(&folder);
    done.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

/// An observer that keeps all reports.
#[derive(Default)]
struct Reports(RefCell<Vec<String>>);

impl Observer for Reports {
    fn during(&self, step: &ProgressStep, work: &mut dyn FnMut()) {
        self.0.borrow_mut().push(step.to_string());
        work();
    }

    fn warn(&self, _: &Diagnostics, _: &SourceMap) {}

    fn notice(&self, text: &str) {
        self.0.borrow_mut().push(text.to_owned());
    }
}

fn program(path: &str, dev: &[&str]) -> Alone {
    Alone {
        file: root().join("programs").join(path),
        ..program_at(dev)
    }
}

fn program_at(dev: &[&str]) -> Alone {
    Alone {
        ports: Ports {
            dev: dev.iter().map(|dev| (*dev).to_owned()).collect(),
            ..Ports::default()
        },
        ..Alone::default()
    }
}

fn open(pins: &Pins, instance: &str, program: Option<&str>) -> KernelStore {
    pins.open(instance, program).expect("it runs").1
}

fn change(store: &mut KernelStore, line: &str) {
    let lines = [Piece::new(line, 0)];
    entries::load(lines, Existing::Keep, store).expect("it fits");
}

/// Sends a packet of TCP to this port from one device to the other.
fn send(port: u16) {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
    frame.extend([0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 6, 0, 0]);
    frame.extend([10, 0, 0, 1, 10, 0, 0, 2]);
    frame.extend(50_000_u16.to_be_bytes());
    frame.extend(port.to_be_bytes());
    frame.extend([0; 8]);
    // Five words of header.
    frame.push(0x50);
    frame.resize(60, 0);
    let socket = RawSocket::open("two").expect("a socket");
    socket.send(&frame).expect("is sent");
}

#[test]
fn a_program_is_started_changed_and_ended() {
    in_kernel("program", |pins| {
        let reports = Reports::default();
        let unit = Unit::alone(Alone {
            entries: Some(root().join("programs/router/entries.txt")),
            ..program("router/router.p4", &["one", "two"])
        });
        let options = Options {
            observer: &reports,
            ..Options::default()
        };
        let running = start(unit, pins, &options).expect("it starts");
        assert_eq!(running.name(), "router");
        let at: Vec<(&str, u32, Mode)> = running
            .attached
            .iter()
            .map(|at| (at.port.name.as_str(), at.port.number, at.how.mode))
            .collect();
        assert_eq!(at, [("one", 0, Mode::Native), ("two", 1, Mode::Native)]);
        assert_eq!(running.filled.len(), 1);
        assert!(running.instructions > 0 && running.compiler_time.is_some());
        let file = root().join("programs/router/entries.txt");
        let file = file.display();
        assert_eq!(
            *reports.0.borrow(),
            [
                format!("router: checking entries in {file}"),
                "router: compiling".to_owned(),
                "router: the kernel verifies it".to_owned(),
                format!("router: changing tables by {file}"),
            ]
        );
        let mut store = open(pins, "router", None);
        let routes = store.schema().tables.keys().next().expect("a table");
        let before = store.entries(routes).expect("can be read").len();
        change(&mut store, "add routes hdr.ipv4.dst:198.51.100.0/24 drop()");
        assert_eq!(
            store.entries(routes).expect("can be read").len(),
            before + 1
        );
        assert!(!running.is_gone() && !running.has_no_interface());
        assert_eq!(running.end(), Ok(Ended::Detached));
        assert_eq!(pins.names(), Ok(Vec::new()));
    });
}

#[test]
fn a_bundle_is_started_changed_and_ended_by_another() {
    in_kernel("bundle", |pins| {
        let file = root().join("programs/guard/guard.toml");
        let unit = Unit::from_file(&file, Some("mine".into()), &["one".into()]).expect("is read");
        let running = start(unit, pins, &Options::default()).expect("it starts");
        let programs: Vec<&str> = running
            .attached
            .iter()
            .map(|at| at.program.as_str())
            .collect();
        assert_eq!(programs, ["mine/out", "mine/in"]);
        let mut store = open(pins, "mine", Some("in"));
        change(&mut store, "add services protocol:6 port:443 open()");
        pins.remove("mine").expect("it is there");
        assert!(running.is_gone());
        assert_eq!(running.end(), Ok(Ended::ByAnother));
    });
}

#[test]
fn a_query_is_started_read_and_dropped() {
    in_kernel("query", |pins| {
        let (text, messages) = ("count by tcp.dst_port", &NoMessages);
        let mut map = SourceMap::new();
        let catalogue = Catalogue::new(messages);
        let query = telemetry::compile(text, &catalogue, &mut map).expect("a query");
        let program = telemetry::program(&query, text, messages, 64).expect("runs on the path");
        let one = ["one".to_owned()];
        let hooks = [
            ("in", Hook::TcIngress, &one[..]),
            ("out", Hook::TcEgress, &one[..]),
        ];
        let unit = Unit::at_hooks(AtHooks {
            name: "ports".into(),
            called: "a query",
            text: program.into(),
            hooks: &hooks,
            shared: telemetry::objects_of(&query, messages),
        });
        let reports = Reports::default();
        let options = Options {
            observer: &reports,
            start_soon: true,
            ..Options::default()
        };
        let running = start(unit, pins, &options).expect("it starts");
        // The program is the same at both hooks.
        let steps = [
            "ports/in: compiling",
            "ports/in: the kernel verifies it",
            "ports/out: the kernel verifies it",
        ];
        assert_eq!(*reports.0.borrow(), steps);
        let opened = hooks.map(|(name, ..)| open(pins, "ports", Some(name)));
        let mut stores = Stores(opened.into());
        for port in [80, 443, 80] {
            send(port);
        }
        let mut reading = Reading::new(query);
        let until = Instant::now() + Duration::from_secs(30);
        loop {
            let report = reading.report(&mut stores, 1.0).expect("can be read");
            let row = |row: &Row| (row.keys[0].to_string(), row.cells[0].clone());
            let rows: Vec<(String, Cell)> = report.rows.iter().map(row).collect();
            // The kernel may deliver packets late.
            let wanted = [
                ("80".into(), Cell::Number(2)),
                ("443".into(), Cell::Number(1)),
            ];
            if rows == wanted {
                break;
            }
            assert!(Instant::now() < until, "{rows:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
        drop(running);
        assert_eq!(pins.names(), Ok(Vec::new()));
    });
}

#[test]
fn an_object_outlives_what_started_it() {
    in_kernel("object", |pins| {
        let source = root().join("programs/router/router.p4");
        let elaborated =
            driver::elaborate(&Input::file(source)).unwrap_or_else(|_| panic!("is right"));
        let (program, sources) = (&elaborated.program, &elaborated.map);
        let compiled = bpf_target::compile(program, sources, Request::hook(Hook::Xdp));
        let compiled = compiled.expect("is compiled");
        let folder = tempfile::tempdir().expect("a folder");
        let object = folder.path().join("built.o");
        let description = built::description(&compiled).to_string();
        std::fs::write(&object, &compiled.object).expect("is written");
        std::fs::write(built::description_of(&object), description).expect("is written");

        let unit = || {
            Unit::alone(Alone {
                file: object.clone(),
                ..program_at(&["one", "two"])
            })
        };
        let options = Options {
            lasts: Lasts::Detached,
            ..Options::default()
        };
        let running = start(unit(), pins, &options).expect("it starts");
        assert_eq!(running.compiler_time, None);
        running.leave();
        assert_eq!(pins.names(), Ok(vec!["built".to_owned()]));
        // The same unit is left as it is, and another unit cannot take its name.
        let same = start(unit(), pins, &options).expect_err("it runs already");
        assert!(matches!(same, NotStarted::Unchanged { .. }), "{same:?}");
        let fewer = Unit::alone(Alone {
            file: object.clone(),
            ..program_at(&["one"])
        });
        let taken = start(fewer, pins, &options).expect_err("its name is taken");
        assert!(matches!(taken, NotStarted::Wrong(_)), "{taken:?}");
        pins.remove("built").expect("it is there");
        assert_eq!(pins.names(), Ok(Vec::new()));
    });
}

/// Returns the reason why a unit does not start, and checks that nothing of it is left.
fn refused(pins: &Pins, unit: Unit, options: &Options<'_>) -> NotStarted {
    let why = start(unit, pins, options).expect_err("it cannot run");
    assert_eq!(pins.names(), Ok(Vec::new()));
    why
}

#[test]
fn errors_are_values() {
    in_kernel("errors", |pins| {
        let plain = Options::default();
        let unit = |path, dev| Unit::alone(program(path, &[dev]));
        let NotStarted::Wrong(report) = refused(pins, unit("router/router.p4", "none"), &plain)
        else {
            panic!("there is no such interface");
        };
        assert!(report.diagnostics.has_errors());

        let at_xdp = Alone {
            hook: Some(Hook::Xdp),
            ..program("guard/in.p4", &["one"])
        };
        let unfit = refused(pins, Unit::alone(at_xdp), &plain);
        assert!(matches!(unfit, NotStarted::Unfit(_)), "{unfit:?}");

        let clsact = Options {
            method: TcMethod::Clsact,
            ..Options::default()
        };
        let order = TcOrder::Before("another".to_owned());
        let before = Options {
            order: &order,
            ..Options::default()
        };
        for (options, asked) in [(clsact, "--clsact"), (before, "--before")] {
            let unsuited = refused(pins, unit("router/router.p4", "one"), &options);
            let NotStarted::Unsuited(Unsuited::NothingAtTc { name, flag }) = unsuited else {
                panic!("{unsuited:?}");
            };
            assert_eq!((name.as_str(), flag), ("router", asked));
        }

        let missing = refused(
            pins,
            Unit::alone(Alone {
                file: PathBuf::from("none.p4"),
                ..program("", &["one"])
            }),
            &plain,
        );
        assert!(matches!(missing, NotStarted::Wrong(_)), "{missing:?}");
    });
}
