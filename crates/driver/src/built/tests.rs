use super::*;
use crate::bpf_target::{Request, Trial, compile};
use crate::{Input, elaborate};
use kernel::features::Kernel;
use std::fs;

/// Builds a program of the repository into a new folder. Returns the folder and the object's path.
fn build(program: &str, kernel: Kernel) -> (tempfile::TempDir, PathBuf) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let source = root.join(program);
    let elaborated = elaborate(&Input::file(&source)).ok().expect("accepted");
    let request = Request {
        kernel,
        trial: Trial::None,
        ..Request::hook(crate::hooks::default_hook(&elaborated.program))
    };
    let compiled = compile(&elaborated.program, &elaborated.map, request).expect("compiles");
    let folder = tempfile::tempdir().expect("a folder");
    let object = folder.path().join("p.o");
    fs::write(&object, &compiled.object).expect("room");
    let described = description(&compiled);
    fs::write(description_of(&object), described.to_string()).expect("room");
    (folder, object)
}

const NEWEST: Kernel = Kernel::Version((6, 18));
const OLDEST: Kernel = Kernel::Version((6, 1));

/// Returns the code and message of an object's refusal, without the folder's name.
fn refused(object: &Path) -> String {
    let refused = read(object).expect_err("refused");
    let folder = format!("{}/", object.parent().expect("a folder").display());
    format!("{} {}", refused.code.0, refused.message).replace(&folder, "")
}

#[test]
fn what_was_written_is_read_as_it_was() {
    for program in ["programs/router/router.p4", "programs/guard/in.p4"] {
        let (_folder, object) = build(program, NEWEST);
        let built = read(&object).expect("whole");
        assert_eq!(built.abi.programs[0].hook, built.hook);
        assert!(built.budget().instructions() > 0);
    }
}

#[test]
fn an_object_and_a_description_of_different_builds_are_refused() {
    let (_first, object) = build("programs/router/router.p4", NEWEST);
    let (_second, other) = build("programs/router/router.p4", OLDEST);
    fs::copy(description_of(&other), description_of(&object)).expect("room");
    let differ = "E0933 `p.o` and `p.json` do not belong together: one of them is damaged, or they are of different builds";
    assert_eq!(refused(&object), differ);
}

#[test]
fn one_changed_byte_is_found_in_the_object_and_in_the_description() {
    let (_folder, object) = build("programs/router/router.p4", NEWEST);
    let bytes = fs::read(&object).expect("written");
    let mut changed = bytes.clone();
    changed[bytes.len() / 2] ^= 1;
    fs::write(&object, changed).expect("room");
    assert!(refused(&object).starts_with("E0933 "));
    fs::write(&object, &bytes[..bytes.len() / 2]).expect("room");
    assert!(refused(&object).starts_with("E0933 "));
    fs::write(&object, bytes).expect("room");
    assert!(read(&object).is_ok());
    let described = fs::read_to_string(description_of(&object)).expect("written");
    let wider = described.replacen("\"key_size\":8", "\"key_size\":9", 1);
    assert_ne!(wider, described);
    fs::write(description_of(&object), wider).expect("room");
    assert!(refused(&object).starts_with("E0933 "));
}

