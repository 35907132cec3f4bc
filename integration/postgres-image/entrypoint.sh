#!/bin/sh
# Makes the cluster on first start, from the variables that the public postgres image reads
# (POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB), then runs the given command.
# Only shell built-ins and PostgreSQL's own programs: the image holds nothing else.
set -eu

user=${POSTGRES_USER:-postgres}
database=${POSTGRES_DB:-$user}

if [ ! -s "$PGDATA/PG_VERSION" ]; then
	if [ -z "${POSTGRES_PASSWORD:-}" ]; then
		echo "POSTGRES_PASSWORD is not set: name a password for the user $user" >&2
		exit 1
	fi
	(umask 077 && printf '%s\n' "$POSTGRES_PASSWORD" >/tmp/password)
	# A linguistic collation, as the public image has: a query that relies on byte order without
	# saying so then fails here too.
	initdb --pgdata="$PGDATA" --username="$user" --pwfile=/tmp/password \
		--auth-local=trust --auth-host=scram-sha-256 \
		--encoding=UTF8 --locale=C.UTF-8 --locale-provider=icu --icu-locale=en
	: >/tmp/password
	echo "listen_addresses = '*'" >>"$PGDATA/postgresql.conf"
	echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"
	if [ "$database" != postgres ]; then
		echo "CREATE DATABASE \"$database\"" | postgres --single -D "$PGDATA" postgres >/dev/null
	fi
fi

case "${1:-}" in
-*) set -- postgres "$@" ;;
esac
exec "$@"
