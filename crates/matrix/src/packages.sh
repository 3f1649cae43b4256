#!/bin/sh
# Unpacks the newest of Debian's packages of a kernel in a folder. It is not installed.
# Usage: packages.sh NAME FLAVOUR FOLDER
#   NAME     a version such as 6.1
#   FLAVOUR  the end of the package's name
#   FOLDER   the folder, which is made
set -e
# Another flavour has a word where this one has numbers.
pattern="^linux-image-$(echo "$1" | sed 's/[.]/[.]/')[.][0-9][^-]*(-[0-9][^-]*)*$2\$"
package=$(apt-cache search --names-only "$pattern" | cut -d ' ' -f 1 | sort -V | tail -n 1)
if [ -z "$package" ]; then
    echo "apt knows no package of Linux $1 (\`linux-image-$1.…$2\`): run \`apt-get update\`, or add the" \
        "Debian release that has it to apt's sources (bookworm for 6.1; bookworm-backports or trixie for 6.12)" >&2
    exit 1
fi
# Renamed when it is complete, so that an interrupted one is made again.
rm -rf "$3.part"
mkdir -p "$3.part"
cd "$3.part"
# apt drops privileges for what it fetches where its user may write, and warns where not.
apt-get download -q -o APT::Sandbox::User=root "$package" >/dev/null
dpkg-deb -x ./*.deb .
rm ./*.deb
depmod -b . "${package#linux-image-}"
mv -T "$3.part" "$3"
