// Package lineage decides which split files of a bucket make up an index when its metastore is lost or
// was restored from an old backup.
package lineage
