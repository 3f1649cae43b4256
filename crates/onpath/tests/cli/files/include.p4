#include "mine.p4"
#define LIMIT(x x
#ifdef LIMIT
#error "not for this machine"
