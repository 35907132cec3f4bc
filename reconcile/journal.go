package reconcile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"holdfast/metastore"
	"holdfast/reconcile/evidence"
)

// journal is a file of JSON lines that remembers, for later runs, what was read of each object and
// which rows were staged. Several processes may append to one file: a line is written with one call,
// between line ends, so that a line that a killed process tore spoils no other one.
//
// What it says about an object counts as long as the object has the same size, time and ETag. What it
// says about rows is about one incarnation of an index. Another metastore may have it too, once it was
// recovered; but a complete file is staged by recoveries only, so a row that was staged is still ours.
type journal struct {
	mu        sync.Mutex
	file      *os.File // nil: nothing is remembered
	buffer    bytes.Buffer
	run       string
	objects   map[string]journalObject      // by location of the object
	staged    map[stagedKey]map[string]bool // by the runs that may have staged it
	published map[stagedKey]bool            // of those that were staged
	rowless   map[stagedKey]int64           // when a scan first found it without a row, in unix seconds
	content   map[string]*journaledContent  // by location of the object
}

type stagedKey struct{ indexUID, splitID string }

// journalLine is one line; exactly one of the pointers is set.
type journalLine struct {
	Object *journalObject `json:"object,omitempty"`
	Intent *journalStaged `json:"intent,omitempty"`  // the ids are going to be staged
	Result *journalStaged `json:"skipped,omitempty"` // the ids were not staged after all: others had
	// Published says that rows which were staged have been published.
	Published *journalPublished `json:"published,omitempty"`
	Seen      *journalSeen      `json:"seen,omitempty"`
	Block     *journalBlock     `json:"block,omitempty"`
	Place     *journalPlace     `json:"partition,omitempty"`
}

// journalSeen says which objects a scan found without a row, and which of an earlier scan it found
// with one, or not at all.
type journalSeen struct {
	IndexUID string   `json:"index_uid"`
	At       int64    `json:"at"` // unix seconds
	Rowless  []string `json:"without_row,omitempty"`
	Settled  []string `json:"settled,omitempty"`
}

