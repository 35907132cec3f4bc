package interop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/google/uuid"
)

// Names of the objects in the target by which an import and an export are known until they are complete. Neither store
// minds an object of that name.
const (
	importClaimName = "_holdfast-import.json"
	exportClaimName = "_holdfast-export.json"
	maxClaimBytes   = 1 << 16
)

// ErrBusy says that somebody else writes into the target.
var ErrBusy = errors.New("another process is writing into the target")

// claim is the right to write into a target, and the mark of what was begun there.
type claim struct {
	place place
	name  string
	text  claimText
}

// claimText is the object. It stays when the process that wrote it fails or is killed.
type claimText struct {
	Source string `json:"source"` // where what is written comes from, without secrets
	Run    string `json:"run"`    // drawn by each process
	Host   string `json:"host"`
	PID    int    `json:"pid"`
	Begun  int64  `json:"begun"` // seconds
	// Ended is true when the process has stopped before the work was complete.
	Ended bool `json:"ended"`
}

// acquire claims the target. resumed is true if the same work was begun before and not completed. It fails with ErrBusy while
// the process of another claim may live, unless takeOver is set, and with ErrNotEmpty if other work was begun and not
// completed, unless force is set.
func acquire(ctx context.Context, p place, name, source string, takeOver, force bool) (c *claim, resumed bool, err error) {
	host, _ := os.Hostname() // without a name the process cannot be found dead
	c = &claim{p, name, claimText{Source: source, Run: uuid.NewString(), Host: host, PID: os.Getpid(), Begun: time.Now().Unix()}}
	err = p.Create(ctx, name, c.encode())
	if err == nil {
		return c, false, nil
	}
	if !errors.Is(err, errPresent) {
		return nil, false, fmt.Errorf("create object %s: %w", name, err)
	}
	earlier, err := c.read(ctx)
	if err != nil {
		return nil, false, err
	}
	if !earlier.Ended && !earlier.dead() && !takeOver {
		return nil, false, fmt.Errorf("%w: process %d of host %q, since %s, from %s (object %s)",
			ErrBusy, earlier.PID, earlier.Host, time.Unix(earlier.Begun, 0).UTC().Format(time.RFC3339), earlier.Source, name)
	}
	if earlier.Source != source && !force {
		return nil, false, fmt.Errorf("%w: what was begun there from %s at %s is not complete (object %s)",
			ErrNotEmpty, earlier.Source, time.Unix(earlier.Begun, 0).UTC().Format(time.RFC3339), name)
	}
	if err := c.store(ctx); err != nil {
		return nil, false, err
	}
	return c, earlier.Source == source, nil
}

// dead reports whether the process is known to have ended.
func (t *claimText) dead() bool {
	host, err := os.Hostname()
	return err == nil && host == t.Host && t.PID > 0 && errors.Is(syscall.Kill(t.PID, 0), syscall.ESRCH)
}

func (c *claim) encode() []byte {
	text, _ := json.Marshal(c.text) // a struct of strings and numbers
	return text
}

func (c *claim) store(ctx context.Context) error {
	err := c.place.Replace(ctx, c.name, func(w io.Writer) error {
		_, err := w.Write(c.encode())
		return err
	})
	if err != nil {
		return fmt.Errorf("write object %s: %w", c.name, err)
	}
	return nil
}

func (c *claim) read(ctx context.Context) (claimText, error) {
	var found claimText
	text, err := readAll(ctx, c.place, c.name, maxClaimBytes)
	if err == nil {
		err = json.Unmarshal(text, &found)
	}
	if err != nil {
		return claimText{}, fmt.Errorf("read object %s: %w", c.name, err)
	}
	return found, nil
}

// check fails with ErrBusy if somebody has taken the target over.
func (c *claim) check(ctx context.Context) error {
	found, err := c.read(ctx)
	if err != nil {
		return err
	}
	if found.Run != c.text.Run {
		return fmt.Errorf("%w: process %d of host %q has taken over", ErrBusy, found.PID, found.Host)
	}
	return nil
}

// complete removes the claim: all is done.
func (c *claim) complete(ctx context.Context) error {
	if err := c.check(ctx); err != nil {
		return err
	}
	if err := c.place.Delete(ctx, c.name); err != nil {
		return fmt.Errorf("remove object %s: %w", c.name, err)
	}
	return nil
}

// end leaves the mark for who goes on. What cannot be written now, the process's end tells.
func (c *claim) end(ctx context.Context) {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if c.check(bounded) == nil {
		c.text.Ended = true
		_ = c.store(bounded)
	}
}
