package indexconfig_test

import (
	"testing"

	"holdfast/metastore/indexconfig"
)

func TestByteSizesAreReadInEveryUnit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]uint64{
		"2 GB": 2_000_000_000, "1 GB": 1_000_000_000, "1.5 GiB": 1_610_612_736, "100 MB": 100_000_000, "20 MB": 20_000_000, // recorded
		"50.0 MB": 50_000_000, "0": 0, "123": 123, "123 B": 123, "1kB": 1000, "1 KB": 1000, "1kib": 1024, "2 MiB": 2 << 20,
		"1.9 B": 1, "1 tb": 1e12, "1 TiB": 1 << 40, "3 PB": 3e15, "1 PiB": 1 << 50, "2 EB": 2e18, "1 EiB": 1 << 60, " 7 ": 7,
		"18446744073709551615": 18446744073709551615,
	} {
		if got, err := indexconfig.ParseByteSize(text); err != nil || got != want {
			t.Errorf("%q: read %d, %v, want %d", text, got, err, want)
		}
	}
}

func TestTextsThatAreNoByteSizesAreRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"lots", "", " ", "-1", "-1 GB", "GB", ".5 GB", "1.2.3 GB", "1 XB", "1e3", "20 EB", "18446744073709551616", "NaN", "Inf GB"} {
		if got, err := indexconfig.ParseByteSize(text); err == nil {
			t.Errorf("%q: read as %d", text, got)
		}
	}
}