type journalObject struct {
	Location string          `json:"location"`
	Size     int64           `json:"size"`
	Modified time.Time       `json:"modified"`
	ETag     string          `json:"etag,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
	Parents  []string        `json:"parents,omitempty"`
	Legacy   bool            `json:"legacy,omitempty"`
	// Evidence is nil if it was not read.
	Evidence *evidence.Evidence `json:"evidence,omitempty"`
}

type journalStaged struct {
	Run      string   `json:"run"`
	IndexUID string   `json:"index_uid"`
	IDs      []string `json:"split_ids"`
}

type journalPublished struct {
	IndexUID string   `json:"index_uid"`
	IDs      []string `json:"split_ids"`
}

// maxJournalLine bounds the memory for one line, in bytes.
const maxJournalLine = 64 << 20

// flushJournal is how many bytes of what was read are held back; losing them costs reads only.
const flushJournal = 64 << 10

// ErrJournal is wrapped by the errors of a journal that cannot be opened or read.
var ErrJournal = errors.New("the journal cannot be used")

// openJournal reads the journal at path and opens it for appending; it is made if it does not exist.
// An empty path gives a journal that remembers nothing. Lines that cannot be read are skipped.
func openJournal(path, run string) (*journal, error) {
	j := &journal{run: run, objects: map[string]journalObject{}, staged: map[stagedKey]map[string]bool{}, published: map[stagedKey]bool{}, rowless: map[stagedKey]int64{}, content: map[string]*journaledContent{}}
	if path == "" {
		return j, nil
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrJournal, err)
	}
	if err := j.load(file); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: read %s: %w", ErrJournal, path, err), file.Close())
	}
	j.file = file
	return j, nil
}

func (j *journal) load(from io.Reader) error {
	lines := newLineReader(from, maxJournalLine)
	known := false
	for {
		text, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		var line journalLine
		if json.Unmarshal(text, &line) != nil {
			continue
		}
		known = j.replay(line) || known
	}
	if !known && lines.lines > 0 {
		return errors.New("the file holds no line of a journal; name another file")
	}
	return nil
}

func (j *journal) replay(line journalLine) bool {
	switch {
	case line.Object != nil:
		j.objects[line.Object.Location] = *line.Object
	case line.Intent != nil:
		j.remember(line.Intent, true)
	case line.Result != nil:
		j.remember(line.Result, false)
	case line.Published != nil:
		for _, id := range line.Published.IDs {
			j.published[stagedKey{line.Published.IndexUID, id}] = true
		}
	case line.Seen != nil:
		j.see(line.Seen)
	case line.Block != nil:
		j.replayBlock(line.Block)
	case line.Place != nil:
		j.replayPlace(line.Place)
	default:
		return false
	}
	return true
}

func (j *journal) remember(s *journalStaged, staged bool) {
	for _, id := range s.IDs {
		key := stagedKey{s.IndexUID, id}
		switch runs := j.staged[key]; {
		case !staged:
			delete(runs, s.Run)
		case runs == nil:
			j.staged[key] = map[string]bool{s.Run: true}
		default:
			runs[s.Run] = true
		}
	}
}

func (j *journal) see(s *journalSeen) {
	for _, id := range s.Settled {
		delete(j.rowless, stagedKey{s.IndexUID, id})
	}
	for _, id := range s.Rowless {
		key := stagedKey{s.IndexUID, id}
		if _, known := j.rowless[key]; !known {
			j.rowless[key] = s.At
		}
	}
}

// rowlessSince returns when this and every scan since found the object without a row for the first
// time.
func (j *journal) rowlessSince(uid metastore.IndexUID, id string) (unix int64, known bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	unix, known = j.rowless[stagedKey{uid.String(), id}]
	return unix, known
}

// addScan remembers the objects that a scan at a time found without a row.
func (j *journal) addScan(uid metastore.IndexUID, unix int64, rowless []string) error {
	seen := journalSeen{IndexUID: uid.String(), At: unix}
	now := make(map[string]bool, len(rowless))
	j.mu.Lock()
	for _, id := range rowless {
		now[id] = true
		if _, known := j.rowless[stagedKey{seen.IndexUID, id}]; !known {
			seen.Rowless = append(seen.Rowless, id)
		}
	}
	for key := range j.rowless {
		if key.indexUID == seen.IndexUID && !now[key.splitID] {
			seen.Settled = append(seen.Settled, key.splitID)
		}
	}
	j.mu.Unlock()
	if len(seen.Rowless)+len(seen.Settled) == 0 {
		return nil
	}
	return j.append(journalLine{Seen: &seen}, true)
}

// object returns what is known of an unchanged object.
func (j *journal) object(location string, entry Entry) (journalObject, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	o, found := j.objects[location]
	return o, found && o.Size == entry.Size && o.Modified.Equal(entry.Modified) && o.ETag == entry.ETag
}

// mayHaveStaged reports whether a run that wrote to this journal staged the row, or was about to.
func (j *journal) mayHaveStaged(uid metastore.IndexUID, id string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.staged[stagedKey{uid.String(), id}]) > 0
}

// unpublished returns the ids that runs may have staged and that nobody is known to have published,
// sorted.
func (j *journal) unpublished(uid metastore.IndexUID) []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var ids []string
	text := uid.String()
	for key, runs := range j.staged {
		if key.indexUID == text && len(runs) > 0 && !j.published[key] {
			ids = append(ids, key.splitID)
		}
	}
	slices.Sort(ids)
	return ids
}

// addPublished remembers that ids were published.
func (j *journal) addPublished(uid metastore.IndexUID, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	return j.append(journalLine{Published: &journalPublished{uid.String(), ids}}, true)
}

// addObject remembers what was read of an object.
func (j *journal) addObject(o journalObject) error {
	return j.append(journalLine{Object: &o}, false)
}

// addIntent says that the ids are about to be staged. It is on disk when the call returns.
func (j *journal) addIntent(uid metastore.IndexUID, ids []string) error {
	return j.append(journalLine{Intent: &journalStaged{j.run, uid.String(), ids}}, true)
}

// addSkipped takes back the intent for the ids: staging found rows of others.
func (j *journal) addSkipped(uid metastore.IndexUID, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	return j.append(journalLine{Result: &journalStaged{j.run, uid.String(), ids}}, true)
}

func (j *journal) append(line journalLine, sync bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if line.Object == nil {
		j.replay(line)
	}
	if j.file == nil {
		return nil
	}
	text, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("write to the journal: %w", err)
	}
	j.buffer.WriteByte('\n')
	j.buffer.Write(text)
	if sync || j.buffer.Len() >= flushJournal {
		return j.flush(sync)
	}
	return nil
}

func (j *journal) flush(sync bool) error {
	if j.buffer.Len() == 0 {
		return nil
	}
	j.buffer.WriteByte('\n')
	_, err := j.file.Write(j.buffer.Bytes())
	j.buffer.Reset()
	if err == nil && sync {
		err = j.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("write to the journal %s: %w", j.file.Name(), err)
	}
	return nil
}

// close writes what is held back.
func (j *journal) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	return errors.Join(j.flush(true), j.file.Close())
}
