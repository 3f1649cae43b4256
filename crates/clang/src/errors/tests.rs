use super::*;
use diag::Code;
use std::fmt::Write;

fn shown(all: &[Box<Diagnostic>]) -> String {
    let mut text = String::new();
    for d in all {
        let Code(code) = d.code;
        let help = d.help.as_deref().expect("every error has help");
        let _ = writeln!(text, "{code} {}\n  {help}", d.message);
    }
    text
}

#[test]
fn every_refusal_has_its_words_and_help() {
    let old = Clang {
        path: "/usr/bin/clang".into(),
        version: 11,
    };
    let error = io::Error::from_raw_os_error(libc::ENOSPC);
    assert_eq!(
        shown(&[
            no_clang(),
            named_clang_unusable(Path::new("/bin/true")),
            clang_too_old(&old),
            clang_not_run(&old, &error),
            clang_left_nothing(&old, &io::Error::from_raw_os_error(libc::ENOENT)),
            clang_ended(&old, libc::SIGKILL),
            clang_ended(&old, libc::SIGSEGV),
            clang_ended(&old, libc::SIGXCPU),
            clang_without_memory(&old),
            clang_hangs(&old, std::time::Duration::from_secs(60)),
            clang_floods(&old),
            no_seconds("1m"),
            stack_too_large("/tmp/x/prog.c:9:5: error: Looks like the BPF stack limit is exceeded"),
            extern_stack_too_large("sum.c", 9),
            stack_too_large("combined stack size of 2 calls is 544. Too large"),
            clang_refused(&old, "/tmp/x/prog.c:3:1: error: unknown type name 'u33'"),
            no_bpf_target(&old),
            no_scratch_space(Path::new("/tmp"), &error),
            no_extern_file(Path::new("sums.c"), &error),
            too_long(),
            extern_too_long(&["sums.c".into(), "hash.c".into()]),
        ]),
        "\
E0750 no clang found; it is needed to build for the kernel
  install one of version 15 or newer (`apt-get install clang-19`), or set ONPATH_CLANG to its path; `onpath test --target interp` and what `onpath build -o` wrote elsewhere need none
E0751 ONPATH_CLANG names `/bin/true`, which does not answer `--version` as clang does
  set it to the path of a clang of version 15 or newer, or unset it
E0752 `/usr/bin/clang` is clang 11, older than 15
  install a newer one (`apt-get install clang-19`), or set ONPATH_CLANG to its path
E0753 `/usr/bin/clang` could not be run: No space left on device
  check the installation with `onpath doctor`
E0753 `/usr/bin/clang` reported no error, but its object cannot be read: No such file or directory
  check the installation with `onpath doctor`
E0753 `/usr/bin/clang` was ended by SIGKILL (9)
  where memory runs out the kernel ends processes so (`dmesg` tells): free some, and build again
E0753 `/usr/bin/clang` was ended by SIGSEGV (11)
  check the installation with `onpath doctor`
E0753 `/usr/bin/clang` was ended by SIGXCPU (24)
  raise the limit on processor time (`ulimit -t`), and build again
E0753 `/usr/bin/clang` ran out of memory
  free memory, or raise the limit that this process has (`ulimit -v`, its control group's), and build again
E0715 `/usr/bin/clang` had not compiled the program after 60 seconds, and was ended
  if the machine is slow or busy, give it more: ONPATH_CLANG_SECONDS=600; else the compiler may be at fault: `onpath doctor` names it
E0715 `/usr/bin/clang` wrote more than 1 MiB of messages, and was ended
  a C file given by `--extern` may give as many warnings: compile it alone; else the compiler may be at fault: `onpath doctor` names it
E0716 ONPATH_CLANG_SECONDS is `1m`, which is not a number of seconds
  set it to a whole number above 0, such as 60, or unset it
E0754 the program needs more stack than the 512 bytes of a BPF program
  keep fewer values at the same time: compute one where it is used, use narrower types, or split a long function or control
E0754 the function at line 9 of `sum.c` needs more stack than the 512 bytes of a BPF program
  keep large arrays in a map, and fewer values at the same time
E0754 the program needs more stack than the 512 bytes of a BPF program (2 functions that call each other take 544)
  keep fewer values at the same time: compute one where it is used, use narrower types, or split a long function or control
E0755 clang 11 refused the generated C: line 3:1: error: unknown type name 'u33'
  if it is in a C file given by `--extern`, correct that file; else this is a bug in Onpath: `onpath build --emit c` shows the text
E0756 `/usr/bin/clang` was built without the BPF target
  install the distribution's clang (`apt-get install clang-19`)
E0757 no temporary files for the compiler in `/tmp`: No space left on device
  free space there, or set TMPDIR to another folder
E0758 cannot read the C file `sums.c`: No space left on device
  name a file that supplies the program's extern functions after `--extern`
E0759 the program is too long: a jump in it would pass over more than the 32767 instructions that one of BPF can
  let the parser have fewer states and headers, move what several actions do to one place, or split the program and run its parts as a bundle; Linux 6.6 and clang 19 have longer jumps, but for those out of loops
E0759 the C in `sums.c` or `hash.c` is too long: a jump in it would pass over more than the 32767 instructions that one of BPF can
  shorten what its conditions and loops contain; Linux 6.6 and clang 19 have longer jumps, but for those out of loops
"
    );
}
