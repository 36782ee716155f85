package trim

// The numbers by which [Hybrid] decides.
const (
	lightRatio    = 0.8 // target/current above this: little has to go
	moderateRatio = 0.6 // above this: some; else much
	fewMessages   = 20  // below this, a conversation is short
	manyMessages  = 30  // above this, it is long
	newest        = 5   // so many last messages are looked at by themselves
	newestShare   = 0.4 // of all tokens: above this, they are most of it
	bigMessage    = 300 // tokens above which a message is big
	confident     = 0.6 // from this confidence on, an opinion decides
)

// Decision is which strategy [Hybrid] takes.
type Decision struct {
	Strategy   Strategy // Middle or Oldest; "": it has no opinion
	Confidence float64  // from 0 to 1; below 0.6 both are tried, and the better one is taken
}

// Decide returns what [Hybrid] thinks of a case. The first of these says it,
// ratio being the target by the tokens now:
//
//	ratio above 0.8 and fewer than 20 messages                Middle, 0.8
//	ratio 0.6 or less and more than 30 messages               Oldest, 0.9
//	the last five messages have more than 0.4 of all tokens   Middle, 0.7
//	ratio 0.8 or less and a message of more than 300 tokens   Oldest, 0.6
//	a tool or system message                                  Middle, 0.7
//	none of these                                             no opinion
func (c Case) Decide() Decision {
	ratio := 1.0
	if c.Tokens > 0 {
		ratio = float64(c.Target) / float64(c.Tokens)
	}
	f := c.figures()
	switch {
	case ratio > lightRatio && f.messages < fewMessages:
		return Decision{Middle, 0.8}
	case ratio <= moderateRatio && f.messages > manyMessages:
		return Decision{Oldest, 0.9}
	case float64(f.newest) > newestShare*float64(f.tokens):
		return Decision{Middle, 0.7}
	case ratio <= lightRatio && f.biggest > bigMessage:
		return Decision{Oldest, 0.6}
	case f.aside:
		return Decision{Middle, 0.7}
	}
	return Decision{}
}

// figures is what the messages of a case have.
type figures struct {
	messages int
	tokens   int // of all messages
	newest   int // of the last five
	biggest  int // of one
	aside    bool
}

func (c Case) figures() figures {
	f := figures{messages: c.messages()}
	left := f.messages
	for i := range c.Units {
		f.aside = f.aside || c.Units[i].Aside
		for _, n := range c.Units[i].Tokens {
			f.tokens += n
			f.biggest = max(f.biggest, n)
			if left <= newest {
				f.newest += n
			}
			left--
		}
	}
	return f
}

// Hybrid removes by the strategy that [Case.Decide] is confident of, or by the
// better of both. The decision has the strategy that was taken.
func (c Case) Hybrid() (Outcome, Decision) {
	d := c.Decide()
	switch {
	case d.Confidence < confident:
		c.Score = once(c.Score, len(c.Units))
		middle, oldest := c.Middle(), c.Oldest()
		if c.worse(middle, oldest) {
			return oldest, Decision{Oldest, d.Confidence}
		}
		return middle, Decision{Middle, d.Confidence}
	case d.Strategy == Oldest:
		return c.Oldest(), d
	}
	return c.Middle(), d
}

// Best returns the better of two outcomes, the first if they are as good: one
// that reaches the target before one that does not, unless EfficiencyOnly says
// otherwise, and then the one that is more efficient.
func (c Case) Best(first, second Outcome) Outcome {
	if c.worse(first, second) {
		return second
	}
	return first
}

// worse reports whether the first of two outcomes is.
func (c Case) worse(first, second Outcome) bool {
	if a, b := first.Meets(c.Target), second.Meets(c.Target); a != b && !c.EfficiencyOnly {
		return b
	}
	return second.Efficiency(c.Tokens) > first.Efficiency(c.Tokens)
}

// Efficiency rates an outcome, from a view of so many tokens, from 0 to 1: the
// more tokens go the better, and the fewer messages.
//
//	0.6 · (1 − after/before) + 0.4 · kept/(kept + gone)
func (o Outcome) Efficiency(before int) float64 {
	var e float64
	if before > 0 {
		e += 0.6 * (1 - float64(o.Tokens)/float64(before))
	}
	if all := o.Kept + o.Gone; all > 0 {
		e += 0.4 * float64(o.Kept) / float64(all)
	}
	return e
}

// once returns a score that is asked for each unit once, as far as it is asked.
func once(score func(i int) float64, units int) func(i int) float64 {
	if score == nil {
		return nil
	}
	known, asked := make([]float64, units), make([]bool, units)
	return func(i int) float64 {
		if !asked[i] {
			known[i], asked[i] = score(i), true
		}
		return known[i]
	}
}
