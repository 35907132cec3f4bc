package rpc

import (
	"github.com/oklog/ulid/v2"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
	"holdfast/proto/metastorepb"
)

// The peer's names of the documents in requests, which errors about them carry. Clients take them
// for opaque text.
const (
	structIndexConfig      = "quickwit_config::index_config::IndexConfig"
	structSourceConfig     = "quickwit_config::source_config::SourceConfig"
	structDocMapping       = "quickwit_doc_mapper::doc_mapping::DocMapping"
	structIndexingSettings = "quickwit_config::index_config::IndexingSettings"
	structIngestSettings   = "quickwit_config::index_config::IngestSettings"
	structSearchSettings   = "quickwit_config::index_config::SearchSettings"
	structRetentionPolicy  = "quickwit_config::index_config::RetentionPolicy"
)

// parseCreateIndex reads the documents of a request in the peer's order.
func parseCreateIndex(request *metastorepb.CreateIndexRequest, newUID func() ulid.ULID) (metastore.CreateIndexRequest, error) {
	config, err := indexconfig.ParseIndexConfig(bytesOf(request.GetIndexConfigJson()), newUID)
	if err != nil {
		return metastore.CreateIndexRequest{}, metastore.JSONDeserialize(structIndexConfig, err)
	}
	create := metastore.CreateIndexRequest{Config: config}
	for _, document := range request.GetSourceConfigsJson() {
		source, err := parseSourceConfig(document)
		if err != nil {
			return metastore.CreateIndexRequest{}, err
		}
		create.Sources = append(create.Sources, source)
	}
	return create, nil
}

func parseSourceConfig(document string) (*indexconfig.SourceConfig, error) {
	source, err := indexconfig.ParseSourceConfig(bytesOf(document))
	if err != nil {
		return nil, metastore.JSONDeserialize(structSourceConfig, err)
	}
	return source, nil
}

func createIndexMessage(request metastore.CreateIndexRequest) *metastorepb.CreateIndexRequest {
	message := &metastorepb.CreateIndexRequest{IndexConfigJson: string(request.Config.AppendJSON(nil))}
	for _, source := range request.Sources {
		message.SourceConfigsJson = append(message.SourceConfigsJson, string(source.AppendJSON(nil)))
	}
	return message
}

// parseUpdateIndex reads the documents of a request in the peer's order. All but the retention policy
// are mandatory.
func parseUpdateIndex(request *metastorepb.UpdateIndexRequest, newUID func() ulid.ULID) (indexconfig.Update, error) {
	var update indexconfig.Update
	docMapping, err := indexconfig.ParseDocMapping(bytesOf(request.GetDocMappingJson()), newUID)
	if err != nil {
		return update, metastore.JSONDeserialize(structDocMapping, err)
	}
	indexingSettings, err := indexconfig.ParseIndexingSettings(bytesOf(request.GetIndexingSettingsJson()))
	if err != nil {
		return update, metastore.JSONDeserialize(structIndexingSettings, err)
	}
	ingestSettings, err := indexconfig.ParseIngestSettings(bytesOf(request.GetIngestSettingsJson()))
	if err != nil {
		return update, metastore.JSONDeserialize(structIngestSettings, err)
	}
	searchSettings, err := indexconfig.ParseSearchSettings(bytesOf(request.GetSearchSettingsJson()))
	if err != nil {
		return update, metastore.JSONDeserialize(structSearchSettings, err)
	}
	if request.RetentionPolicyJsonOpt != nil {
		if update.Retention, err = indexconfig.ParseRetentionPolicy(bytesOf(request.GetRetentionPolicyJsonOpt())); err != nil {
			return update, metastore.JSONDeserialize(structRetentionPolicy, err)
		}
	}
	update.DocMapping = *docMapping
	update.IndexingSettings = *indexingSettings
	update.IngestSettings = *ingestSettings
	update.SearchSettings = *searchSettings
	return update, nil
}

func updateIndexMessage(indexUID metastore.IndexUID, update indexconfig.Update) *metastorepb.UpdateIndexRequest {
	message := &metastorepb.UpdateIndexRequest{
		IndexUid:             indexUIDMessage(indexUID),
		DocMappingJson:       string(update.DocMapping.AppendJSON(nil)),
		IndexingSettingsJson: string(update.IndexingSettings.AppendJSON(nil)),
		IngestSettingsJson:   string(update.IngestSettings.AppendJSON(nil)),
		SearchSettingsJson:   string(update.SearchSettings.AppendJSON(nil)),
	}
	if update.Retention != nil {
		retention := string(update.Retention.AppendJSON(nil))
		message.RetentionPolicyJsonOpt = &retention
	}
	return message
}