#[test]
fn what_is_no_description_and_what_another_version_wrote_is_said_to_be_that() {
    let (_folder, object) = build("programs/xdp1/xdp1.p4", NEWEST);
    let path = description_of(&object);
    let described = fs::read_to_string(&path).expect("written");
    let newer = described.replacen(
        "\"format\":3,\"onpath\":\"",
        "\"format\":4,\"onpath\":\"9.",
        1,
    );
    assert_ne!(newer, described);
    fs::write(&path, newer).expect("room");
    let own = env!("CARGO_PKG_VERSION");
    assert_eq!(
        refused(&object),
        format!(
            "E0934 `p.o` was built by Onpath 9.{own}, whose objects this one ({own}) cannot load"
        )
    );
    let form = format!("\"version\":{}", Abi::VERSION);
    let other_form = described.replacen(&form, "\"version\":1", 1);
    assert_ne!(other_form, described);
    fs::write(&path, other_form).expect("room");
    assert_eq!(
        refused(&object),
        format!(
            "E0934 `p.o` was built by another build of Onpath {own}, whose objects have another form than those of this one"
        )
    );
    let damaged = "E0932 `p.json` is not the description of an object, or it is damaged:";
    let mut without: Value = serde_json::from_str(&described).expect("JSON");
    without["bpf"] = Value::Null;
    let wrong = without.to_string();
    without.as_object_mut().expect("an object").remove("bpf");
    let half = &described[..described.len() / 2];
    for (text, why) in [
        ("{}", "it has no `object`"),
        (&without.to_string(), "it has no `bpf`"),
        (&wrong, "it has no `bpf`"),
        (half, "it ends too early"),
        ("{\n a", "line 2, column 2 is no JSON"),
        (
            "{\"object\": 5}",
            "it has not the parts that `onpath build` writes",
        ),
    ] {
        fs::write(&path, text).expect("room");
        assert_eq!(refused(&object), format!("{damaged} {why}"));
    }
    fs::remove_file(&path).expect("there");
    assert_eq!(
        refused(&object),
        "E0931 `p.o` has no description: `p.json` cannot be read: No such file or directory"
    );
}

#[test]
fn an_object_is_for_kernels_that_have_what_its_code_uses() {
    let debian_12 = Features::of((6, 1));
    // A table with masks, and a checksum that a driver may have left to the card.
    let needs = [
        ("tests/stf/match/tuple_space.p4", Some(Feature::MayGoto)),
        ("programs/xdp1/xdp1.p4", None),
        ("tests/stf/tc/checksums.p4", Some(Feature::KernelContext)),
    ];
    for (program, lacks) in needs {
        let (_folder, object) = build(program, NEWEST);
        let built = read(&object).expect("whole");
        assert_eq!(built.missing(debian_12), lacks, "{program}");
        assert_eq!(built.missing(Features::newest()), None, "{program}");
        assert!(
            built.made_for_newer(debian_12) >= lacks.map(Feature::since),
            "{program}"
        );
        assert_eq!(built.made_for_newer(Features::newest()), None, "{program}");
        let (_folder, object) = build(program, OLDEST);
        let built = read(&object).expect("whole");
        assert_eq!(built.missing(debian_12), None, "{program}");
        assert_eq!(built.made_for_newer(debian_12), None, "{program}");
    }
}

#[test]
fn a_refusal_names_the_version_that_an_object_needs() {
    let refused = errors::newer_kernel(Path::new("p.o"), Feature::MayGoto, (6, 1));
    assert_eq!(
        refused.message,
        "`p.o` needs Linux 6.9 or newer: it uses may_goto, which Linux 6.1 lacks"
    );
    let help = |kernel| errors::for_kernel(kernel);
    assert_eq!(
        help((6, 4)),
        "build it for this kernel: `onpath build PROGRAM.p4 --kernel 6.4 -o DIR`"
    );
    assert!(help((5, 15)).contains("--kernel 6.1 "));
}

#[test]
fn a_folder_is_its_bundle_or_else_its_object() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let found = || find(folder.path()).map_err(|refused| refused.code.0);
    let touch = |name| fs::write(at(name), "").expect("room");
    assert_eq!(found(), Err("E0938"));
    touch("a.p4");
    assert_eq!(found(), Err("E0938"));
    touch("a.o");
    assert_eq!(found(), Ok(at("a.o")));
    touch("b.o");
    assert_eq!(found(), Err("E0937"));
    touch("c.toml");
    assert_eq!(found(), Ok(at("c.toml")));
    touch("d.toml");
    assert_eq!(found(), Err("E0937"));
    assert_eq!(find(&at("d.p4")), Ok(at("d.p4")));
}
