package tests

import (
	"os"
	"testing"

	"github.com/laconic-go/laconic/internal/testkit/soak"
)

func TestMain(m *testing.M) {
	soak.Checks(30)
	os.Exit(m.Run())
}
