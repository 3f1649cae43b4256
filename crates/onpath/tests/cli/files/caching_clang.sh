#!/bin/bash
# The newest C compiler, which compiles the same text only once: for sessions that start the same program several times.

clang=$(compgen -c clang- | grep -xE 'clang-[0-9]+' | sort -V | tail -1)
clang=${clang:-clang}
[ "$1" = --version ] && exec "$clang" --version
for argument; do
    case $argument in
        */prog.c) text=$argument ;;
        */prog.o) object=$argument ;;
    esac
done
folder=${text%/*}
# What the object depends on, wherever the scratch folder is.
known=compiled-$( (cd "$folder" && find . -type f -exec sha256sum {} + | sort && echo "${@//"$folder"/}") | sha256sum | cut -c -32).o
[ -e "$known" ] || { "$clang" "$@" && cp "$object" "$known.$$" && mv "$known.$$" "$known"; } && cp "$known" "$object"
