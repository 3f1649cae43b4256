/* Common definitions of the hand-written programs. */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
#define SEC(name) __attribute__((section(name), used))
#define __uint(name, value) int(*name)[value]
#define __type(name, value) value *name

static void *(*const lookup)(void *, const void *) = (void *)1;

/* Inputs and results of a test run. */
struct observed {
    u32 port, redirect_ingress, copies, drawn;
    u64 now;
    u32 copy[64], random[64];
};

/* Ports by interface. */
struct {
    __uint(type, 1);
    __uint(max_entries, 8);
    __type(key, u32);
    __type(value, u32);
} inputs SEC(".maps");
