//! Several programs as one: shared state, pins, and that they are complete or absent.

use crate::hand_written_tc::{FLOWS, abi, object, packet, what};
use bpf::abi::{Abi, Hook};
use diag::SourceMap;
use host::linux::kernel_version;
use host::safe_dir::Dir;
use kernel::attachment::TcMethod;
use kernel::bundle::{self, LoadedProgram, SharedMap, Source};
use kernel::pins::{Begun, Pins};
use kernel::port::Port;
use kernel::sys::{Link, Map, Side, Update, filter, tcx_on};
use kernel::{Instance, KernelStore};
use net::interface;
use net::link_settings::{self, Change, InterfaceLocation};
use net::netns::NetNs;
use net::raw_socket::RawSocket;
use net::veth;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use schema::Schema;
use std::io::{self, BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A BPF file system of a test's own, below a folder of its own.
pub(crate) struct BpfFs {
    pub folder: PathBuf,
    pub pins: Pins,
}

impl BpfFs {
    pub(crate) fn new(name: &str) -> BpfFs {
        let folder = std::env::temp_dir().join(format!("onpath-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("makes a folder");
        BpfFs {
            pins: Pins::at(&folder),
            folder,
        }
    }

    fn pinned(&self) -> Vec<String> {
        let all = std::fs::read_dir(self.folder.join("onpath"));
        all.map_or(Vec::new(), |all| {
            let name = |e: io::Result<std::fs::DirEntry>| {
                e.expect("reads").file_name().to_string_lossy().into_owned()
            };
            all.map(name).collect()
        })
    }
}

impl Drop for BpfFs {
    fn drop(&mut self) {
        let _ = self.pins.clear_all();
        let _ = umount2(&self.folder, MntFlags::MNT_DETACH);
        let _ = std::fs::remove_dir(&self.folder);
        // The killed commands' object.
        let _ = std::fs::remove_file(self.folder.with_extension("o"));
    }
}

/// Runs work in a namespace with a pair of devices.
fn in_namespace(work: impl FnOnce() -> io::Result<()> + Send) {
    let ns = NetNs::new().expect("this test needs root");
    ns.run(|| {
        veth::make_pairs(&[("one".into(), "two".into())])?;
        work()
    })
    .expect("runs");
}

/// `BPF_MAP_TYPE_ARRAY`
const ARRAY: u32 = 2;

const HOOKS: [Hook; 2] = [Hook::TcIngress, Hook::TcEgress];

fn load_two(
    objects: [&[u8]; 2],
    abis: [&Arc<Abi>; 2],
    shared: &[SharedMap],
) -> Result<Vec<Instance>, bundle::LoadRefused> {
    let (schema, map) = (Arc::new(Schema::default()), SourceMap::new());
    let sources: Vec<Source> = (0..2)
        .map(|n| Source {
            name: ["in", "out"][n],
            object: objects[n],
            abi: abis[n],
            schema: &schema,
            sources: &map,
        })
        .collect();
    bundle::load(&sources, shared)
}

fn shared(a: &str, b: &str) -> SharedMap {
    SharedMap {
        maps: vec![(0, a.into()), (1, b.into())],
    }
}

/// Loads both programs for `one`, with one state for flows.
pub(crate) fn members(object: &[u8]) -> Vec<LoadedProgram> {
    let abis = HOOKS.map(|hook| Arc::new(abi(hook, FLOWS)));
    let loaded = load_two(
        [object, object],
        [&abis[0], &abis[1]],
        &[shared("flows", "flows")],
    );
    let loaded = loaded.unwrap_or_else(|r| panic!("{}", r.failure.diagnostic.message));
    let port = Port {
        number: 0,
        name: "one".into(),
        index: interface::index("one").expect("there"),
    };
    loaded
        .into_iter()
        .zip(["in", "out"])
        .map(|(instance, name)| LoadedProgram {
            name: name.into(),
            instance,
            ports: vec![port.clone()],
            targets: vec![],
        })
        .collect()
}

/// Returns the map of the flows.
fn flows(store: &KernelStore) -> &Map {
    let found = store.memory.maps.get("flows").expect("it can be opened");
    found.expect("the program has it")
}

/// Returns the number of packets that the programs with the shared state saw.
fn seen(store: &KernelStore) -> u64 {
    let value = flows(store).get(&0u32.to_ne_bytes());
    let value = value.expect("reads").expect("is there");
    u64::from_ne_bytes(value.try_into().expect("8 bytes"))
}

/// Sends a packet through `one` each way, and reports whether both arrive.
fn packets_pass() -> io::Result<bool> {
    let (one, two) = (RawSocket::open("one")?, RawSocket::open("two")?);
    let wanted = packet(what::PASS, 0);
    two.send(&wanted)?;
    one.send(&wanted)?;
    let arrived = |socket: &RawSocket| -> io::Result<bool> {
        Ok(socket.wait(2000)? && socket.receive()?.is_some_and(|p| p.bytes == wanted))
    };
    Ok(arrived(&one)? && arrived(&two)?)
}

/// Tests whether a program runs at `one`: at ingress, at egress.
fn working() -> [bool; 2] {
    let index = interface::index("one").expect("there");
    [Side::Ingress, Side::Egress].map(|side| {
        let links = tcx_on(index, side).expect("reads");
        let filters = filter::filters(index, side).expect("reads");
        let filters = filters.iter().filter(|f| f.name.starts_with("onpath_gate"));
        // An empty gate runs nothing.
        let full = |id: u32| -> io::Result<bool> {
            let array = kernel::sys::Prog::by_id(id)?.map_ids()?[0];
            let array = kernel::sys::Map::by_id(array)?;
            Ok(array.get(&0u32.to_ne_bytes())?.is_some())
        };
        !links.is_empty()
            || filters
                .into_iter()
                .any(|f| full(f.prog_id).unwrap_or(false))
    })
}

/// Waits until no program runs at `one`. A link that is closed, not detached, lives on in the commands that other
/// tests start, from their fork to their exec.
fn await_nothing_works() {
    let started = Instant::now();
    while working() != [false; 2] {
        assert!(
            started.elapsed() < Duration::from_secs(5),
            "{:?}",
            working()
        );
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn segments() -> Option<u32> {
    let index = interface::index("one").expect("there");
    link_settings::read(index).expect("reads").gso_max_segs
}

/// Attaches and pins both programs, with a link setting.
fn start(pins: &Pins, members: &[LoadedProgram], way: TcMethod) {
    let port = &members[0].ports[0];
    let mut begun: Begun = pins
        .begin("both")
        .unwrap_or_else(|d| panic!("{}", d.message));
    begun
        .change_link(
            &InterfaceLocation::here(&port.name, port.index),
            Change::segments(1),
        )
        .unwrap_or_else(|d| panic!("{}", d.message));
    let attached = bundle::attach(members, way).unwrap_or_else(|d| panic!("{}", d.message));
    begun
        .commit(members, attached)
        .unwrap_or_else(|d| panic!("{}", d.message));
}

#[test]
fn programs_of_a_bundle_share_state_outlive_their_loader_and_go_together() {
    for way in [TcMethod::Best, TcMethod::Clsact] {
        let fs = BpfFs::new("share");
        in_namespace(|| {
            let before = segments();
            {
                let members = members(&object(false, FLOWS));
                let ids: Vec<u32> = members
                    .iter()
                    .map(|m| flows(&m.instance.store).info().id)
                    .collect();
                assert_eq!(ids[0], ids[1]);
                start(&fs.pins, &members, way);
            }
            assert_eq!(working(), [true; 2], "{way:?}");
            assert_eq!(segments(), Some(1));
            assert!(packets_pass()?);
            let (record, store) = fs.pins.open("both", Some("in")).expect("opens");
            assert_eq!(record.hook, Hook::TcIngress);
            assert_eq!(
                store.memory.maps.open().count(),
                0,
                "what nobody needs stays closed"
            );
            assert!(seen(&store) >= 2);
            let open: Vec<&str> = store.memory.maps.open().map(|(name, _)| name).collect();
            assert_eq!(open, ["flows"]);
            let (_, other) = fs.pins.open("both", Some("out")).expect("opens");
            assert_eq!(seen(&store), seen(&other));
            let which = fs.pins.open("both", None).expect_err("which?");
            assert_eq!(which.code.0, "E0799");
            assert_eq!(fs.pins.names().expect("reads"), ["both"]);
            let taken = fs.pins.begin("both").expect_err("taken");
            assert_eq!(taken.code.0, "E0783");
            let modes: Vec<String> = fs
                .pins
                .record("both")
                .expect("reads")
                .members
                .iter()
                .map(|m| m.interfaces[0].mode.clone())
                .collect();
            let mode = if way == TcMethod::Best && kernel_version() >= (6, 6) {
                "tcx"
            } else {
                "clsact"
            };
            assert_eq!(modes, [mode; 2]);
            drop((store, other));
            fs.pins.remove("both").expect("removes");
            assert_eq!(working(), [false; 2], "{way:?}");
            assert_eq!(segments(), before);
            assert_eq!(fs.pinned(), [""; 0]);
            let index = interface::index("one").expect("there");
            for side in [Side::Ingress, Side::Egress] {
                assert_eq!(filter::filters(index, side)?, []);
            }
            assert!(packets_pass()?);
            Ok(())
        });
    }
}

#[test]
fn an_allowance_of_memory_stays_with_the_program() {
    let fs = BpfFs::new("allowance");
    in_namespace(|| {
        let mut members = members(&object(false, FLOWS));
        members.truncate(1);
        assert_eq!(members[0].instance.store.memory.allowance, None);
        let (abi, map) = (Arc::new(abi(Hook::TcIngress, FLOWS)), SourceMap::new());
        let source = [Source {
            name: "in",
            object: &object(false, FLOWS),
            abi: &abi,
            schema: &Arc::new(Schema::default()),
            sources: &map,
        }];
        let mut loader = bundle::Loader::new(&source, &[]).allow_memory(Some(1 << 30));
        loader.load_next().expect("takes less");
        members[0].instance = loader.loaded().remove(0);
        start(&fs.pins, &members, TcMethod::Best);
        let (_, store) = fs.pins.open("both", None).expect("opens");
        assert_eq!(store.memory.allowance, Some(1 << 30));
        Ok(())
    });
}

#[test]
fn filters_are_removed_from_another_namespace_too() {
    let fs = BpfFs::new("away");
    let ns = NetNs::new().expect("this test needs root");
    let inside = ns.run(|| {
        veth::make_pairs(&[("one".into(), "two".into())])?;
        start(&fs.pins, &members(&object(false, FLOWS)), TcMethod::Clsact);
        assert_eq!(working(), [true; 2]);
        // A namespace is there for its users, and found by them.
        Command::new("sleep").arg("60").spawn()
    });
    let mut inside = inside.expect("runs");
    fs.pins.remove("both").expect("removes");
    inside.kill().expect("it runs");
    inside.wait().expect("it ends");
    ns.run(|| {
        let index = interface::index("one").expect("there");
        for side in [Side::Ingress, Side::Egress] {
            assert_eq!(filter::filters(index, side)?, []);
        }
        Ok(())
    })
    .expect("runs");
}

#[test]
fn states_that_differ_are_not_shared() {
    let (eight, nine) = (object(false, FLOWS), object(false, 9));
    let [a, b] = HOOKS.map(|hook| Arc::new(abi(hook, FLOWS)));
    let refusal = |object: &[u8], other: &Arc<Abi>, map: &str| {
        let refused = load_two([&eight, object], [&a, other], &[shared("flows", map)]);
        let refused = refused.expect_err("refused");
        assert_eq!(refused.member, 1);
        let diagnostic = refused.failure.diagnostic;
        (diagnostic.code.0, diagnostic.message)
    };
    let (code, message) = refusal(&nine, &Arc::new(abi(Hook::TcEgress, 9)), "flows");
    assert_eq!(code, "E0791");
    for part in ["`in`", "`out`", "8 flows of", "9 flows of"] {
        assert!(message.contains(part), "{message}");
    }
    let mut other = abi(Hook::TcEgress, FLOWS);
    other.contents.flow_states[0].value[0].width = 32;
    let (code, message) = refusal(&eight, &Arc::new(other), "flows");
    assert_eq!(code, "E0791");
    assert!(message.contains("(bit<32> at 0)"), "{message}");
    assert_eq!(refusal(&eight, &b, "outputs").0, "E0790");
}

#[test]
fn an_attachment_that_fails_takes_the_others_off() {
    let fs = BpfFs::new("fails");
    in_namespace(|| {
        let before = segments();
        for way in [TcMethod::Best, TcMethod::Clsact] {
            let mut members = members(&object(false, FLOWS));
            members[1].ports[0].index = 0x7fff_fff0;
            let mut begun = fs.pins.begin("both").expect("free");
            let index = interface::index("one").expect("there");
            begun
                .change_link(&InterfaceLocation::here("one", index), Change::segments(1))
                .expect("changes");
            let refused = bundle::attach(&members, way).expect_err("gone");
            assert_eq!(refused.code.0, "E0794");
            drop(begun);
            await_nothing_works();
            assert_eq!(segments(), before);
            assert_eq!(fs.pinned(), [""; 0]);
        }
        Ok(())
    });
}

/// The child's part of the test below: makes and removes a bundle until it is killed.
#[test]
fn make_and_remove_until_killed() {
    let Ok(folder) = std::env::var("ONPATH_TEST_KILL") else {
        return;
    };
    let folder = Path::new(&folder);
    let object = std::fs::read(folder.with_extension("o")).expect("reads");
    let way = std::env::var("ONPATH_TEST_WAY").unwrap_or_default();
    let (way, alone) = match way.as_str() {
        "clsact" => (TcMethod::Clsact, false),
        "alone" => (TcMethod::Best, true),
        _ => (TcMethod::Best, false),
    };
    let pins = Pins::at(folder);
    loop {
        let mut members = members(&object);
        if alone {
            members.pop();
        }
        println!("ready");
        start(&pins, &members, way);
        // Otherwise it would be complete for a thousandth of the time only.
        std::thread::sleep(Duration::from_millis(30));
        pins.remove("both").expect("removes");
        println!("removed");
    }
}

/// Starts such a child, and waits until it is about to make a bundle.
fn start_child(fs: &BpfFs, way: &str) -> io::Result<(Child, Lines<BufReader<ChildStdout>>)> {
    let mut child = Command::new(std::env::current_exe()?)
        .args([
            "bundles::make_and_remove_until_killed",
            "--exact",
            "--nocapture",
        ])
        .env("ONPATH_TEST_KILL", &fs.folder)
        .env("ONPATH_TEST_WAY", way)
        .stdout(Stdio::piped())
        .spawn()?;
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    wait_for(&mut lines, "ready");
    Ok((child, lines))
}

fn wait_for(lines: &mut Lines<BufReader<ChildStdout>>, word: &str) {
    let said = lines.any(|l| l.is_ok_and(|l| l.contains(word)));
    assert!(said, "the child ended by itself");
}

fn end(mut child: Child) -> io::Result<()> {
    kill(Pid::from_raw(child.id() as i32), Signal::SIGKILL)?;
    child.wait().map(|_| ())
}

/// Measures the time in which a child makes and removes a bundle. The second round counts, because the first has work
/// that is done once.
fn round(fs: &BpfFs, way: &str) -> io::Result<Duration> {
    let (child, mut lines) = start_child(fs, way)?;
    wait_for(&mut lines, "removed");
    wait_for(&mut lines, "ready");
    let started = Instant::now();
    wait_for(&mut lines, "removed");
    let took = started.elapsed();
    end(child)?;
    Ok(took)
}

/// Waits until the kernel has destroyed the dead process, and tests that either everything works or nothing does.
/// Returns true if everything does.
fn settle(fs: &BpfFs, alone: bool) -> bool {
    let started = Instant::now();
    loop {
        let whole = fs.pins.names().expect("reads") == ["both"];
        if working() == [whole, whole && !alone] {
            return whole;
        }
        let state = (whole, working());
        assert!(started.elapsed() < Duration::from_secs(60), "{state:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn killed_at_any_moment(way: &str, times: u64) {
    let fs = BpfFs::new(way);
    let object_file = fs.folder.with_extension("o");
    std::fs::write(&object_file, object(false, FLOWS)).expect("writes");
    in_namespace(|| {
        let (before, alone) = (segments(), way == "alone");
        let mut wholes = 0;
        let round = round(&fs, way)?.as_micros() as u64;
        settle(&fs, alone);
        fs.pins.clear_all().expect("clears");
        for n in 0.. {
            // More rounds if all were alike: the time that things take is up to the machine.
            if n >= 4 * times || n >= times && wholes > 0 && wholes < n {
                break;
            }
            // The delays are spread evenly over a round, in an order independent of it. A child's first round takes
            // longer; on an emulated processor, several times as long. If none was complete until then, the next ones
            // have more time.
            let most = round << (n / times);
            let delay = Duration::from_micros(n * 7919 % times * most / times);
            let (child, _lines) = start_child(&fs, way)?;
            std::thread::sleep(delay);
            end(child)?;
            let whole = settle(&fs, alone);
            wholes += u64::from(whole);
            assert!(packets_pass()?, "{way} after {delay:?}");
            if whole {
                assert_eq!(segments(), Some(1));
                let (_, store) = fs.pins.open("both", Some("in")).expect("opens");
                assert!(seen(&store) >= if alone { 1 } else { 2 }, "it counts");
            }
            // Every other time the next command is the child's own, which finds what there is.
            if whole || n % 2 == 0 {
                fs.pins.clear_all().expect("clears");
                assert_eq!(working(), [false; 2]);
                assert_eq!(segments(), before);
                assert_eq!(fs.pinned(), [""; 0]);
            }
        }
        assert!(wholes > 0, "{way}: never whole");
        Ok(())
    });
}

#[test]
fn a_bundle_whose_command_is_killed_is_whole_or_not_there() {
    killed_at_any_moment("tcx", 40);
}

#[test]
fn a_bundle_of_filters_whose_command_is_killed_is_whole_or_not_there() {
    killed_at_any_moment("clsact", 30);
}

#[test]
fn a_single_program_whose_command_is_killed_is_whole_or_not_there() {
    killed_at_any_moment("alone", 15);
}

#[test]
fn what_another_version_pinned_is_named_and_removed() {
    let fs = BpfFs::new("version");
    in_namespace(|| {
        let members = members(&object(false, FLOWS));
        let begun = fs.pins.begin("both").expect("free");
        drop(begun);
        let folder = fs.folder.join("onpath/old");
        std::fs::create_dir(&folder)?;
        let json = br#"{"version":1,"instance":"old","interfaces":[]}"#;
        let record = Map::create(ARRAY, "onpath_record", 4, json.len() as u32, 1, 0)?;
        record.set(&0u32.to_ne_bytes(), json, Update::Any)?;
        record.pin(&Dir::at(&folder)?, "record")?;
        let index = interface::index("one").expect("there");
        let prog = members[0].instance.program.prog();
        let link = Link::attach_tcx(prog, index, Side::Ingress)?;
        link.pin(&Dir::at(&folder)?, "link-7")?;
        drop(link);
        assert_eq!(fs.pins.names().expect("reads"), ["old"]);
        let refused = fs.pins.record("old").expect_err("another version");
        assert!(refused.message.contains("another version"), "{refused:?}");
        assert_eq!(working(), [true, false]);
        fs.pins.remove("old").expect("removes");
        assert_eq!(working(), [false; 2]);
        assert_eq!(fs.pinned(), [""; 0]);
        Ok(())
    });
}

/// Makes a folder in Onpath's folder without an instance. It cannot be removed while something is mounted in it.
fn stuck(fs: &BpfFs, name: &str) -> PathBuf {
    let inside = fs.folder.join("onpath").join(name).join("member-0");
    std::fs::create_dir_all(&inside).expect("makes a folder");
    let none = None::<&str>;
    mount(Some("none"), &inside, Some("tmpfs"), MsFlags::empty(), none).expect("mounts");
    inside
}

#[test]
fn what_cannot_be_removed_is_in_nobodys_way() {
    in_namespace(|| {
        let fs = BpfFs::new("stuck");
        let object = object(false, FLOWS);
        start(&fs.pins, &members(&object), TcMethod::Best);
        fs.pins.remove("both").expect("goes");
        let inside = stuck(&fs, "a");
        let garbage = fs.folder.join("onpath/b");
        std::fs::create_dir(&garbage)?;
        let refused = fs.pins.mend().expect_err("it is mounted on");
        assert_eq!(refused.code.0, "E0718", "{}", refused.message);
        assert_eq!(fs.pinned(), ["a"], "what can be removed is");
        start(&fs.pins, &members(&object), TcMethod::Best);
        fs.pins
            .remove("both")
            .expect("goes although something else does not");
        umount2(&inside, MntFlags::empty())?;
        fs.pins.mend().expect("nothing is in its way any more");
        assert_eq!(fs.pinned(), [""; 0]);
        Ok(())
    });
}

#[test]
fn what_a_dead_process_left_is_removed_however_long_another_command_takes() {
    in_namespace(|| {
        let fs = BpfFs::new("busy");
        let object = object(false, FLOWS);
        start(&fs.pins, &members(&object), TcMethod::Best);
        let pins = fs.pins.clone().patient_for(Duration::from_millis(20));
        let held = pins.begin("another").expect("the name is free");
        std::fs::create_dir(fs.folder.join("onpath/garbage"))?;
        let busy = pins.mend().expect_err("another command has the lock");
        assert!(
            busy.message.contains("another onpath command"),
            "{}",
            busy.message
        );
        std::thread::scope(|scope| {
            let mending = scope.spawn(|| pins.mend_at_last());
            std::thread::sleep(Duration::from_millis(200));
            assert!(!mending.is_finished());
            drop(held);
            let done = mending.join().expect("it ends");
            done.expect("it is removed");
        });
        assert_eq!(fs.pinned(), ["both"]);
        Ok(())
    });
}

#[test]
fn what_another_mount_namespace_holds_is_left_alone_until_all_is_to_go() {
    let fs = BpfFs::new("space");
    drop(fs.pins.begin("both").expect("free"));
    let folder = fs.folder.join("onpath/both");
    std::fs::create_dir_all(folder.join("space-1")).expect("makes");
    std::fs::create_dir(fs.folder.join("onpath/garbage")).expect("makes");
    drop(fs.pins.begin("other").expect("free"));
    assert_eq!(fs.pinned(), ["both"]);
    let refused = fs.pins.begin("both").expect_err("held elsewhere");
    assert_eq!(refused.code.0, "E0789");
    assert_eq!(fs.pins.names().expect("reads"), [""; 0]);
    fs.pins.clear_all().expect("clears");
    assert_eq!(fs.pinned(), [""; 0]);
}
