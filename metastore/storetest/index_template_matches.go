package storetest

import "strings"

// indexTemplateMatchesCases are about which template counts for an index id.
func indexTemplateMatchesCases() []testCase {
	return []testCase{
		{"I-111 to I-115 of the templates that match, the one of the highest priority counts", func(b *bundle) {
			b.createTemplate(b.template("f", 200, "foo*", "-fool"))
			b.createTemplate(b.template("fb", 100, "foobar*"))
			b.createTemplate(b.template("b", 100, "bar*"))
			b.wantMatches(b.matches("bar", "foo", "foobar", "fool", "qux"), "bar b", "foo f", "foobar f")
		}},
		{"I-116 without templates nothing is listed and nothing matches", func(b *bundle) {
			b.wantIDs(b.listTemplates())
			b.wantMatches(b.matches("foo"))
			b.wantMatches(b.matches())
		}},
		{"I-153 an exact pattern matches only itself, a star any run of characters", func(b *bundle) {
			b.createTemplate(b.template("exact", 1, "index-1"))
			b.createTemplate(b.template("star", 0, "index-1*"))
			b.createTemplate(b.template("middle", 0, "web-*-eu*"))
			b.wantMatches(b.matches("index-1", "index-10", "index-2", "INDEX-1", "web--eu", "web-1-eu-2", "web-eu"),
				"index-1 exact", "index-10 star", "web--eu middle", "web-1-eu-2 middle")
		}},
		{"I-154 and canon H30 an id that any negative pattern matches is excluded", func(b *bundle) {
			b.createTemplate(b.template("a", 1, "-index-foobar", "index-foo*", "-*-tmp", "-index-foo-old*"))
			b.wantMatches(b.matches("index-foo", "index-fooo", "index-foobar", "index-foo-tmp", "index-foo-old-1"), "index-foo a", "index-fooo a")
		}},
		{"canon H11 an underscore stands for itself, in positive and negative patterns", func(b *bundle) {
			b.createTemplate(b.template("a", 1, "w_b*", "w_b"))
			b.createTemplate(b.template("c", 1, "c*", "-c_1"))
			b.wantMatches(b.matches("w_b", "web", "w_b1", "web1", "c-1", "c_1"), "c-1 c", "w_b a", "w_b1 a")
		}},
		{"a dot and a percent sign are nothing special", func(b *bundle) {
			b.createTemplate(b.template("a", 1, "w.b*"))
			b.wantMatches(b.matches("w.b", "web", "w%b", `w\b`), "w.b a")
		}},
		{"I-156 the template of the highest priority that is left wins", func(b *bundle) {
			b.createTemplate(b.template("a", 10, "foo*"))
			b.wantMatches(b.matches("foo"), "foo a")
			b.createTemplate(b.template("b", 20, "f*"))
			b.wantMatches(b.matches("foo"), "foo b")
			b.deleteTemplates(b.indexID("b"))
			b.wantMatches(b.matches("foo"), "foo a")
			b.deleteTemplates(b.indexID("a"))
			b.wantMatches(b.matches("foo"))
		}},
		{"canon H28 and H33 priorities of 64 bits rank as they are", func(b *bundle) {
			for suffix, priority := range map[string]uint64{"zero": 0, "int-max": 1<<31 - 1, "int-min": 1 << 31, "int-wrap": 1 << 32, "max": 1<<64 - 1} {
				b.createTemplate(b.template(suffix, priority, "foo*"))
			}
			for _, suffix := range []string{"max", "int-wrap", "int-min", "int-max", "zero"} {
				b.wantMatches(b.matches("foo"), "foo "+suffix)
				b.deleteTemplates(b.indexID(suffix))
			}
		}},
		{"of equal priorities the smallest id wins, by its bytes", func(b *bundle) {
			for _, suffix := range []string{"b", "B", "_", "a"} {
				b.createTemplate(b.template(suffix, 5, "foo*"))
			}
			for _, suffix := range []string{"B", "_", "a", "b"} {
				b.wantMatches(b.matches("foo"), "foo "+suffix)
				b.deleteTemplates(b.indexID(suffix))
			}
		}},
		{"canon H29 an overwritten template matches by its new patterns and priority only", func(b *bundle) {
			b.createTemplate(b.template("a", 50, "old*", "both*"))
			b.createTemplate(b.template("rival", 40, "both*"))
			b.wantMatches(b.matches("old", "new", "both"), "both a", "old a")
			b.overwriteTemplate(b.template("a", 30, "new*", "both*"))
			b.wantMatches(b.matches("old", "new", "both"), "both rival", "new a")
			b.deleteTemplates(b.indexID("a"))
			b.wantMatches(b.matches("old", "new", "both"), "both rival")
		}},
		{"an id that is asked for twice is answered once, and the answers are sorted", func(b *bundle) {
			template := b.template("a", 1, "*")
			b.createTemplate(template)
			b.wantMatches(b.matches("c", "a", "b", "a", "B"), "B a", "a a", "b a", "c a")
		}},
		{"ids that no index can have match by their text alone", func(b *bundle) {
			b.createTemplate(b.template("a", 1, "*"))
			b.wantMatches(b.matches("a b", "é", "_", "%"), "% a", "_ a", "a b a", "é a")
			matches, err := b.store.FindIndexTemplateMatches(b.ctx, []string{"", "nul\x00nul", strings.Repeat("x", 300)})
			if err != nil || len(matches) != 0 {
				b.Errorf("matches %v, %v", matches, err)
			}
		}},
		{"a match tells the template's document", func(b *bundle) {
			template := b.template("a", 9, "foo*")
			b.createTemplate(template)
			matches, err := b.store.FindIndexTemplateMatches(b.ctx, []string{b.indexID("foo")})
			if err != nil || len(matches) != 1 || !matches[0].Template.Equal(template) {
				b.Errorf("matches %v, %v, want %s", matches, err, template.AppendJSON(nil))
			}
		}},
		{"many templates and many ids", func(b *bundle) {
			for i := range 100 {
				b.createTemplate(b.template(number(i), uint64(i), number(i)+"-*"))
			}
			var ids, want []string
			for i := range 1000 {
				ids = append(ids, number(999-i)+"-x")
				if i < 100 {
					want = append(want, number(i)+"-x "+number(i))
				}
			}
			b.wantMatches(b.matches(ids...), want...)
		}},
	}
}

// number writes i so that the order of the texts is that of the numbers.
func number(i int) string {
	return string([]byte{'n', '0' + byte(i/100%10), '0' + byte(i/10%10), '0' + byte(i%10)})
}
