package losses

// The documents of the peer, as far as they may be written otherwise than they were read.

var (
	version   = &Shape{Rewritten: upgraded}
	aULID     = &Shape{Rewritten: sameULID}
	indexUID  = &Shape{Rewritten: sameIndexUID}
	set       = &Shape{Set: true}
	orNothing = &Shape{Omitted: (*value).isNull}
	// meaningless members are of old documents, and the peer reads nothing from them.
	meaningless = &Shape{Meaningless: true}
)

// Split is a split with its state.
var Split = &Shape{Members: map[string]*Shape{
	"version":         version,
	"index_uid":       indexUID,
	"index_id":        {Name: "index_uid", Rewritten: sameIndexUID},
	"size_in_bytes":   {Name: "uncompressed_docs_size_in_bytes"},
	"source_id":       {Rewritten: unknownForNull},
	"node_id":         {Rewritten: withoutPipeline},
	"time_range":      {Rewritten: rangeOfPair},
	"footer_offsets":  {Rewritten: rangeOfPair},
	"tags":            set,
	"doc_mapping_uid": aULID,
}}

// Shard is a shard of a source. That those of old documents lose their doc mapping is not seen here.
var Shard = &Shape{Members: map[string]*Shape{
	"index_uid":       indexUID,
	"ingester_id":     {Name: "leader_id"},
	"follower_id":     meaningless,
	"publish_token":   orNothing,
	"doc_mapping_uid": aULID,
}}

// DeleteTask is a delete task.
var DeleteTask = &Shape{Members: map[string]*Shape{
	"delete_query": {Members: map[string]*Shape{
		"index_uid":       indexUID,
		"index_id":        {Name: "index_uid", Rewritten: sameIndexUID},
		"start_timestamp": orNothing,
		"end_timestamp":   orNothing,
		"query":           {Name: "query_ast"},
	}},
}}

// ParquetSplit is a metrics or sketch split as the file-backed store keeps it.
var ParquetSplit = &Shape{Members: map[string]*Shape{
	"metadata": {Members: map[string]*Shape{
		"metric_names":              set,
		"low_cardinality_tags":      {Data: true, Each: set},
		"high_cardinality_tag_keys": set,
		"created_at":                {Rewritten: sameInstant},
		"window_start":              orNothing,
		"row_keys_proto":            orNothing,
		"zonemap_regexes":           {Data: true, Omitted: (*value).isEmpty},
		"rg_partition_prefix_len":   {Omitted: (*value).isEmpty},
	}},
}}

// IndexMetadata is the index metadata document.
var IndexMetadata = &Shape{Members: map[string]*Shape{
	"version":      version,
	"index_uid":    indexUID,
	"index_config": {Of: ofIndexConfig},
	"checkpoint":   {Data: true, Each: &Shape{Data: true}},
	"sources":      {Each: &Shape{Of: ofSource}},
}}

// Manifest is the manifest of a store, with its index templates.
var Manifest = &Shape{Of: func(v *value) *Shape {
	if isOld(v) {
		return oldManifest
	}
	return manifest
}}

// Statuses is the legacy manifest.
var Statuses = &Shape{Data: true, Each: &Shape{Rewritten: renamed(map[string]string{"Creating": "creating", "Alive": "active", "Deleting": "deleting"})}}

var (
	manifest    = manifestOf(docMapping)
	oldManifest = manifestOf(oldDocMapping)
)

func manifestOf(docMapping *Shape) *Shape {
	template := settings(docMapping)
	template.Members["version"] = version
	template.Members["index_root_uri"] = &Shape{Rewritten: sameURI}
	return &Shape{Members: map[string]*Shape{
		"version":   version,
		"indexes":   Statuses,
		"templates": {Key: "template_id", Each: template},
		"identity":  {Rewritten: sameUUID, Omitted: nilUUID},
	}}
}

// isOld reports whether a document is of a version before 0.9.
func isOld(v *value) bool {
	version := v.member("version")
	return version == nil || version.text != "0.9"
}
