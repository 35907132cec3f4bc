// Package cluster tests clusters of metastore processes that find each other by gossip.
package cluster
