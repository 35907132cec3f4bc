package postgres

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// isStorable reports whether PostgreSQL can hold the text. What it cannot hold, it cannot find either, but refuses
// with an error.
func isStorable(text string) bool {
	return utf8.ValidString(text) && !strings.Contains(text, "\x00")
}

// emptyUnlessStorable stands for what PostgreSQL cannot hold with the empty text, where no such text exists.
func emptyUnlessStorable(text string) string {
	if !isStorable(text) {
		return ""
	}
	return text
}

// storableTexts returns the texts that PostgreSQL can hold: texts itself when these are all.
func storableTexts(texts []string) []string {
	for i, text := range texts {
		if isStorable(text) {
			continue
		}
		kept := slices.Clone(texts[:i])
		for _, text := range texts[i+1:] {
			if isStorable(text) {
				kept = append(kept, text)
			}
		}
		return kept
	}
	return texts
}

// searchArgument is an array of the ids to search for, as many as there are: one that PostgreSQL cannot hold becomes an
// id that is too long to exist.
func searchArgument(ids []string) []byte {
	return textArrayOf(len(ids), func(i int) string {
		if !isStorable(ids[i]) {
			return "no split has an id that is longer than the column split_id allows"
		}
		return ids[i]
	})
}
