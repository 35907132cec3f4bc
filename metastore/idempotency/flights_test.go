package idempotency_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/metastore/idempotency"
)

func recordOf(t *testing.T, operation string) *idempotency.Record {
	t.Helper()
	key, err := idempotency.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return &idempotency.Record{Key: key, Binding: idempotency.Binding{Operation: operation, Resource: "index/logs", FingerprintVersion: 1}}
}

func reason(err error) idempotency.Reason {
	var typed *idempotency.Error
	if errors.As(err, &typed) {
		return typed.Reason
	}
	return ""
}

func TestASecondCallWithAKeyWaitsForTheFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		flights := idempotency.NewFlights(2*time.Second, 8)
		record := recordOf(t, "AddSource")
		firstDone, waited, err := flights.Begin(t.Context(), record)
		if err != nil || waited {
			t.Fatalf("the first call: waited %v, %v", waited, err)
		}
		second := make(chan error)
		go func() {
			done, waited, err := flights.Begin(t.Context(), record)
			if err == nil && !waited {
				err = errors.New("it did not wait")
			}
			if err == nil {
				done()
			}
			second <- err
		}()
		synctest.Wait()
		select {
		case err := <-second:
			t.Fatalf("the second call went on while the first ran: %v", err)
		default:
		}
		firstDone()
		if err := <-second; err != nil {
			t.Fatal(err)
		}
	})
}

func TestWaitingForAKeyIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		flights := idempotency.NewFlights(2*time.Second, 1)
		record := recordOf(t, "AddSource")
		done, _, err := flights.Begin(t.Context(), record)
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		begun := time.Now()
		waiting := make(chan error)
		go func() {
			_, _, err := flights.Begin(t.Context(), record)
			waiting <- err
		}()
		synctest.Wait()
		if _, _, err := flights.Begin(t.Context(), record); reason(err) != idempotency.KeyInFlight || time.Since(begun) != 0 {
			t.Fatalf("one waiter too many: %v after %s", err, time.Since(begun))
		}
		other := *record
		other.Fingerprint[0]++
		if _, _, err := flights.Begin(t.Context(), &other); reason(err) != idempotency.KeyReused {
			t.Fatalf("another request: %v", err)
		}
		if err := <-waiting; reason(err) != idempotency.KeyInFlight || time.Since(begun) != 2*time.Second {
			t.Fatalf("the waiter: %v after %s", err, time.Since(begun))
		}
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := flights.Begin(cancelled, record); !errors.Is(err, context.Canceled) {
			t.Fatalf("a caller that is gone: %v", err)
		}
	})
}
