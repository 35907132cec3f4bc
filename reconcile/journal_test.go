package reconcile

import (
	"bytes"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"

	"holdfast/metastore"
)

func TestARowIsOursOnlyIfARunMeantToStageItAndFoundNoOthers(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/journal"
	uid := metastore.IndexUID{IndexID: "logs", Incarnation: ulid.Make()}
	first, err := openJournal(path, "first")
	require.NoError(t, err)
	second, err := openJournal(path, "second") // at once, on the same file
	require.NoError(t, err)
	require.NoError(t, first.addIntent(uid, []string{"a", "b"}))
	require.NoError(t, second.addIntent(uid, []string{"b", "c"}))
	require.NoError(t, second.addSkipped(uid, []string{"b", "c"}))
	require.NoError(t, first.close())
	require.NoError(t, second.close())

	third, err := openJournal(path, "third")
	require.NoError(t, err)

	require.True(t, third.mayHaveStaged(uid, "a"))
	require.True(t, third.mayHaveStaged(uid, "b"), "the first run staged it")
	require.False(t, third.mayHaveStaged(uid, "c"))
	require.False(t, third.mayHaveStaged(metastore.IndexUID{IndexID: "logs", Incarnation: ulid.Make()}, "a"))
	require.NoError(t, third.close())
}

func FuzzAJournalIsReadWithoutCrashing(f *testing.F) {
	f.Add([]byte(`{"object":{"location":"file:///a.split","size":1,"modified":"2026-01-02T03:04:05Z","legacy":true}}`))
	f.Add([]byte(`{"intent":{"run":"r","index_uid":"logs:01M8P1J1J1GT6BJNXDVR91X815","split_ids":["a"]}}` + "\n\n" + `{"skipped":{"run":"r"}}`))
	f.Add([]byte(`{"seen":{"index_uid":"x","at":7,"without_row":["a"],"settled":["b"]}}` + "\n{\"object\":{\"metadata\":{}}}"))
	f.Add([]byte(`{"block":{"location":"file:///a.split","size":1,"modified":"2026-01-02T03:04:05Z","number":0,"checksum":5,"docs":"AAAAAAAAAAAAAAAAAAAAAA=="}}`))
	f.Add([]byte(`{"partition":{"location":"file:///a.split","size":1,"modified":"2026-01-02T03:04:05Z","key":"k","id":5,"exact":true}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		j, err := openJournal("", "run")
		if err != nil {
			t.Fatal(err)
		}
		if j.load(bytes.NewReader(text)) != nil {
			return
		}
		for location, o := range j.objects {
			entry := Entry{Name: "a.split", Size: o.Size, Modified: o.Modified, ETag: o.ETag}
			known, found := j.object(location, entry)
			if !found && o.Modified.Year() < 9999 {
				t.Fatalf("the object %q is not found again", location)
			}
			object := splitObject{Entry: entry, id: "a"}
			if object.restore(known, nil) && !known.Legacy && object.metadata.SplitID != "a" {
				t.Fatal("the metadata of another split was taken")
			}
			if object.evidence != nil {
				_ = j.known(object.version(location), object.evidence)
			}
		}
	})
}

func TestAnObjectOfAnotherTimeSizeOrTagIsUnknown(t *testing.T) {
	t.Parallel()
	j, err := openJournal("", "run")
	require.NoError(t, err)
	at := time.Unix(1000, 5)
	j.objects["x"] = journalObject{Location: "x", Size: 7, Modified: at, ETag: "e"}
	for _, c := range []struct {
		entry Entry
		want  bool
	}{
		{Entry{Size: 7, Modified: at.UTC(), ETag: "e"}, true},
		{Entry{Size: 8, Modified: at, ETag: "e"}, false},
		{Entry{Size: 7, Modified: at.Add(1), ETag: "e"}, false},
		{Entry{Size: 7, Modified: at, ETag: "f"}, false},
	} {
		_, found := j.object("x", c.entry)
		require.Equal(t, c.want, found, "%v", c.entry)
	}
}
