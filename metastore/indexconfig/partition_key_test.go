package indexconfig

import (
	"strings"
	"testing"
)

func TestPartitionKeysAreRoutingExpressions(t *testing.T) {
	t.Parallel()
	for _, key := range []string{
		"", "hash_mod((t,u), 50)", "hash_mod(tenant, 0)", "tenant", // recorded
		" ", "tenant,region", "a.b", `a\.b`, "hash_mod(hash_mod(a, 5), 3), b", "(a,b)", " hash_mod ( a , 7 ) ", "hash_mod",
	} {
		if err := validatePartitionKey(key); err != nil {
			t.Errorf("%q: %v", key, err)
		}
	}
	for _, key := range []string{
		"hash_mod(tenant", "md5(tenant)", // recorded
		",", "a,", "a b", "hash_mod(a)", "hash_mod(a, b)", "hash_mod(a, -1)", "hash_mod(, 1)", "(a", "a)", "()", "hash_mod(a, 1) b", "hash_mod(a, 1, 2)",
		strings.Repeat("(", 100_000),
	} {
		if err := validatePartitionKey(key); err == nil {
			t.Errorf("%q: accepted", key)
		}
	}
}
