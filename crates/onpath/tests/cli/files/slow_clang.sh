#!/bin/sh
# A C compiler that takes its time.
[ "$1" = --version ] && echo "clang version 19.0.0" || sleep 5
