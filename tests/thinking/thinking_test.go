package thinking

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestSoakChains leads conversations through all chains. No request may be refused.
func TestSoakChains(t *testing.T) {
	t.Parallel()
	check(t, variant{name: "plain"}, conversations(t, 12))
}

// TestSoakVariants does the same in all variants.
func TestSoakVariants(t *testing.T) {
	t.Parallel()
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			check(t, v, conversations(t, 60))
		})
	}
}

// check leads conversations through all chains, prints what was counted, and fails if a request was refused.
func check(t *testing.T, v variant, all []*conversation) {
	t.Helper()
	var tab table
	t.Cleanup(func() { t.Logf("%s, %d conversations: %s", v.name, len(all), &tab) })
	for k, ch := range chains() {
		if v.caller && ch.name == noEditing {
			continue
		}
		t.Run(ch.name, func(t *testing.T) {
			t.Parallel()
			r := leadAll(t, ch, all, v)
			tab.add(k, ch.name, r)
			requireNone(t, r, v)
		})
	}
}

// leadAll leads conversations through a chain, two at a time.
func leadAll(t *testing.T, ch chain, all []*conversation, v variant) *result {
	t.Helper()
	sum := &result{}
	var mu sync.Mutex
	for _, c := range all {
		r := lead(t, ch, c, v)
		mu.Lock()
		sum.add(r)
		mu.Unlock()
	}
	return sum
}

// requireNone fails if a request was refused, or with a net, if a conversation is stuck.
func requireNone(t *testing.T, r *result, v variant) {
	t.Helper()
	assert.Zero(t, r.stuck, "no conversation is stuck; the first that was: %s", first(r.why))
	if !v.nets {
		assert.Zero(t, r.refused, "no request is refused, even if the next attempt is not")
	}
}

func first(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return all[0]
}
