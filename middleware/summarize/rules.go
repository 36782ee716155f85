package summarize

import (
	"github.com/laconic-go/laconic/middleware/summarize/internal/facts"
	"github.com/laconic-go/laconic/middleware/summarize/internal/rulewriter"
)

// wording is a summary as it was written, under its header.
type wording struct{ header, words string }

// byRules returns a summary that needs no model. The words of one that has nothing
// to say, or no room for it, are "".
func (j *job) byRules() wording {
	return j.headed(rulewriter.Heading(j.fold.Language.prose()), rulewriter.Of(j.told).Text)
}

// extract returns what can be said of anything: what was asked first, and what was
// said last. Without room for that the words are "".
func (j *job) extract() wording {
	return j.headed(rulewriter.ExtractHeading(j.fold.Language.prose()), func(o rulewriter.Options) string {
		return rulewriter.Extract(j.told, o)
	})
}

// headed returns what rules write, under a heading of theirs if the caller has
// given none.
func (j *job) headed(heading string, write func(rulewriter.Options) string) wording {
	f, t := j.fold, wording{header: j.Header}
	if t.header == "" {
		t.header = f.Language.byRules(heading)
	}
	if f.Tokens > 0 { // 0 would stand for the default
		t.words = write(rulewriter.Options{Bare: true, Tokens: f.Tokens, Counter: f.View.Meter().Counter, Language: f.Language.prose()})
	}
	return t
}

// facts returns the section of facts of all that the summary stands for.
func (j *job) facts() string {
	if j.ledger <= 0 {
		return ""
	}
	f, l := j.fold, &facts.Ledger{}
	for i, k := range j.covers {
		if r := j.adopted[k]; r != nil {
			l.Resume(factsOf(r))
			continue
		}
		l.Add(f.Originals[i : i+1])
	}
	return l.Text(facts.Options{
		Tokens: j.ledger, Counter: f.View.Meter().Counter, Language: f.Language.prose(),
	})
}
