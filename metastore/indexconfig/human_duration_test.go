package indexconfig_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"holdfast/metastore/indexconfig"
)

func TestDurationsAreWrittenInTheirCanonicalForm(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		// recorded
		"48h": "2days", "2 days": "2days", "1week 1h 90s": "7days 1h 1m 30s", "1day 12h": "1day 12h", "0s": "0s",
		"30 days": "30days", "90 days": "2months 29days 2h 52m 48s", "3 months": "3months", "12h": "12h", "1.5 days": "1day 12h",
		// every unit
		"1y": "1year", "2years": "2years", "1 M": "1month", "1w": "7days", "3 wks": "21days", "1d1h1m1s": "1day 1h 1m 1s",
		"1ms 1us 1ns": "1ms 1us 1ns", "1500ms": "1s 500ms", "1 min": "1m", "2 hrs 3 mins 4 secs": "2h 3m 4s",
		"  7 days ": "7days", "365.25 days": "1year", "0.5h": "30m", "1000years": "1000years",
	} {
		got, err := indexconfig.ParseHumanDuration(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got.String() != want {
			t.Errorf("%q: written %q, want %q", text, got, want)
		}
	}
}

func TestTextsThatAreNoDurationsAreRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", " ", "soon", "30", "days", "-1 day", "30 fortnights", "30 days later", "3600", // recorded
		"1 Day", "1H", "1..5 days", ".5 days", "1e3 s", "1d 5", "1,5 days", "18446744073709551616s", strings.Repeat("9", 50) + "s",
		strings.Repeat("1s ", 1000), "١ day",
	} {
		if got, err := indexconfig.ParseHumanDuration(text); err == nil {
			t.Errorf("%q: read as %q", text, got)
		} else if len(err.Error()) > 300 {
			t.Errorf("%q: long message %q", text, err)
		}
	}
}

func TestADurationReadBackFromItsTextIsTheSame(t *testing.T) {
	t.Parallel()
	units := []string{"ns", "us", "ms", "s", "m", "h", "d", "w", "M", "y"}
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		for range rapid.IntRange(1, 5).Draw(t, "groups") {
			text.WriteString(rapid.StringMatching(`[0-9]{1,8}(\.[0-9]{1,3})?`).Draw(t, "number"))
			text.WriteString(rapid.SampledFrom(units).Draw(t, "unit") + " ")
		}
		first, err := indexconfig.ParseHumanDuration(text.String())
		if err != nil {
			t.Fatalf("%q: %v", text.String(), err)
		}
		second, err := indexconfig.ParseHumanDuration(first.String())
		if err != nil || second != first {
			t.Fatalf("%q: written %q, read back as %q, %v", text.String(), first, second, err)
		}
	})
}
