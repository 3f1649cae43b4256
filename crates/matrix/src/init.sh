#!/bin/sh
# The first process of a guest: mounts what the host shares, as the root, and starts the tests there.

b=/bin/busybox

give_up() {
    echo "matrix: $*"
    echo o >/proc/sysrq-trigger
    $b sleep 60
}

$b mount -t proc proc /proc
$b mount -t sysfs sysfs /sys
$b mount -t devtmpfs devtmpfs /dev
while read -r module; do
    $b insmod "/modules/$module" || give_up "module $module"
done </modules/order

# The host's files, in which nothing that the guest writes arrives.
$b mount -t virtiofs -o ro root /lower || give_up "the host's files"
$b mount -t tmpfs -o mode=755 tmpfs /written
$b mkdir /written/files /written/work
$b mount -t overlay -o lowerdir=/lower,upperdir=/written/files,workdir=/written/work overlay /root || give_up overlay

# What the guest writes for the host.
while read -r tag folder; do
    $b mkdir -p "/root$folder"
    $b mount -t virtiofs "$tag" "/root$folder" || give_up "the share $folder"
done </shares

for folder in proc sys dev; do
    $b mkdir -p "/root/$folder"
    $b mount --move "/$folder" "/root/$folder"
done
$b mkdir -p /root/dev/pts /root/dev/shm /root/run
$b mount -t devpts devpts /root/dev/pts
# udev makes it elsewhere.
$b ln -s /proc/self/fd /root/dev/fd
# Opening it loads the module.
$b mkdir -p /root/dev/net
[ -e /root/dev/net/tun ] || $b mknod /root/dev/net/tun c 10 200
$b mount -t tmpfs tmpfs /root/dev/shm
# Only root makes files in it.
$b mount -t tmpfs -o mode=755 tmpfs /root/run
$b mount -t cgroup2 cgroup2 /root/sys/fs/cgroup
$b mount -t bpf bpf /root/sys/fs/bpf

# The kernel fetches by itself what devices and filters need.
$b mkdir -p /root/lib/modules
$b ln -sfn "$($b cat /modules/folder)" "/root/lib/modules/$($b uname -r)"
$b hostname guest
$b ip link set lo up

command=$($b cat /command)
# Where the processor is emulated, clang takes ten times as long.
export ONPATH_CLANG_SECONDS=600
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8
exec $b switch_root /root /bin/sh -c "$command; sync; echo o >/proc/sysrq-trigger; sleep 60"
