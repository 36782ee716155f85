package summarize

import (
	"strings"

	"github.com/laconic-go/laconic/middleware/internal/ledger"
	"github.com/laconic-go/laconic/middleware/internal/recap"
)

// text is a summary as it was written, under its header.
type text struct{ header, words string }

// byRules returns a summary that needs no model. The words of one that has nothing
// to say are "".
func (j *job) byRules() text {
	return j.headed(recap.Of(j.told).Text(j.recapped()))
}

// extract returns what always can be said: what was asked first, and what was said
// last.
func (j *job) extract() text {
	return j.headed(recap.Extract(j.told, j.recapped()))
}

// recapped are the options of what rules write. Its first and its last line are
// no words.
func (j *job) recapped() recap.Options {
	f := j.fold
	frame := f.Count(f.Language.header() + "\n" + j.counts.line(f.Language, 0))
	return recap.Options{Tokens: f.Tokens + frame, Counter: f.View.Counter(), Language: f.Language.prose()}
}

// headed takes a text of rules apart, and leaves out the line that counts.
func (j *job) headed(s string) text {
	t := text{header: j.Header}
	first, rest, _ := strings.Cut(s, "\n")
	if t.header == "" {
		t.header = j.fold.Language.byRules(first)
	}
	if i := strings.LastIndexByte(rest, '\n'); i >= 0 {
		t.words = rest[:i]
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
