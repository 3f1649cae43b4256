#!/bin/sh
# Makes the initial RAM disk of a guest: busybox, the modules that it needs to reach the host's files, and a script that
# makes these its root. All else a guest has from there. The kernel takes a cpio archive in the "new ASCII" format.
# Usage: image.sh BUSYBOX PACKAGE RELEASE INIT SHARES COMMAND FILE
#   BUSYBOX  the program, which runs without libraries
#   PACKAGE  the folder in which the kernel's package is unpacked
#   INIT     the text of the script
#   SHARES   the text of a file that it reads: on each line a tag, and the folder where that is mounted
#   COMMAND  what it runs
#   FILE     the RAM disk, by its absolute path
set -e
disk=$(mktemp -d)
trap 'rm -r "$disk"' EXIT
cd "$disk"
mkdir bin proc sys dev modules lower written root
cp "$1" bin
ln -s busybox bin/sh
printf %s "$4" >init
chmod 755 init
printf %s "$5" >shares
printf %s "$6" >command
printf %s "$2/lib/modules/$3" >modules/folder
# In the order in which they are loaded, those that others need first. What is built into a kernel is no module of it.
modprobe -d "$2" -S "$3" -a --show-depends virtio_pci virtiofs overlay >needed
: >modules/order
# Options may stand behind a file.
while read -r kind file _; do
    name=$(basename "$file" .xz)
    if [ "$kind" != insmod ] || [ -e "modules/$name" ]; then continue; fi
    case $file in
    *.xz) xz -dc "$file" ;;
    *) cat "$file" ;;
    esac >"modules/$name"
    echo "$name" >>modules/order
done <needed
rm needed
find . | "$1" cpio -o -H newc >"$7"
