package storetest

import (
	"strings"

	"holdfast/metastore"
	"holdfast/metastore/indexconfig"
)

// listIndexesCases are about ListIndexesMetadata and the pattern language.
func listIndexesCases() []testCase {
	return []testCase{
		{"I-31 and I-32 all indexes are listed, once they were created", func(b *bundle) {
			if got := b.withPrefix(b.listIndexes("*")); len(got) != 0 {
				b.Errorf("listed %v before they were created", got)
			}
			first, second := b.index("a"), b.index("b")
			b.wantIDs(b.withPrefix(b.listIndexes("*")), first.String(), second.String())
		}},
		{"I-33 and I-34 patterns with several stars, and exact ones", func(b *bundle) {
			patterns := []string{b.prefix + "-1-*-suffix-*", b.prefix + ".*.*", b.prefix + "-exact"}
			b.wantIDs(b.listIndexes(patterns...))
			var uids []metastore.IndexUID
			for _, suffix := range []string{"-1-x-suffix-1", "-1-yy-suffix-2", ".3.f.3", "-2-x-suffix-1", "-exact", "-exact-not"} {
				uids = append(uids, b.createIndex(b.prefix+suffix))
			}
			b.wantIDsInAnyOrder(b.listIndexes(patterns...), uids[0].String(), uids[1].String(), uids[2].String(), uids[4].String())
			b.wantIDsInAnyOrder(b.listIndexes(b.prefix+"-1-*-suffix-*", b.prefix+"-exact"), uids[0].String(), uids[1].String(), uids[4].String())
		}},
		{"an index that several patterns match is listed once", func(b *bundle) {
			uid := b.index("a")
			b.wantIDs(b.listIndexes(b.prefix+"*", b.prefix+"-*", uid.IndexID, uid.IndexID), uid.String())
		}},
		{"indexes are listed in the order of the bytes of their UIDs", func(b *bundle) {
			plain, dash, digit, upper := b.index("x"), b.index("x-y"), b.index("x1"), b.index("X")
			b.wantIDs(b.listIndexes(b.prefix+"*"), upper.String(), dash.String(), digit.String(), plain.String())
		}},
		{"I-153 an exact pattern matches only itself; a star any run of characters", func(b *bundle) {
			one, ten, two := b.index("index-1"), b.index("index-10"), b.index("index-2")
			b.wantIDs(b.listIndexes(one.IndexID), one.String())
			b.wantIDs(b.listIndexes(one.IndexID+"*"), ten.String(), one.String())
			b.wantIDs(b.listIndexes(two.IndexID+"*"), two.String())
			b.wantIDs(b.listIndexes(strings.ToUpper(one.IndexID) + "*"))
		}},
		{"I-154 a negative pattern excludes", func(b *bundle) {
			foo, fooo, foobar := b.index("index-foo"), b.index("index-fooo"), b.index("index-foobar")
			b.wantIDsInAnyOrder(b.listIndexes(foo.IndexID+"*", "-"+foobar.IndexID), foo.String(), fooo.String())
			b.wantIDsInAnyOrder(b.listIndexes("-"+foobar.IndexID, foo.IndexID+"*"), foo.String(), fooo.String())
			b.wantIDs(b.listIndexes(foo.IndexID+"*", "-*"))
		}},
		{"I-155 a star with a negative pattern filters by the negative one", func(b *bundle) {
			keep, drop := b.index("keep"), b.index("drop")
			b.wantIDs(b.withPrefix(b.listIndexes("*", "-"+drop.IndexID)), keep.String())
		}},
		{"P6 the patterns of several signs combine: any positive and no negative", func(b *bundle) {
			eu, us, test, audit := b.index("web-eu"), b.index("web-us"), b.index("web-us-test"), b.index("audit")
			b.wantIDsInAnyOrder(b.listIndexes(b.prefix+"-web-*"), eu.String(), us.String(), test.String())
			b.wantIDsInAnyOrder(b.listIndexes(b.prefix+"-web-*", "-*-test"), eu.String(), us.String())
			b.wantIDsInAnyOrder(b.listIndexes(audit.IndexID, b.prefix+"-web-u*"), audit.String(), us.String(), test.String())
		}},
		{"canon H29 an underscore stands for itself, next to a star too", func(b *bundle) {
			under, _ := b.index("w_b-x"), b.index("web-x")
			b.wantIDs(b.listIndexes(b.prefix+"-w_b-*"), under.String())
			b.wantIDs(b.listIndexes(b.prefix+"-w_b-x"), under.String())
		}},
		{"a dot stands for itself", func(b *bundle) {
			dot, _ := b.index("w.b-x"), b.index("web-x")
			b.wantIDs(b.listIndexes(b.prefix+"-w.b-*"), dot.String())
		}},
		{"I-151, I-152, I-158 and canon H28 patterns of a wrong form, and none that is positive, are refused", func(b *bundle) {
			for _, patterns := range [][]string{
				nil, {""}, {"-abc"}, {"-"}, {"ab"}, {"_abc*"}, {"we**"}, {"we b*"}, {"foo!"}, {"**"},
				{"abc*", "-"}, {"abc*", "--web"}, {strings.Repeat("x", 256)}, {"abc*", "é*"},
			} {
				if _, err := indexconfig.ParseIndexIDPatterns(patterns); err == nil {
					b.Errorf("patterns %q were accepted", patterns)
				}
			}
			for _, pattern := range []string{"*", "abc.*", "a*", "*a", "abc"} {
				if _, err := indexconfig.ParseIndexIDPatterns([]string{pattern}); err != nil {
					b.Errorf("pattern %q was refused: %v", pattern, err)
				}
			}
		}},
		{"listings show the documents of single reads", func(b *bundle) {
			uid := b.index("a")
			found, err := b.store.ListIndexesMetadata(b.ctx, b.patterns(uid.IndexID))
			if err != nil || len(found) != 1 {
				b.Fatalf("found %v, %v", found, err)
			}
			b.wantSameMetadata(found[0], b.metadata(uid))
		}},
	}
}

func (b *bundle) patterns(patterns ...string) *indexconfig.IndexIDPatterns {
	b.Helper()
	parsed, err := indexconfig.ParseIndexIDPatterns(patterns)
	if err != nil {
		b.Fatalf("parse patterns %q: %v", patterns, err)
	}
	return parsed
}

// listIndexes returns the UIDs of the indexes that match, in the order of the store.
func (b *bundle) listIndexes(patterns ...string) []string {
	b.Helper()
	found, err := b.store.ListIndexesMetadata(b.ctx, b.patterns(patterns...))
	if err != nil {
		b.Fatalf("list indexes %q: %v", patterns, err)
	}
	var uids []string
	for _, metadata := range found {
		uids = append(uids, metadata.IndexUID.String())
	}
	return uids
}

// withPrefix keeps the UIDs of this case.
func (b *bundle) withPrefix(uids []string) []string {
	var own []string
	for _, uid := range uids {
		if strings.HasPrefix(uid, b.prefix) {
			own = append(own, uid)
		}
	}
	return own
}
