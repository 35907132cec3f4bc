#!/usr/bin/env bash
# Builds holdfast-postgres:stand-in, a PostgreSQL image for a Docker Engine that cannot pull the
# public one, from the PostgreSQL that Debian packages. It takes the server's files and the
# libraries that they load from this machine, so no base image is needed. Does nothing when the image is
# there already and was made by this same recipe.
#
# Prints the image's name on standard output, everything else on standard error.
set -euo pipefail

image=holdfast-postgres:stand-in
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

fail() {
	echo "build.sh: $*" >&2
	exit 1
}

find_server() {
	ls -d /usr/lib/postgresql/*/bin/postgres 2>/dev/null | sort -V | tail -n 1
}

recipe=$(cat "$here/Dockerfile" "$here/entrypoint.sh" "$here/build.sh" | sha256sum | cut -c 1-16)
if [[ $(docker image inspect --format '{{index .Config.Labels "holdfast.recipe"}}' "$image" 2>/dev/null || true) == "$recipe" ]]; then
	echo "$image"
	exit 0
fi

server=$(find_server)
if [[ -z $server ]]; then
	[[ $(id -u) == 0 ]] && command -v apt-get >/dev/null ||
		fail "no PostgreSQL server under /usr/lib/postgresql: install the Debian package postgresql"
	{ apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends postgresql; } >&2
	server=$(find_server)
	[[ -n $server ]] || fail "the Debian package postgresql brought no server under /usr/lib/postgresql"
fi
major=$(basename "$(dirname "$(dirname "$server")")")
lib=/usr/lib/postgresql/$major

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
# usr-merged, as Debian is, so that every library is found under the name it was linked with.
mkdir -p "$root"/usr/{bin,lib,lib64} "$root/etc" "$root$lib/bin" "$root$lib/lib" "$root/usr/share/postgresql"
ln -s usr/bin "$root/bin"
ln -s usr/lib "$root/lib"
ln -s usr/lib64 "$root/lib64"

for program in postgres initdb pg_ctl pg_dump pg_isready psql; do
	cp -a "$lib/bin/$program" "$root$lib/bin/"
done
# Not the just-in-time compiler and the languages: they need LLVM, Perl and Python.
for module in "$lib"/lib/*.so; do
	case $(basename "$module") in
	llvmjit* | *plperl* | *plpython* | pltcl*) ;;
	*) cp -a "$module" "$root$lib/lib/" ;;
	esac
done
cp -aL "/usr/share/postgresql/$major" "$root/usr/share/postgresql/"
cp -aL /usr/share/zoneinfo "$root/usr/share/"
cp -L /bin/sh "$root/usr/bin/sh"
cp "$here/entrypoint.sh" "$root/entrypoint.sh"
chmod 0755 "$root/entrypoint.sh"
if [[ -d /usr/lib/locale/C.utf8 ]]; then
	mkdir -p "$root/usr/lib/locale"
	cp -aL /usr/lib/locale/C.utf8 "$root/usr/lib/locale/"
fi

find "$root$lib" "$root/usr/bin" -type f -print0 | xargs -0 ldd 2>/dev/null |
	grep -oE '(=> )?/[^ ]+ \(0x' | sed -E 's/^=> //; s/ \(0x$//' | sort -u |
	while read -r library; do
		target=$library
		[[ $target == /usr/* ]] || target=/usr$target
		mkdir -p "$root$(dirname "$target")"
		cp -L "$library" "$root$target"
	done

echo 'root:x:0:0:root:/:/bin/sh
postgres:x:999:999:PostgreSQL:/var/lib/postgresql:/bin/sh' >"$root/etc/passwd"
echo 'root:x:0:
postgres:x:999:' >"$root/etc/group"
chmod -R u+rwX,go+rX,go-w "$root"
mkdir -p "$work/owned/var/lib/postgresql/data" "$work/owned/var/run/postgresql" "$work/owned/tmp"
chmod 0700 "$work/owned/var/lib/postgresql/data"
chmod 1777 "$work/owned/tmp"

mkdir "$work/context"
tar --create --file "$work/context/rootfs.tar" --owner=0 --group=0 --numeric-owner --directory "$root" .
tar --append --file "$work/context/rootfs.tar" --owner=999 --group=999 --numeric-owner --directory "$work/owned" \
	var/lib/postgresql var/run/postgresql tmp
cp "$here/Dockerfile" "$work/context/"
docker build --quiet --build-arg MAJOR="$major" --build-arg RECIPE="$recipe" --tag "$image" "$work/context" >&2
echo "$image"
