package thinking

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/internal/inside"
	"github.com/laconic-go/laconic/internal/testkit/soak"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/middlewaretest"
)

// remedy makes any request valid for models whose thinking is bound, with all that can be known: it remembers what was
// sent before each answer, and leaves out, for good, the thinking of an answer before which something else is sent; and if
// the rest has a gap, or more than was there, all before that place. It is the measure for what chains do: no more can be refused, and not much more read.
type remedy struct {
	before map[string][sha256.Size]byte // each block, by its signature
	links  map[string]link
	gone   map[string]bool
}

// link is where a block stood when it was made: behind which one, of how many.
type link struct {
	previous string
	earlier  int
}

func newRemedy() *remedy {
	return &remedy{before: map[string][sha256.Size]byte{}, links: map[string]link{}, gone: map[string]bool{}}
}

// branch returns a remedy for a branch of the conversation, in which other thinking will be gone.
func (r *remedy) branch() *remedy {
	if r == nil {
		return nil
	}
	return &remedy{before: r.before, links: r.links, gone: maps.Clone(r.gone)}
}

// apply returns the request without void thinking, and what was sent before the answer to it.
func (r *remedy) apply(req *middleware.Request) (*middleware.Request, [sha256.Size]byte) {
	tools := make([]string, len(req.Tools))
	for i, t := range req.Tools {
		tools[i] = fmt.Sprintf("%q", t)
	}
	slices.Sort(tools)
	lead := message.Leading(req.Messages)
	prefix := sha256.Sum256(fmt.Appendf(nil, "%q %d", tools, lead))
	out := *req
	out.Messages = slices.Clone(req.Messages)
	for i, m := range req.Messages {
		rest := withoutThinking(m)
		if len(rest.Parts) < len(m.Parts) && r.void(m, prefix) {
			out.Messages[i] = rest
		}
		if len(rest.Parts) > 0 {
			prefix = sha256.Sum256(message.Internals(inside.Key{}).AppendContent(prefix[:], &rest))
		}
	}
	r.close(out.Messages)
	out.Messages = slices.DeleteFunc(out.Messages, func(m message.Message) bool { return len(m.Parts) == 0 })
	return &out, prefix
}

// close leaves out all thinking in front of the last gap, and in front of what had less before it when it was made.
func (r *remedy) close(msgs []message.Message) {
	cut, k, previous := 0, 0, ""
	for _, m := range msgs {
		for _, s := range signatures(m) {
			if l := r.links[s]; k > 0 && l.previous != previous {
				cut = max(cut, k)
			} else {
				cut = max(cut, k-l.earlier)
			}
			k, previous = k+1, s
		}
	}
	k = 0
	for i, m := range msgs {
		all := signatures(m)
		if k < cut && len(all) > 0 {
			msgs[i] = withoutThinking(m)
			for _, s := range all {
				r.gone[s] = true
			}
		}
		k += len(all)
	}
}

// void reports whether the thinking of a message is void, and remembers it.
func (r *remedy) void(m message.Message, prefix [sha256.Size]byte) bool {
	void := false
	for _, s := range signatures(m) {
		void = void || r.gone[s] || r.before[s] != prefix
	}
	if void {
		for _, s := range signatures(m) {
			r.gone[s] = true
		}
	}
	return void
}

// made remembers what was sent before an answer.
func (r *remedy) made(req *middleware.Request, answer message.Message, before [sha256.Size]byte) {
	var all []string
	for _, m := range append(slices.Clone(req.Messages), answer) {
		all = append(all, signatures(m)...)
	}
	for _, s := range signatures(answer) {
		k := slices.Index(all, s)
		l := link{earlier: k}
		if k > 0 {
			l.previous = all[k-1]
		}
		r.before[s], r.links[s] = before, l
	}
}

func signatures(m message.Message) (all []string) {
	for _, p := range m.Parts {
		if t, ok := p.(message.Thinking); ok {
			all = append(all, t.Signature)
		}
	}
	return all
}

func withoutThinking(m message.Message) message.Message {
	m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p message.Part) bool { _, ok := p.(message.Thinking); return ok })
	return m
}

// TestSoakRemedy shows that no variant demands what cannot be done: with the remedy, the provider refuses nothing. So
// what it refuses in the other tests is a fault of the chain.
func TestSoakRemedy(t *testing.T) {
	t.Parallel()
	skipRaced(t)
	all := append([]variant{{name: plain}}, variants...)
	if !soak.Enabled() {
		all = all[:2]
	}
	for i, v := range all {
		v.remedy, v.nets, v.caller = true, false, false
		v.name = "with the remedy, " + v.name
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			check(t, v, conversations(t, 150), some(i))
		})
	}
}

// TestRemedyIsNeeded says that the judge of the simulator refuses without the remedy what the remedy leaves out.
func TestRemedyIsNeeded(t *testing.T) {
	t.Parallel()
	strict, _ := middlewaretest.Strict("bound", middlewaretest.Call("read", "{}"))
	history := []message.Message{message.User("why?")}
	r := newRemedy()
	ask := func(edit bool, r *remedy) error {
		req := &middleware.Request{Messages: slices.Clone(history)}
		if edit {
			req.Messages[2] = message.Result("call-1", "read", "[cleared]")
		}
		var before [sha256.Size]byte
		if r != nil {
			req, before = r.apply(req)
		}
		resp, err := strict(t.Context(), req, nil)
		if err != nil {
			return err
		}
		r.made(req, resp.Message, before)
		history = append(history, resp.Message)
		for c := range resp.Message.Calls() {
			history = append(history, message.Result(c.ID, c.Name, "a long result"))
		}
		return nil
	}
	require.NoError(t, ask(false, r))
	require.NoError(t, ask(false, r))
	require.Error(t, ask(true, nil))
	require.NoError(t, ask(true, r))
	require.NoError(t, ask(true, r))
	require.NoError(t, ask(false, r), "what is gone stays away")
}
