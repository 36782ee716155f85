package wire

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/laconic-go/laconic/internal/codec"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// compactor asks the provider of a call to compact, with the client's own headers. It is a native.Compactor.
type compactor struct{ *call }

// Readable implements native.Compactor: Anthropic's block has a text, OpenAI's item is sealed.
func (c compactor) Readable() bool { return c.body.Format == codec.Messages }

// Compact implements native.Compactor.
func (c compactor) Compact(ctx context.Context, v *middleware.View, n int, instructions string) ([]message.Message, error) {
	req := *v.Request()
	req.Messages = v.Messages()
	text, err := c.body.EncodeFirst(&req, n)
	if err != nil {
		return nil, err
	}
	room := 4096 // tokens of a summary
	if b, ok := v.Budget(); ok {
		room = min(room, b.Window-v.Size().Tokens)
	}
	out := c.readable(codec.CompactRequest(c.body.Format, text, instructions, room)).WithContext(ctx)
	if c.Readable() {
		addBeta(out)
	} else {
		u := *out.URL
		u.Path, u.RawPath = strings.TrimRight(u.Path, "/")+"/compact", ""
		out.URL = &u
	}
	start := time.Now()
	resp, err := c.next(out)
	if err != nil {
		return nil, fmt.Errorf("wire: compact: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	const longest = 32 << 20
	data, err := io.ReadAll(io.LimitReader(resp.Body, longest))
	c.mu.Lock()
	c.provider += time.Since(start)
	c.decision.Compacts++
	c.mu.Unlock()
	switch {
	case err != nil:
		return nil, fmt.Errorf("wire: compact: %w", err)
	case resp.StatusCode != http.StatusOK:
		return nil, &refusal{status: resp.StatusCode, text: string(data)}
	}
	return codec.Compacted(c.body.Format, string(data))
}

// compactBeta is what Anthropic demands in requests for a compaction, and in all that have one.
const compactBeta = "compact-2026-09-04"

func addBeta(req *http.Request) {
	const name = "Anthropic-Beta"
	if has := strings.Join(req.Header.Values(name), ","); !strings.Contains(has, compactBeta) {
		req.Header.Add(name, compactBeta)
	}
}

// isCloud reports whether a request goes to a cloud that has Claude under paths of its own, without compaction on demand.
func isCloud(req *http.Request) bool {
	path := req.URL.Path
	return strings.Contains(path, "/publishers/") || strings.Contains(path, "/model/") || strings.Contains(path, "/deployments/")
}
