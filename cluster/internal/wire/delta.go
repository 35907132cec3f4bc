package wire

// Status says whether a key has a value.
type Status uint8

// The statuses.
const (
	// StatusSet is a key with a value.
	StatusSet Status = 0
	// StatusDeleted is a removed key, kept until every member has heard of it.
	StatusDeleted Status = 1
	// StatusDeleteAfterTTL is a key with a value that goes away by itself.
	StatusDeleteAfterTTL Status = 2
)

// KeyValue is one key of a member.
type KeyValue struct {
	Key     string
	Value   string
	Version Version
	Status  Status
}

// NodeDelta says: from a state of the member at version From, these are all changes up to version Max,
// except for removed keys that were removed for good at or below version LastGC.
type NodeDelta struct {
	Identity Identity
	LastGC   Version
	// From is exclusive.
	From Version
	// KeyValues have strictly rising versions.
	KeyValues []KeyValue
	// Max is the version of the last of KeyValues. Without KeyValues it is the highest version of a
	// member whose keys are all gone, or 0 for a delta that says nothing.
	Max Version
}

// A delta is a block stream of operations: a tag, then the fields.
const (
	opNode          = 0 // identity, last GC version, from-version
	opKeyValue      = 1 // key, value, version, status
	opSetMaxVersion = 2 // max version
)

// delta reads the changes of members: for each of them a Node, then either KeyValues or one
// SetMaxVersion or nothing.
func (c *Codec) delta(r *reader) []NodeDelta {
	if r.err != nil {
		return nil
	}
	content := reader{rest: c.stream(r, maxDeltaContent), err: r.err}
	var d deltaReader
	for len(content.rest) > 0 && content.err == nil {
		d.operation(&content)
	}
	content.within("delta")
	r.err = content.err
	if r.err != nil {
		return nil
	}
	return d.nodes
}

type deltaReader struct {
	nodes []NodeDelta
	seen  map[Identity]struct{}
	// maxSet says that the last Node had its SetMaxVersion.
	maxSet bool
	count  int
}

func (d *deltaReader) operation(r *reader) {
	switch tag := r.u8(); tag {
	case opNode:
		d.node(r)
	case opKeyValue:
		d.keyValue(r)
	case opSetMaxVersion:
		d.setMaxVersion(r)
	default:
		r.fail("tag is %d, must be at most %d", tag, opSetMaxVersion)
	}
	r.within("operation %d", d.count)
	d.count++
}

func (d *deltaReader) node(r *reader) {
	n := NodeDelta{Identity: r.identity(), LastGC: Version(r.u64()), From: Version(r.u64())}
	if _, found := d.seen[n.Identity]; found {
		r.fail("a second Node for one member")
	}
	if r.err != nil {
		return
	}
	if d.seen == nil {
		d.seen = make(map[Identity]struct{})
	}
	d.seen[n.Identity] = struct{}{}
	d.nodes = append(d.nodes, n)
	d.maxSet = false
}

// current returns the member that the operation is about, or nil.
func (d *deltaReader) current(r *reader) *NodeDelta {
	if len(d.nodes) == 0 {
		r.fail("a change before any Node")
		return nil
	}
	return &d.nodes[len(d.nodes)-1]
}

func (d *deltaReader) keyValue(r *reader) {
	kv := KeyValue{Key: r.string(), Value: r.string(), Version: Version(r.u64()), Status: Status(r.u8())}
	n := d.current(r)
	if r.err != nil {
		return
	}
	switch {
	case kv.Status > StatusDeleteAfterTTL:
		r.fail("status is %d, must be at most %d", kv.Status, StatusDeleteAfterTTL)
	case d.maxSet:
		r.fail("a KeyValue after a SetMaxVersion")
	case kv.Version <= n.Max:
		r.fail("version %d does not follow version %d", kv.Version, n.Max)
	}
	if r.err != nil {
		return
	}
	n.KeyValues = append(n.KeyValues, kv)
	n.Max = kv.Version
}

func (d *deltaReader) setMaxVersion(r *reader) {
	highest := Version(r.u64())
	n := d.current(r)
	switch {
	case r.err != nil:
	case d.maxSet || len(n.KeyValues) > 0:
		// Below the version of a KeyValue it would say that the member went back.
		r.fail("a SetMaxVersion after another change")
	default:
		n.Max, d.maxSet = highest, true
	}
}
