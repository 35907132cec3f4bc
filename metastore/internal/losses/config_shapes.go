package losses

var (
	docMapping    = docMappingOf(aULID)
	oldDocMapping = docMappingOf(&Shape{Rewritten: nilForOld})

	indexConfig    = indexConfigOf(docMapping)
	oldIndexConfig = indexConfigOf(oldDocMapping)
)

func ofIndexConfig(v *value) *Shape {
	if isOld(v) {
		return oldIndexConfig
	}
	return indexConfig
}

func indexConfigOf(docMapping *Shape) *Shape {
	config := settings(docMapping)
	config.Members["version"] = version
	config.Members["index_uri"] = &Shape{Rewritten: sameURI}
	return config
}

// settings is what index configs and index templates have in common.
func settings(docMapping *Shape) *Shape {
	duration := &Shape{Rewritten: sameDuration}
	return &Shape{Members: map[string]*Shape{
		"doc_mapping": docMapping,
		"indexing_settings": {Members: map[string]*Shape{
			"merge_policy": {Members: map[string]*Shape{
				"type":                          {Rewritten: renamed(map[string]string{"default": "stable_log"})},
				"maturation_period":             duration,
				"max_finalize_merge_operations": {Omitted: (*value).isEmpty},
				"max_finalize_split_num_docs":   orNothing,
			}},
			"parquet_merge_policy": orNothing,
			"parquet_indexing":     orNothing,
			"resources": {Members: map[string]*Shape{
				"heap_size":                  {Rewritten: sameByteSize},
				"max_merge_write_throughput": meaningless,
			}},
		}},
		"ingest_settings": {Members: map[string]*Shape{"validate_docs": {Omitted: isTrue}}},
	}}
}

func isTrue(v *value) bool { return v.text == "true" && !v.isString() }

func docMappingOf(uid *Shape) *Shape {
	return &Shape{Members: map[string]*Shape{
		"doc_mapping_uid": uid,
		"dynamic_mapping": {Members: field.Members, Omitted: (*value).isNull, Rewritten: filled},
		"field_mappings":  {Each: field},
		"tag_fields":      set,
		"partition_key":   orNothing,
		"document_length": {Name: "store_document_size"},
	}}
}

// field is a field of a mapping, of any type. An object has fields of its own.
var field = fieldShape()

func fieldShape() *Shape {
	field := &Shape{Members: map[string]*Shape{
		"description":   orNothing,
		"fast":          {Rewritten: rawNormalizer},
		"precision":     {Name: "fast_precision"},
		"input_formats": {Set: true, Each: &Shape{Rewritten: lowerName}},
		"output_format": {Rewritten: lowerName},
	}}
	field.Members["field_mappings"] = &Shape{Each: field}
	return field
}

func ofSource(v *value) *Shape {
	if version := v.member("version"); version != nil && version.text == "0.7" {
		return oldSource
	}
	return source
}

var (
	source    = sourceOf(nil)
	oldSource = sourceOf(map[string]*Shape{
		"desired_num_pipelines":         {Name: "num_pipelines"},
		"num_pipelines":                 meaningless,
		"max_num_pipelines_per_indexer": meaningless,
	})

	// freeValue is any value, whose members are data.
	freeValue = &Shape{Data: true, Omitted: (*value).isNull}
)

func sourceOf(members map[string]*Shape) *Shape {
	shape := &Shape{Members: map[string]*Shape{
		"version":      version,
		"params":       sourceParams,
		"transform":    orNothing,
		"input_format": {Rewritten: renamed(inputFormats)},
	}}
	for name, member := range members {
		shape.Members[name] = member
	}
	return shape
}

// sourceParams are the parameters of sources of all types.
var sourceParams = &Shape{Omitted: (*value).isNull, Rewritten: nullForNothing, Members: map[string]*Shape{
	"filepath":             {Rewritten: sameURI, Omitted: (*value).isNull},
	"notifications":        {Omitted: (*value).isEmpty},
	"client_log_level":     orNothing,
	"client_params":        freeValue,
	"enable_backfill_mode": {Omitted: (*value).isEmpty},
	"region":               orNothing,
	"endpoint":             orNothing,
	"docs":                 {Each: &Shape{Rewritten: bytesOfText}},
}}
