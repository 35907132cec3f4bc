package idempotency_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"holdfast/metastore/idempotency"
)

const someKey = "01999f2a-bc3d-7def-8123-456789abcdef"

func TestAKeyIsReadInEitherCase(t *testing.T) {
	t.Parallel()
	lower, err := idempotency.ParseKey(someKey)
	if err != nil {
		t.Fatal(err)
	}
	upper, err := idempotency.ParseKey(strings.ToUpper(someKey))
	if err != nil || upper != lower {
		t.Fatalf("upper case: %v, %v; want %v", upper, err, lower)
	}
	if lower.String() != someKey {
		t.Fatalf("written as %s", lower)
	}
	if want := time.UnixMilli(0x01999f2abc3d); !lower.Time().Equal(want) {
		t.Fatalf("time %s, want %s", lower.Time(), want)
	}
}

func TestWhatIsNoKeyIsRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty":                 "",
		"blank":                 strings.Repeat(" ", 36),
		"version 4":             "01999f2a-bc3d-4def-8123-456789abcdef",
		"nil":                   "00000000-0000-0000-0000-000000000000",
		"max":                   "ffffffff-ffff-ffff-ffff-ffffffffffff",
		"version 7, variant 0":  "01999f2a-bc3d-7def-0123-456789abcdef",
		"version 7, variant 11": "01999f2a-bc3d-7def-c123-456789abcdef",
		"32 digits":             strings.ReplaceAll(someKey, "-", ""),
		"braces":                "{" + someKey + "}",
		"URN":                   "urn:uuid:" + someKey,
		"quotes":                `"` + someKey + `"`,
		"one character short":   someKey[1:],
		"one character long":    someKey + "0",
		"hyphens elsewhere":     "01999f2ab-c3d-7def-8123-456789abcdef",
		"a letter":              "01999f2a-bc3d-7def-8123-456789abcdeg",
		"two keys":              someKey + "," + someKey,
	} {
		if key, err := idempotency.ParseKey(text); err == nil {
			t.Errorf("%s: %q was read as %s", name, text, key)
		}
	}
}

func TestANewKeyIsOfNow(t *testing.T) {
	t.Parallel()
	before := time.Now().Truncate(time.Millisecond)
	key, err := idempotency.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	if made := key.Time(); made.Before(before) || made.After(time.Now()) {
		t.Fatalf("the key says %s, it was made after %s", made, before)
	}
	if read, err := idempotency.ParseKey(key.String()); err != nil || read != key {
		t.Fatalf("read as %s, %v; want %s", read, err, key)
	}
}

func TestDerivedIDs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		key, err := idempotency.NewKey()
		if err != nil {
			t.Fatal(err)
		}
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		one := idempotency.NewPrincipal([]byte("salt"), "one")
		id := key.ULID(one, a)
		switch {
		case id != key.ULID(one, a):
			t.Fatal("the same call gives another id")
		case id == key.ULID(idempotency.Anonymous, a):
			t.Fatal("another principal gets the same id")
		case a != b && id == key.ULID(one, b):
			t.Fatal("another purpose gets the same id")
		case int64(id.Time()) != key.Time().UnixMilli():
			t.Fatalf("the id is of %d, the key of %d", id.Time(), key.Time().UnixMilli())
		}
		step := key.Step(a)
		if read, err := idempotency.ParseKey(step.String()); err != nil || read != step || step == key || !step.Time().Equal(key.Time()) {
			t.Fatalf("step %s of %s is not a key of the same time: %v", step, key, err)
		}
	})
}

func TestALogDoesNotShowTheKey(t *testing.T) {
	t.Parallel()
	key, err := idempotency.ParseKey(someKey)
	if err != nil {
		t.Fatal(err)
	}
	shown := key.Abbreviated()
	if strings.Contains(shown, someKey[24:]) || !strings.HasPrefix(shown, "2025") {
		t.Fatalf("shown as %s", shown)
	}
}

func FuzzParseKey(f *testing.F) {
	f.Add(someKey)
	f.Add(strings.ToUpper(someKey))
	f.Add("{" + someKey + "}")
	f.Fuzz(func(t *testing.T, text string) {
		key, err := idempotency.ParseKey(text)
		if err == nil && key.String() != strings.ToLower(text) {
			t.Fatalf("%q was read as %s", text, key)
		}
	})
}
