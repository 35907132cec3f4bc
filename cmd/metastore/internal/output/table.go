package output

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// chunkRows is how many rows are held back to find the widths of the columns.
const chunkRows = 500

// Table writes rows in aligned columns. It holds back a bounded number of rows: the widths of a long
// table are found chunk by chunk and never shrink. Call Close at the end.
type Table struct {
	to     *bufio.Writer
	header []string
	right  []bool
	widths []int
	rows   [][]string
	begun  bool
}

// NewTable returns a table with a header. A column whose name begins with ">" is aligned to the right.
func NewTable(to io.Writer, columns ...string) *Table {
	t := &Table{to: bufio.NewWriter(to), widths: make([]int, len(columns))}
	for _, column := range columns {
		name, right := strings.CutPrefix(column, ">")
		t.header = append(t.header, name)
		t.right = append(t.right, right)
	}
	return t
}

// Row adds a row. There must be as many cells as columns. An empty cell is written as "-".
func (t *Table) Row(cells ...string) error {
	if len(cells) != len(t.header) {
		return fmt.Errorf("table row has %d cells, the header has %d", len(cells), len(t.header))
	}
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = printable(cell)
	}
	t.rows = append(t.rows, row)
	if len(t.rows) >= chunkRows {
		return t.Flush()
	}
	return nil
}

// Flush writes the rows held back.
func (t *Table) Flush() error {
	rows := t.rows
	if !t.begun {
		rows = append([][]string{t.header}, rows...)
		t.begun = true
	}
	for _, row := range rows {
		for i, cell := range row {
			t.widths[i] = max(t.widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		t.writeRow(row)
	}
	t.rows = t.rows[:0]
	return t.to.Flush()
}

func (t *Table) writeRow(row []string) {
	var line strings.Builder
	for i, cell := range row {
		if i > 0 {
			line.WriteString("  ")
		}
		padding := strings.Repeat(" ", t.widths[i]-utf8.RuneCountInString(cell))
		if t.right[i] {
			line.WriteString(padding + cell)
		} else {
			line.WriteString(cell + padding)
		}
	}
	// The buffered writer keeps the first error until Flush.
	_, _ = t.to.WriteString(strings.TrimRight(line.String(), " ") + "\n")
}

// Close writes what is left; the header too, if there was no row.
func (t *Table) Close() error { return t.Flush() }

// printable keeps text from a server or a file from controlling the terminal.
func printable(cell string) string {
	if cell == "" {
		return "-"
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '\uFFFD'
		}
		return r
	}, cell)
}
