package interop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"

	"holdfast/metastore/file"
	"holdfast/metastore/indexconfig"
	"holdfast/metastore/internal/losses"
	"holdfast/metastore/internal/strictjson"
)

const (
	manifestName       = "manifest.json"
	legacyManifestName = "indexes_states.json"
	// maxManifestBytes bounds what is read of a manifest.
	maxManifestBytes = 256 << 20
)

// indexKey is the name of the object about an index.
func indexKey(indexID string) string { return indexID + "/metastore.json" }

// status is the state of an index in a manifest.
type status string

const (
	creating status = "creating" // its object is not or not yet there
	active   status = "active"
	deleting status = "deleting" // its object is going away
)

// manifest says what there is in a store of Quickwit's.
type manifest struct {
	indexes   map[string]status
	templates []*indexconfig.IndexTemplate // by id
	identity  string                       // a lower-case UUID, or empty
	dropped   []file.Loss                  // what its text says beyond that
}

var manifestKeys = strictjson.Keys{
	{Name: "version", Required: true},
	{Name: "indexes", Required: true},
	{Name: "templates", Required: true},
	{Name: "identity"},
}

// parseManifest reads a manifest of the versions 0.7 to 0.9, as Quickwit upgrades it when it reads it.
func parseManifest(text []byte) (*manifest, error) {
	m := &manifest{indexes: map[string]status{}}
	byID := map[string]*indexconfig.IndexTemplate{}
	var version string
	err := strictjson.Decode("", text, func(r *strictjson.Reader) error {
		return r.Object(manifestKeys, strictjson.Ignore, func(key string) error {
			switch key {
			case "version":
				return r.Enum(&version, "0.9", "0.8", "0.7", "V0_8")
			case "indexes":
				return m.readStatuses(r)
			case "templates":
				return r.Array(func(int) error { return readTemplate(r, byID) })
			default:
				return m.readIdentity(r)
			}
		})
	})
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		if version != "0.9" {
			byID[id].DocMapping.UID = ulid.ULID{}
		}
		m.templates = append(m.templates, byID[id])
	}
	return m, m.findDropped(losses.Manifest, text, m.append)
}

// parseLegacyManifest reads a manifest from before release 0.8, which holds the states alone.
func parseLegacyManifest(text []byte) (*manifest, error) {
	m := &manifest{indexes: map[string]status{}}
	if err := strictjson.Decode("", text, m.readStatuses); err != nil {
		return nil, err
	}
	return m, m.findDropped(losses.Statuses, text, m.appendStatuses)
}

func (m *manifest) findDropped(shape *losses.Shape, text []byte, write func(dst []byte) []byte) error {
	var lost losses.Ledger
	err := lost.Compare(shape, text, write)
	m.dropped = lost.Losses()
	return err
}

func (m *manifest) readStatuses(r *strictjson.Reader) error {
	return r.Map(func(id string) error {
		var text string
		if err := r.Enum(&text, "creating", "active", "deleting", "Creating", "Alive", "Deleting"); err != nil {
			return err
		}
		switch text {
		case "creating", "Creating":
			m.indexes[id] = creating
		case "active", "Alive":
			m.indexes[id] = active
		default:
			m.indexes[id] = deleting
		}
		return nil
	})
}

// readTemplate reads a template. Of two with one id the last one counts.
func readTemplate(r *strictjson.Reader, into map[string]*indexconfig.IndexTemplate) error {
	var text []byte
	if err := r.Raw(&text); err != nil {
		return err
	}
	template, err := indexconfig.ParseStoredIndexTemplate(text)
	if err == nil {
		into[template.TemplateID] = template
	}
	return err
}

func (m *manifest) readIdentity(r *strictjson.Reader) error {
	var text string
	if err := r.String(&text); err != nil {
		return err
	}
	identity, err := uuid.Parse(text)
	if err == nil && identity != uuid.Nil {
		m.identity = identity.String()
	}
	return err
}

// append appends the text of the manifest, of version 0.9.
func (m *manifest) append(dst []byte) []byte {
	dst = m.appendStatuses(append(dst, `{"version":"0.9","indexes":`...))
	dst = append(dst, `,"templates":[`...)
	for i, template := range slices.SortedFunc(slices.Values(m.templates), func(a, b *indexconfig.IndexTemplate) int {
		return cmp.Compare(a.TemplateID, b.TemplateID)
	}) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = template.AppendJSON(dst)
	}
	dst = append(dst, ']')
	if m.identity != "" {
		dst = strictjson.AppendString(append(dst, `,"identity":`...), m.identity)
	}
	return append(dst, '}')
}

func (m *manifest) appendStatuses(dst []byte) []byte {
	dst = append(dst, '{')
	for i, id := range slices.Sorted(maps.Keys(m.indexes)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strictjson.AppendString(append(strictjson.AppendString(dst, id), ':'), string(m.indexes[id]))
	}
	return append(dst, '}')
}

// ErrNoStore says that there is no store where one is to be read.
var ErrNoStore = errors.New("there is no metastore")

// ErrManifest says that a manifest cannot be understood.
var ErrManifest = errors.New("the manifest cannot be understood")

// readManifest reads the manifest of a store. It fails with ErrNoStore or ErrManifest.
func readManifest(ctx context.Context, p place) (*manifest, error) {
	for _, kind := range []struct {
		name  string
		parse func([]byte) (*manifest, error)
	}{{manifestName, parseManifest}, {legacyManifestName, parseLegacyManifest}} {
		text, err := readAll(ctx, p, kind.name, maxManifestBytes)
		if errors.Is(err, errAbsent) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read object %s: %w", kind.name, err)
		}
		m, err := kind.parse(text)
		if err != nil {
			return nil, fmt.Errorf("%w: object %s: %w", ErrManifest, kind.name, err)
		}
		return m, nil
	}
	return nil, fmt.Errorf("%w of Quickwit's: neither %s nor %s is there", ErrNoStore, manifestName, legacyManifestName)
}
