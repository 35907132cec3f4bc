// Package pgtest gives tests a real PostgreSQL server.
//
// [Database] returns a fresh, empty database on a server that one test binary starts once and
// shares; [PrivateServer] starts a server of the test's own, to be restarted or killed; [TransactionPooler] puts a
// PgBouncer in front of one; [ReplicatedServer] has one followed by a standby. A package that uses any of them calls [Main] from its TestMain.
//
// The server is a container where a Docker Engine is reachable, and else a throw-away cluster made
// with initdb from a local installation. fsync is on in both, as in production. Text collates
// as English where the server supports ICU, so that a query that relies on byte order without saying so
// fails here and not at a user's.
//
// Settings, all optional, from the environment:
//
//	HOLDFAST_TEST_POSTGRES        docker, local, or a postgres:// URL of an existing server
//	                              whose user may create databases; unset: Docker, else local
//	HOLDFAST_TEST_POSTGRES_IMAGE  the image to run; unset: postgres:16, or, where the engine has
//	                              only that, the stand-in of integration/postgres-image
//
// With neither Docker nor an installation a test fails and says what to install. It is never skipped.
package pgtest
