package storetest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The peer's own suites have so many numbered cases, by the letter that names of cases have before the number: S-1, I-1, F1.
var numberedCases = map[string]int{"S-": 116, "I-": 161, "I": 2, "V": 6, "F": 9, "P": 6, "Q": 3}

// elsewhere are the cases that no store can show by itself: of failing storage, of replicas, of how
// messages are framed. They name the tests that stand for them.
var elsewhere = map[string]string{
	"I-127": "TestTheClientIsAStore",
	"I-129": "TestI129AndI130AReplica", "I-130": "TestI129AndI130AReplica",
	// Refused by the peer; here any store may be read-only.
	"I-131": "TestAReadOnlyServerAnswersReadsAndForbidsChanges",
	"I-134": "TestI134", "I-135": "TestI135", "I-137": "TestI137ToI139", "I-138": "TestI137ToI139", "I-139": "TestI137ToI139", "I-140": "TestI140",
	"I-141": "TestI141", "I-142": "TestI142", "I-143": "TestI143", "I-144": "TestI144",
	"F1": "TestI134AMutationWhoseWriteFails",
	"F3": "TestAWriteIsSeenAtOnceByEveryStoreUnlessARefreshTimeAllowsOtherwise",
	"F5": "TestOpstampsGoOnWhereAnotherProcessLeftOff",
	"Q3": "TestNoStaleSplitsAreAnEmptyArray",
}

func TestEveryNumberedCaseIsTestedOrAccountedFor(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	several := regexp.MustCompile(`\b([SI]-)(\d+) to [SI]-(\d+)`)
	one := regexp.MustCompile(`\b([SI]-|[IVFPQ])(\d+)\b`)
	for _, group := range groups() {
		for _, c := range group.cases {
			for _, match := range several.FindAllStringSubmatch(c.name, -1) {
				first, _ := strconv.Atoi(match[2])
				last, _ := strconv.Atoi(match[3])
				for n := first; n <= last; n++ {
					seen[match[1]+strconv.Itoa(n)] = true
				}
			}
			for _, match := range one.FindAllStringSubmatch(c.name, -1) {
				seen[match[1]+match[2]] = true
			}
		}
	}
	tests := testNames(t)
	for number, test := range elsewhere {
		if seen[number] {
			t.Errorf("case %s is run here and said to be elsewhere", number)
		}
		seen[number] = true
		if !strings.Contains(tests, "func "+test) {
			t.Errorf("case %s is said to be %s, which there is not", number, test)
		}
	}
	total := 0
	for letter, last := range numberedCases {
		for n := 1; n <= last; n++ {
			if !seen[fmt.Sprint(letter, n)] {
				t.Errorf("case %s%d is missing", letter, n)
			}
		}
		total += last
	}
	if len(seen) != total {
		t.Errorf("%d numbered cases, want %d", len(seen), total)
	}
}

// testNames returns the lines of all test files that begin a function.
func testNames(t *testing.T) string {
	t.Helper()
	var names strings.Builder
	for _, directory := range []string{"../file", "../postgres", "../rpc", "../../cmd/metastore"} {
		files, err := filepath.Glob(filepath.Join(directory, "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%d files in %s, %v", len(files), directory, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				if strings.HasPrefix(line, "func Test") {
					names.WriteString(line)
				}
			}
		}
	}
	return names.String()
}
