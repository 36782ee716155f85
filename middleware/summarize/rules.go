package summarize

import (
	"github.com/laconic-go/laconic/middleware/internal/ledger"
	"github.com/laconic-go/laconic/middleware/internal/recap"
)

// text is a summary as it was written, under its header.
type text struct{ header, words string }

// byRules returns a summary that needs no model. The words of one that has nothing
// to say, or no room for it, are "".
func (j *job) byRules() text {
	return j.headed(recap.Heading(j.fold.Language.prose()), recap.Of(j.told).Text)
}

// extract returns what can be said of anything: what was asked first, and what was
// said last. Without room for that the words are "".
func (j *job) extract() text {
	return j.headed(recap.ExtractHeading(j.fold.Language.prose()), func(o recap.Options) string {
		return recap.Extract(j.told, o)
	})
}

// headed returns what rules write, under a heading of theirs if the caller has
// given none.
func (j *job) headed(heading string, write func(recap.Options) string) text {
	f, t := j.fold, text{header: j.Header}
	if t.header == "" {
		t.header = f.Language.byRules(heading)
	}
	if f.Tokens > 0 { // 0 would stand for the default
		t.words = write(recap.Options{Bare: true, Tokens: f.Tokens, Counter: f.View.Counter(), Language: f.Language.prose()})
	}
	return t
}

// facts returns the section of facts of all that the summary stands for.
func (j *job) facts() string {
	if j.ledger <= 0 {
		return ""
	}
	f, l := j.fold, &ledger.Ledger{}
	for i, k := range j.covers {
		if r := j.adopted[k]; r != nil {
			l.Resume(factsOf(r))
			continue
		}
		l.Add(f.Originals[i : i+1])
	}
	return l.Text(ledger.Options{
		Tokens: j.ledger, Counter: f.View.Counter(), Language: f.Language.prose(),
	})
}
