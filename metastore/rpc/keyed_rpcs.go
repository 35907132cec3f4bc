package rpc

import "slices"

// keyedRPCs are the RPCs of the metastore and the recovery service that change something that an idempotency key can
// protect. They are what a server tells its clients.
var keyedRPCs = []string{
	"CreateIndex", "RecoverIndex", "UpdateIndex", "DeleteIndex",
	"AddSource", "UpdateSource", "ToggleSource", "DeleteSource", "ResetSourceCheckpoint",
	"StageSplits", "PublishSplits", "MarkSplitsForDeletion", "DeleteSplits", "UpdateSplitsDeleteOpstamp", "RaiseDeleteOpstampFloor",
	"StageMetricsSplits", "PublishMetricsSplits", "MarkMetricsSplitsForDeletion", "DeleteMetricsSplits",
	"StageSketchSplits", "PublishSketchSplits", "MarkSketchSplitsForDeletion", "DeleteSketchSplits",
	"OpenShards", "AcquireShards", "DeleteShards", "PruneShards",
	"CreateDeleteTask", "CreateIndexTemplate", "DeleteIndexTemplates",
}

// IsMutation reports whether an RPC of the metastore or the recovery service, such as "CreateDeleteTask", changes something that an
// idempotency key can protect.
func IsMutation(operation string) bool { return slices.Contains(keyedRPCs, operation) }
