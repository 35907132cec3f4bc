package file

import (
	"fmt"
	"sync"
)

// indexLogs holds the log of each index id that is in use or exists.
type indexLogs struct {
	env   *environment
	mu    sync.Mutex
	slots map[string]*indexSlot
}

type indexSlot struct {
	log   *commitLog[*indexState]
	users int
}

// use returns the log of a valid index id. The caller calls done when it does not need it any more:
// the log of an id that never had an index is forgotten then, so that asking for ids that do not
// exist takes no memory.
func (l *indexLogs) use(indexID string) (log *commitLog[*indexState], done func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	slot := l.slots[indexID]
	if slot == nil {
		slot = &indexSlot{log: newCommitLog(l.env, logKeys{indexID + "/"}, fmt.Sprintf("index %q", indexID), indexCodecOf(indexID))}
		l.slots[indexID] = slot
	}
	slot.users++
	return slot.log, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		slot.users--
		if h := slot.log.current.Load(); slot.users == 0 && (h == nil || h.version == 0) {
			delete(l.slots, indexID)
		}
	}
}

// indexCodecOf is the codec of the log of one index id.
func indexCodecOf(indexID string) snapshotCodec[*indexState] {
	codec := indexCodec
	codec.check = func(s *indexState) error {
		if s.index != nil && s.index.IndexUID.IndexID != indexID {
			return fmt.Errorf("it is of index %s", s.index.IndexUID)
		}
		return nil
	}
	return codec
}
