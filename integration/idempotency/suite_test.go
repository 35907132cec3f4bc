package idempotency

import (
	"regexp"
	"strconv"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"holdfast/metastore/idempotency"
	"holdfast/metastore/rpc"
)

// kase is one numbered case.
type kase struct {
	name    string
	options rpc.IdempotencyOptions
	run     func(b *bundle)
}

func cases() (all []kase) {
	for _, some := range [][]kase{keyCases(), indexCases(), sourceCases(), splitCases(), shardCases(), taskAndTemplateCases(), bindingCases(), concurrencyCases(), operationCases()} {
		all = append(all, some...)
	}
	return all
}

func TestConformance(t *testing.T) {
	t.Parallel()
	for _, backend := range backends() {
		t.Run(backend.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range cases() {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					c.run(newBundle(t, backend, c.options))
				})
			}
		})
	}
}

func TestEveryNumberedCaseIsTestedOrAccountedFor(t *testing.T) {
	t.Parallel()
	const numbered = 84
	seen := map[int]bool{}
	number := regexp.MustCompile(`K-(\d+)`)
	for _, c := range cases() {
		for _, match := range number.FindAllStringSubmatch(c.name, -1) {
			n, err := strconv.Atoi(match[1])
			if err != nil {
				t.Fatal(err)
			}
			seen[n] = true
		}
	}
	for n := range elsewhere() {
		if seen[n] {
			t.Errorf("case %d is run here and said to be elsewhere", n)
		}
		seen[n] = true
	}
	for n := 1; n <= numbered; n++ {
		if !seen[n] {
			t.Errorf("case %d is missing", n)
		}
	}
	if len(seen) != numbered {
		t.Errorf("%d cases, want %d", len(seen), numbered)
	}
}

// wantRefused checks the code and the details of a refusal that is about a key.
func wantRefused(b *bundle, err error, reason idempotency.Reason, code codes.Code, metadata ...string) map[string]string {
	b.Helper()
	sent := status.Convert(err)
	if sent.Code() != code {
		b.Fatalf("code %s: %v; want %s", sent.Code(), err, code)
	}
	for _, detail := range sent.Details() {
		info, ok := detail.(*errdetails.ErrorInfo)
		if !ok {
			continue
		}
		if info.GetReason() != string(reason) || info.GetDomain() != "metastore.idempotency" {
			b.Fatalf("reason %s of domain %s, want %s", info.GetReason(), info.GetDomain(), reason)
		}
		for _, name := range metadata {
			if info.GetMetadata()[name] == "" {
				b.Fatalf("metadata %v, %s is missing", info.GetMetadata(), name)
			}
		}
		return info.GetMetadata()
	}
	b.Fatalf("no detail in %v", err)
	return nil
}

func wantCode(b *bundle, err error, code codes.Code) {
	b.Helper()
	if status.Code(err) != code {
		b.Fatalf("%v, want code %s", err, code)
	}
}
