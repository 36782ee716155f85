package replay

import (
	"cmp"
	"slices"
	"time"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/models"
	"github.com/laconic-go/laconic/tokens"
)

// spent are the tokens of prompts by what they cost.
type spent struct {
	read  int // from the cache
	wrote int // to the cache
	plain int // of prompts too short for the cache
}

func (s spent) plus(u spent) spent {
	return spent{s.read + u.read, s.wrote + u.wrote, s.plain + u.plain}
}

func (s spent) size() int { return s.read + s.wrote + s.plain }

// cost returns the cost in units of an uncached input token.
func (s spent) cost(c Class) float64 {
	return c.Read*float64(s.read) + c.Write*float64(s.wrote) + float64(s.plain)
}

// cache is a provider's cache of one prompt: the last one.
type cache struct {
	meter tokens.Meter
	min   int
	block int
	ttl   time.Duration

	used   time.Time
	tools  []message.ToolDef
	sized  int // tokens of tools
	prompt []message.Message
}

// Framing returns what is counted in addition to texts: images only, since the rest is the same in all prompts.
func Framing() tokens.Framing { return tokens.Framing{Images: tokens.DefaultFraming().Images} }

func newCache(o Options) *cache {
	return &cache{meter: tokens.Meter{Counter: o.Counter, Framing: Framing()}, min: o.MinPrefix, block: o.Block, ttl: o.TTL}
}

// send returns what a prompt costs, and caches it. A zero time is one at which the cache is warm.
func (c *cache) send(req *middleware.Request, at time.Time) spent {
	s := c.price(req, at)
	c.used = at
	c.sized = c.size(req.Tools)
	c.tools = req.Tools
	c.prompt = req.Messages
	return s
}

// size returns the tokens of tools, which it does not count again if they are those of the prompt before.
func (c *cache) size(tools []message.ToolDef) int {
	if c.prompt != nil && slices.Equal(c.tools, tools) {
		return c.sized
	}
	return c.meter.Tools(tools)
}

// price returns what a prompt costs now.
func (c *cache) price(req *middleware.Request, at time.Time) spent {
	size := c.meter.Request(nil, nil) + c.size(req.Tools)
	read := 0
	same := c.prompt != nil && slices.Equal(c.tools, req.Tools)
	if same {
		read = size
	}
	for i := range req.Messages {
		m := &req.Messages[i]
		n := c.meter.Message(*m)
		size += n
		switch {
		case !same:
		case i == len(c.prompt):
			same = false
		case c.prompt[i].Equal(*m):
			read += n
		default:
			same = false
			if shared, length := common(&c.prompt[i], m); length > 0 {
				read += n * shared / length
			}
		}
	}
	cold := c.ttl > 0 && !at.IsZero() && !c.used.IsZero() && at.Sub(c.used) > c.ttl
	read -= read % c.block
	switch {
	case size < c.min:
		return spent{plain: size}
	case cold, read < c.min:
		read = 0
	}
	return spent{read: read, wrote: size - read}
}

// common returns the bytes that two messages have in common at their beginning, and the bytes of the second one.
func common(a, b *message.Message) (shared, length int) {
	same := a.Role == b.Role && a.Name == b.Name
	for i, p := range b.Parts {
		was := [fields]string{}
		if i < len(a.Parts) {
			was = texts(a.Parts[i])
		} else {
			same = false
		}
		for k, s := range texts(p) {
			length += len(s)
			n := 0
			for same && n < min(len(s), len(was[k])) && s[n] == was[k][n] {
				n++
			}
			shared += n
			same = same && n == len(s) && n == len(was[k])
		}
	}
	return shared, length
}

const fields = 3

// texts returns the texts of a part in the order in which a provider reads them.
func texts(p message.Part) [fields]string {
	switch p := p.(type) {
	case message.Text:
		return [fields]string{p.Text}
	case message.Thinking:
		return [fields]string{p.Text, p.Signature}
	case message.Media:
		return [fields]string{p.Type, p.URL, p.Data}
	case message.ToolCall:
		return [fields]string{p.ID, p.Name, p.Arguments}
	case message.ToolResult:
		if p.Content != nil {
			inner := texts(p.Content)
			return [fields]string{p.CallID, inner[0] + inner[1], inner[2]}
		}
		return [fields]string{p.CallID, p.Text}
	case message.Opaque:
		return [fields]string{p.Kind, p.Data}
	}
	return [fields]string{}
}

// modelName is the model of each request.
const modelName = "laconic-replay"

// window returns the tokens of the window of a model.
func (o Options) window(name string) int {
	return cmp.Or(models.Default().Of(name).Window, o.Window)
}

// table returns a table of models with the model of a chain, at the prices of a class.
func (o Options) table(name string, c Class) (*models.Table, error) {
	m := models.Default().Of(name)
	m.Name, m.Window = modelName, o.window(name)
	dollars := func(price float64) models.Cost { return models.Cost(price*models.USD + 0.5) }
	m.Price = models.Price{Rates: models.Rates{
		Input: models.USD, CacheRead: dollars(c.Read), CacheWrite: dollars(c.Write), Output: dollars(o.Output),
	}}
	m.Cache = models.Cache{}
	if c.Read < c.Write { // otherwise there is no cache that a chain could use
		m.Cache = models.Cache{Auto: o.TTL == 0, Min: o.MinPrefix, Step: o.Block, TTL: o.TTL}
	}
	return models.Default().With(m)
}
