//! Tests of the header through which packets read maps, in a process of its own.

use crate::program::{Machine, TableKind};
use control::{Change, Store};
use std::fs;
use std::process::Command;
use writers::Memory;

const READER: &str = r#"
#include <fcntl.h>
#include <onpath/shm.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

static void show(const uint8_t *value, uint32_t size) {
    if (!value)
        printf("none");
    for (uint32_t i = 0; value && i < size; i++)
        printf("%02x", value[i]);
    printf("\n");
}

int main(int argc, char **argv) {
    struct stat about;
    int file = open(argv[1], O_RDWR);
    if (file < 0 || fstat(file, &about))
        return 1;
    uint8_t *base = mmap(NULL, about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (base == MAP_FAILED || sizeof(struct shm_map) != 128 || shm_u64(base, 0) != SHM_VERSION)
        return 2;
    shm_begin(base, 1);
    uint64_t directory = shm_directory(base);
    uint8_t present[12], absent[12];
    memset(present, 5, 12);
    memset(absent, 200, 12);
    uint32_t index = 2;
    show(shm_find(base, directory, shm_map_number(base, "hash"), present, 0), 24);
    show(shm_find(base, directory, shm_map_number(base, "hash"), absent, 0), 24);
    show(shm_find(base, directory, shm_map_number(base, "cores"), &index, 1), 12);
    show(shm_find(base, directory, shm_map_number(base, "core_hash"), present, 1), 4);
    index = 3;
    show(shm_find(base, directory, shm_map_number(base, "cores"), &index, 1), 12);
    uint8_t address[8] = {32, 0, 0, 0, 10, 1, 2, 3}, elsewhere[8] = {32, 0, 0, 0, 11, 1, 2, 3};
    show(shm_find(base, directory, shm_map_number(base, "trie"), address, 0), 4);
    show(shm_find(base, directory, shm_map_number(base, "trie"), elsewhere, 0), 4);
    int ring = shm_map_number(base, "ring"), added = 0;
    while (shm_add(base, directory, ring, "a record", 8))
        added++;
    printf("%d\n", added);
    index = 40;
    show(shm_find(base, directory, shm_map_number(base, argv[2]), &index, 0), 8);
    shm_end(base, 1);
    return shm_map_number(base, "nothing") == -1 ? 0 : 3;
}
"#;

#[test]
fn packets_find_what_writers_have_stored() {
    let machine = Machine::new();
    let mut store = machine.open();
    let set = |name: &str, key: &[u8], value: &[u8]| {
        let map = store.memory.map(name).expect("opens").expect("there");
        map.set(key, value).expect("room");
    };
    for n in 0..60 {
        set("hash", &[n; 12], &[n; 24]);
    }
    set("cores", &2u32.to_ne_bytes(), &[7; 12]);
    set("core_hash", &[5; 4], &[9; 4]);
    for (length, address, value) in [
        (8u32, [10, 0, 0, 0], 1u8),
        (23, [10, 1, 2, 0], 2),
        (24, [10, 9, 2, 0], 3),
    ] {
        set(
            "trie",
            &[&length.to_le_bytes()[..], &address].concat(),
            &[value; 4],
        );
    }
    let table = TableKind::Index.table();
    // The array is in its second location, to which a swap has led.
    let entry = TableKind::Index.entry(40, 0x0102_0304);
    let swap = [Change::Replace(table), Change::Insert(table, entry)];
    store.apply(&swap).expect("applies");
    let layout::LookupAbi::Array { map, .. } = &store.memory.contents().tables[3].lookup else {
        panic!("the table is an array");
    };
    let folder = machine.folder.path();
    let build = tempfile::tempdir().expect("a folder");
    let (source, program) = (build.path().join("reader.c"), build.path().join("reader"));
    fs::write(&source, READER).expect("writes");
    let built = Command::new("cc")
        .args(["-O2", "-Wall", "-Werror", "-Wno-unused-parameter", "-I"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/include"))
        .arg("-o")
        .args([&program, &source])
        .output()
        .expect("a compiler runs");
    let said = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "{said}");
    let read = Command::new(&program)
        .arg(folder.join("state"))
        .arg(map)
        .output();
    let read = read.expect("runs");
    assert!(read.status.success(), "{}", read.status);
    let text = String::from_utf8_lossy(&read.stdout);
    let lines: Vec<&str> = text.lines().collect();
    let (hash, cores) = ("05".repeat(24), "07".repeat(12));
    assert_eq!(
        lines[..8],
        [
            &hash, "none", &cores, "09090909", "none", "02020202", "none", "4"
        ]
    );
    let mut records = Vec::new();
    let ring = store.memory.map("ring").expect("opens").expect("there");
    ring.take(9, &mut |record| records.push(record.to_vec()))
        .expect("reads");
    assert_eq!(records, vec![b"a record".to_vec(); 4]);
    // An action, and its parameter in network order.
    let bytes = [1u32.to_ne_bytes(), 0x0102_0304u32.to_be_bytes()].concat();
    let wanted: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(lines[8], wanted);
}
