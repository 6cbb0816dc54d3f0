# shellcheck shell=sh
# tools/package/root.sh: Debian's releases in folders of their own, for what is sourced: deb, dist and what tries their results.
#   root_new SUITE DIR      a fresh minimal system of that release; debootstrap's is kept as an archive for a week
#   root_run DIR COMMAND    runs a shell command in it, with this machine's /proc, /sys and /dev
#   root_install DIR WORD.. packages of that release
#   root_builder, root_build, tree_copy: to build this tree there
# What is mounted is mounted for the command alone: nothing stays, however it ends. All of it takes root.

ROOTS=${XDG_CACHE_HOME:-$HOME/.cache}/schedscope/roots

say() { printf '%s\n' "$*" >&2; }

root_needs() {
	[ "$(id -u)" -eq 0 ] || { say "a clean system is made by debootstrap, as root: run it as root"; exit 1; }
	command -v debootstrap >/dev/null || { say "debootstrap is missing: run ./dev deb or ./dev dist, which install it"; exit 1; }
}

# The mirror that apt uses here, and the way to it.
root_mirror() {
	[ -z "${SCHEDSCOPE_MIRROR:-}" ] || { echo "$SCHEDSCOPE_MIRROR"; return; }
	# shellcheck disable=SC2016  # apt's variables
	found=$(apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' 'Created-By: Packages' | sed -n 's/^Debian Debian //p' | head -n 1)
	[ -n "$found" ] || { say "apt knows no mirror of Debian: run apt-get update, or set SCHEDSCOPE_MIRROR"; exit 1; }
	echo "$found"
}

root_proxy() {
	PROXY=
	eval "$(apt-config shell PROXY Acquire::http::Proxy)"
	[ -z "$PROXY" ] || [ "$PROXY" = DIRECT ] || echo "$PROXY"
}

# root_base SUITE: the archive of that release; made if there is none, or an old one.
root_base() {
	base=$ROOTS/$1.tar
	mkdir -p "$ROOTS"
	if [ -z "$(find "$base" -mtime -7 2>/dev/null)" ]; then
		say "debootstrap of $1"
		fresh=$(mktemp -d "$ROOTS/$1.XXXXXX")
		proxy=$(root_proxy)
		# sid is newer than this machine's scripts know only by name.
		if ! http_proxy=${proxy:-${http_proxy:-}} debootstrap --variant=minbase "$1" "$fresh/root" "$(root_mirror)" >"$fresh/log" 2>&1; then
			tail -n 20 "$fresh/log" >&2
			rm -rf "$fresh"
			say "debootstrap of $1 failed: see above"
			exit 1
		fi
		rm -f "$fresh"/root/var/cache/apt/archives/*.deb
		tar -C "$fresh/root" --numeric-owner --xattrs --one-file-system -cf "$base.new" .
		mv "$base.new" "$base"
		rm -rf "$fresh"
	fi
	echo "$base"
}

root_new() {
	suite=$1
	root=$2
	root_base "$suite" >/dev/null
	mkdir -p "$root" "$ROOTS/archives-$suite" "$ROOTS/ccache"
	tar -C "$root" --numeric-owner --xattrs -xpf "$ROOTS/$suite.tar"
	echo "deb $(root_mirror) $suite main" >"$root/etc/apt/sources.list"
	echo "deb-src $(root_mirror) $suite main" >"$root/etc/apt/sources.list.d/source.list"
	proxy=$(root_proxy)
	[ -z "$proxy" ] || echo "Acquire::http::Proxy \"$proxy\";" >"$root/etc/apt/apt.conf.d/02proxy"
	# A mirror that is a snapshot is old, and this machine's apt may have been told so.
	[ "$(apt-config shell VALID Acquire::Check-Valid-Until)" != "VALID='false'" ] ||
		echo 'Acquire::Check-Valid-Until "false";' >"$root/etc/apt/apt.conf.d/04old"
	# Packages that were fetched once are kept outside.
	echo 'APT::Keep-Downloaded-Packages "true";' >"$root/etc/apt/apt.conf.d/03keep"
	cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
	# No service starts in a folder.
	printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
	chmod 755 "$root/usr/sbin/policy-rc.d"
	echo "$suite" >"$root.suite"
	root_run "$root" "apt-get update -qq"
}

# root_builder DIR: a user without rights, who builds below /build; what the compiler has seen once it need not see again.
root_builder() {
	root_install "$1" build-essential ccache
	root_run "$1" "
		useradd --uid 1999 --create-home builder
		chown -R builder: /build /var/cache/ccache"
}

# root_build DIR COMMAND: what that user does in the tree; the end of its log is shown if it fails.
root_build() {
	root_run "$1" "
		cd /build/schedscope
		su builder -c 'export PATH=/usr/lib/ccache:\$PATH CCACHE_DIR=/var/cache/ccache CCACHE_MAXSIZE=1G; $2' >>/build/log 2>&1 ||
			{ tail -n 40 /build/log >&2; exit 1; }"
}

root_run() {
	# shellcheck disable=SC2016  # for the inner shell
	LC_ALL=C.UTF-8 unshare --mount --fork --kill-child sh -euc '
		mount --bind "$1" "$1" # a root that is a mount, as podman expects it
		mount --bind /proc "$1/proc"
		mount --rbind /sys "$1/sys"
		mount --rbind /dev "$1/dev"
		mkdir -p "$1/var/cache/apt/archives"
		mount --bind "$3/archives-$(cat "$1.suite")" "$1/var/cache/apt/archives"
		mkdir -p "$1/var/cache/ccache"
		mount --bind "$3/ccache" "$1/var/cache/ccache"
		exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=xterm LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
			chroot "$1" sh -euc "$2"' sh "$1" "$2" "$ROOTS"
}

# root_apt DIR WORDS: apt-get with them, quiet unless it fails. The fetched packages are shared, so one at a time.
root_apt() (
	exec 9>"$ROOTS/lock"
	flock 9
	root_run "$1" "apt-get $2 >/var/tmp/apt.log 2>&1 9>&- || { tail -n 20 /var/tmp/apt.log >&2; exit 1; }"
)

root_install() {
	root=$1
	shift
	root_apt "$root" "install -y --no-install-recommends $*"
}

# tree_copy DIR: this tree without what git ignores, and its version in a file.
tree_copy() {
	mkdir -p "$1"
	# Not what was removed, and not committed yet.
	# shellcheck disable=SC2016  # of the inner shell
	git ls-files -z --cached --others --exclude-standard | xargs -0 sh -c 'for f; do [ ! -e "$f" ] && [ ! -h "$f" ] || printf "%s\0" "$f"; done' sh | tar --null --no-recursion -T - -cf - | tar -C "$1" -xf -
	tree_version >"$1/.version"
}

tree_version() {
	tools/version "$(sed -n "s/^ *version: '\([0-9.]*\)',/\1/p" meson.build | head -n 1)"
}
