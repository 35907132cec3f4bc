package metastore

// scanSplitRow reads the canonical text of a row, as SplitRow.AppendJSON writes it; ok is false for
// any other text. Clients that list many splits spend most of their time here.
func scanSplitRow(text string) (row SplitRow, ok bool) {
	s := splitScanner{text: text}
	s.literal(`{"split_state":"`)
	for _, state := range [...]SplitState{Staged, Published, MarkedForDeletion} {
		if s.accept(state.String()) {
			row.State = state
			break
		}
	}
	s.literal(`","update_timestamp":`)
	row.UpdateTimestamp = s.signed()
	s.literal(`,"publish_timestamp":`)
	if !s.accept("null") {
		row.PublishTimestamp = Some(s.signed())
	}
	s.literal(",")
	if s.failed || row.State == 0 {
		return SplitRow{}, false
	}
	metadata, ok := scanSplitMetadata("{" + text[s.pos:])
	row.Document = metadata.document
	return row, ok
}
