// Package bonds binds thinking to what is before it, as the Claude models from Fable 5.1 and Opus, Sonnet and Haiku 5.5 on do, in
// the strictest reading: a block is accepted only if the system messages at the beginning, the set of tools and all messages
// before it, without their thinking, are as in the request that it answered. Blocks may be left out from the start, from the
// end, or all, but not from the middle: each block but the first must follow the one that it followed when it was made. A block
// may not have more blocks before it than then, so one that was left out may not be sent again.
//
// It is the judge of all strict models of tests, and shares nothing with the packages whose requests it judges.
package bonds

import (
	"crypto/sha256"
	"slices"
	"strings"
)

// Digest is equal for equal contents in the same order.
type Digest [sha256.Size]byte

// With returns the digest of what d is of, and one more content.
func (d Digest) With(content []byte) Digest { return sha256.Sum256(append(d[:], content...)) }

// Request is a request as the provider compares it. Fill it in the order of its messages.
type Request struct {
	System Digest // of the system messages at the beginning
	Before Digest // of all messages so far behind them, without thinking; one that has nothing else is not among them

	tools  string
	blocks []Block
}

// Block is a block of thinking in a request.
type Block struct {
	Content string // its text and its signature
	Path    string // where it is, for error texts

	before Digest
}

// SetTools sets the tools of a request: their order and repetitions do not matter.
func (r *Request) SetTools(tools []string) {
	r.tools = strings.Join(slices.Compact(slices.Sorted(slices.Values(tools))), "\x00")
}

// Add adds a block that is behind all messages so far.
func (r *Request) Add(b Block) {
	b.before = r.Before
	r.blocks = append(r.blocks, b)
}

// Bonds are the blocks that were made, with what each is bound to. Equal blocks may have been made several times. It is for one
// goroutine at a time.
type Bonds map[string][]bond

// bond is what a block is bound to: what the request that it answered had in front of it.
type bond struct {
	system, messages Digest
	tools            string
	previous         string // content of the block before it; "": none
	earlier          int    // blocks before it
}

// bond returns what block k of a request is bound to, or the first block of the answer to it.
func (r *Request) bond(k int) bond {
	b := bond{system: r.System, messages: r.Before, tools: r.tools, earlier: k}
	if k < len(r.blocks) {
		b.messages = r.blocks[k].before
	}
	if k > 0 {
		b.previous = r.blocks[k-1].Content
	}
	return b
}

// Bind binds the blocks of the answer to a request.
func (b Bonds) Bind(r Request, contents ...string) {
	for _, c := range contents {
		b[c] = append(b[c], r.bond(len(r.blocks)))
		r.Add(Block{Content: c})
	}
}

// Forged returns the error text for the first block that was not made here, or "".
func (b Bonds) Forged(r *Request) string {
	for _, on := range r.blocks {
		if b[on.Content] == nil {
			return on.Path + invalid
		}
	}
	return ""
}

const invalid = ": Invalid `signature` in `thinking` block."

// Broken returns the error text for the first block that was not made here or is void, or "".
func (b Bonds) Broken(r *Request) string {
	if why := b.Forged(r); why != "" {
		return why
	}
	k, changed := b.Void(r)
	if changed == "" {
		return ""
	}
	return r.blocks[k].Path + invalid + " The block is bound to a different conversation. Remove the block, or set " +
		"`thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\". That setting requires the " +
		"`thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header. " + changed
}

// Void returns the index of the first block that is void, and what has changed; "": none is.
func (b Bonds) Void(r *Request) (k int, changed string) {
	for k, on := range r.blocks {
		now, changed := r.bond(k), ""
		for _, made := range b[on.Content] {
			changed = made.differs(now)
			if changed == "" {
				break
			}
		}
		if changed != "" {
			return k, changed
		}
	}
	return 0, ""
}

// differs returns what has changed since a block was made.
func (b bond) differs(now bond) string {
	switch {
	case b.system != now.system:
		return "The `system` prompt differs from the one this block was created with."
	case b.tools != now.tools:
		return "The `tools` differ from the ones this block was created with."
	case b.messages != now.messages:
		return "The `messages` before it differ from the ones this block was created with."
	case now.earlier > 0 && b.previous != now.previous:
		return "The `thinking` block before it differs from the one this block was created with."
	case now.earlier > b.earlier:
		return "There are more `thinking` blocks before it than this block was created with."
	}
	return ""
}
