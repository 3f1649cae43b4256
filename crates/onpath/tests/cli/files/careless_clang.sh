#!/bin/bash
# The newest C compiler, which is careless where it optimises in full: see careless.c.

clang=$(compgen -c clang- | grep -xE 'clang-[0-9]+' | sort -V | tail -1)
case " $* " in *' -O2 '*) set -- -DCARELESS "$@" ;; esac
exec "${clang:-clang}" "$@"
