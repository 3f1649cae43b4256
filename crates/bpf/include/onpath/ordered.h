/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Order of loads and stores on the machine that a program is loaded on. */
#ifndef ONPATH_ORDERED_H
#define ONPATH_ORDERED_H

#include "bpf.h"

/* Not 0 if processors see each other's loads and stores in the order of the program, as those of x86 do. The loader
 * sets it; the verifier knows it then, and leaves the other path out. */
const volatile u32 ordered_memory SEC(".rodata.machine") = 0;

#endif
