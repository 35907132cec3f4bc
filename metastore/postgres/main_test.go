package postgres

import (
	"testing"

	"holdfast/integration/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }
