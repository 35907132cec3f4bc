package replay

// rule is one way in which we answer otherwise than the peer.
type rule struct {
	id   string // the hazard of the peer's behaviour, or a word of ours
	peer string // what the peer does
	ours string // what we do
}

// rules are all deviations that a client can see in answers. Those without a recorded step are
// checked by the conformance suite of stores.
func rules() []rule {
	return []rule{
		{"crash", "A request without its `index_uid`, and some numbers above 2^63-1 on PostgreSQL, crash the handler: the stream is reset and the client sees CANCELLED.",
			"`InvalidArgument` that names the field. In the recordings every answer `Canceled` stands for this."},
		{"undecodable", "An incarnation or a doc mapping UID that is not 16 bytes, or a shard id that is not UTF-8, gives INTERNAL without error detail.", "`InvalidArgument` that names the field."},
		{"indexes H1", "On the file store DeleteIndex ignores the incarnation, so a stale UID deletes the index that was created after it.", "`NotFound` of the index; nothing is deleted."},
		{"indexes H5", "On PostgreSQL OpenShards gives `Db`, which clients retry, for an unknown index and without a doc mapping UID; the file store keeps such a shard without one.",
			"`NotFound` of the index; `InvalidArgument` that names the field."},
		{"indexes H4", "On PostgreSQL IndexesMetadata without subrequests answers empty bytes, which clients cannot decode.", "A compressed empty list."},
		{"indexes H7", "On the file store an index id with `..` reaches the storage, which answers PERMISSION_DENIED.", "`NotFound` of the index; the storage is not asked."},
		{"indexes H9", "UpdateIndex stores settings that contradict each other; afterwards the index, and on PostgreSQL every listing of indexes, cannot be read.",
			"`InvalidArgument`; nothing is stored. A stored config that contradicts itself can still be read and repaired."},
		{"indexes H10", "On the file store IndexMetadata with id and UID looks the id up.", "The UID counts, as on PostgreSQL."},
		{"indexes H11", "On PostgreSQL `_` in an index id pattern with a `*`, and in every pattern of a template, matches any character.", "`_` stands for itself."},
		{"indexes H12", "On PostgreSQL a bad index id pattern, or none that is positive, gives `Internal`, which clients retry.", "`InvalidArgument`. Patterns behind a `*` of the same sign are not looked at, as on the file store."},
		{"indexes H16", "On the file store a deleted source leaves its shards behind, which can be listed and acquired.", "They go with the source, as on PostgreSQL."},
		{"indexes H20", "On PostgreSQL OpenShards creates shards of sources that do not exist.", "`NotFound` of the source; of the other shards of the call none is created either."},
		{"indexes H21", "On PostgreSQL DeleteShards without shard ids answers without the index UID, which clients cannot do without.", "Index UID and source id are those of the request."},
		{"indexes H24", "On PostgreSQL ListShards answers a source that is asked for twice once, with each shard twice.", "Each subrequest is answered, in the order of the request."},
		{"indexes H26", "On the file store a shard that is deleted and opened again cannot be published to from the beginning, until a restart.", "What was published to its predecessor does not matter."},
		{"shards of nothing", "On the file store AcquireShards, DeleteShards, PruneShards and ListShards give `NotFound` for an unknown index or source.", "It has no shards, which is no error, as on PostgreSQL."},
		{"shards once", "On the file store AcquireShards answers a shard as often as it is asked for, and an empty token is not recorded in a shard without one.", "Once, by ascending id, and the token is recorded, as on PostgreSQL."},
		{"shard state 0", "On the file store the state 0, or one that does not exist, selects no shard in ListShards.", "All shards, as on PostgreSQL."},
		{"indexes H27", "On the file store nothing of a template but its patterns is validated, and those behind a `*` are not either.", "`InvalidArgument`, as on PostgreSQL, which is checked before whether the template exists."},
		{"indexes H29", "On the file store a template that was overwritten still matches by its old patterns and its old priority.", "By what it holds now."},
		{"indexes H30", "On PostgreSQL an index id is excluded from a template only when all of its negative patterns match.", "When any of them matches."},
		{"indexes H33", "On PostgreSQL the priority of a template wraps at 2^31 (H28), and one of exactly 2^31 fails every FindIndexTemplateMatches that it matches.", "Priorities of 64 bits rank as they are. The column that the peer ranks by holds 2^31-1 for higher ones."},
		{"templates' text", "On PostgreSQL a template is stored and answered as it was sent: of any version, without defaults, and without the UID of its doc mapping, which every reader then draws for itself.",
			"It is stored and answered in the full form of version 0.9, as on the file store."},
		{"templates' patterns", "On PostgreSQL a template may have negative patterns only, which never match, and negative patterns of two characters.", "`InvalidArgument`, as on the file store."},
		{"templates once", "On the file store FindIndexTemplateMatches answers in the order of the request, and twice for an id that is given twice.", "Each id once, sorted, as on PostgreSQL."},
		{"indexes H34", "When a tokenizer cannot be built, the error carries a stack backtrace.", "One line with the reason."},
		{"indexes H36", "A doc mapping UID of more than 128 bits is accepted and becomes another one.", "`JsonDeserializeError`."},
		{"indexes both", "On PostgreSQL a subrequest of IndexesMetadata with id and UID looks the id up and ignores the UID.", "Both must match; a failure echoes both."},
		{"indexes once", "On the file store IndexesMetadata returns an index that is asked for twice twice.", "Once, as on PostgreSQL."},
		{"empty stage", "On the file store StageSplits of an empty list fails when the index does not exist.", "It succeeds without looking at the index, as on PostgreSQL. In create-only mode the index must exist."},
		{"json H4", "Unknown keys of split metadata are dropped.", "They are kept, behind the known ones, so that documents of newer versions survive."},
		{"repeated ids", "An error names a split as often as the request does, in places, and in a free order on PostgreSQL.", "Each split once, in the order of the request."},
		{"splits H4", "On PostgreSQL filters on timestamps compare fractions of seconds that no answer shows.", "Timestamps are whole seconds everywhere."},
		{"splits H6", "Numbers above 2^63-1, split ids above 50 and node ids above 253 characters give `Db` on PostgreSQL, which clients retry; the file store accepts them.", "`InvalidArgument` on both stores; nothing is staged."},
		{"splits H7", "The file store shows the index UID that a split's document came with, whatever index it was staged in.", "The index UID is that of the request."},
		{"splits H8", "On PostgreSQL a split that is twice in one StageSplits call fails the call with `Db`.", "The last one counts, as on the file store; in create-only mode the first."},
		{"splits H10", "A checkpoint delta that goes back, or nowhere, is accepted if it begins where the checkpoint stands: what was published counts as not published.", "`InvalidArgument`; nothing is published."},
		{"splits H11", "Publishing to an unknown shard names only its source on PostgreSQL. On the file store a shard without token takes the empty token for its own.", "The error names the first unknown shard. A shard without token takes none."},
		{"splits H13", "On PostgreSQL MarkSplitsForDeletion with a stale UID succeeds and does nothing.", "`NotFound` of the index."},
		{"splits H14", "On the file store PublishSplits refuses repeated ids, accepts a split in both lists, and names unknown splits of one list only.", "As on PostgreSQL."},
		{"splits H15", "On PostgreSQL publishing overwrites the publish timestamp of the splits that are replaced.", "They keep it."},
		{"splits H19", "On the file store a maturity filter switches off the filters on node id, time range, its maximum end, and the cursor.", "All filters count."},
		{"splits H20", "On the file store a maximum of the time range's end keeps splits without a time range.", "It drops them, as on PostgreSQL."},
		{"splits H21", "On the file store an empty disjunction of tags matches nothing.", "It matches everything, as on PostgreSQL."},
		{"splits H22", "On the file store the order by staleness puts unpublished splits first.", "Last, as on PostgreSQL."},
		{"splits H23", "Index UIDs are ordered by id and then ULID on the file store, and by the collation of the database on PostgreSQL.", "By the bytes of their text."},
		{"splits H24", "Pages of an unordered listing may overlap.", "With a limit or an offset the order is that of index UID and split id."},
		{"splits H41", "On PostgreSQL a filter on delete opstamps above 2^63-1 crashes the handler.", "It is answered correctly."},
		{"splits H42", "A node id of several parts loses one more part at each read on PostgreSQL, and is shown otherwise on the two stores.", "Only what precedes the first `/` is kept, when the split is staged."},
		{"splits H43", "A maturity time outside PostgreSQL's range of timestamps gives `Db` there and is accepted by the file store.", "`InvalidArgument` on both stores."},
		{"splits H44", "A ULID of more than 128 bits is accepted and becomes another one.", "`JsonDeserializeError`."},
		{"uid twice", "On the file store a listing returns the splits of an index twice if its UID is given twice.", "Once, as on PostgreSQL."},
	}
}
