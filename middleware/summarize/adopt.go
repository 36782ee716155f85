package summarize

import (
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
)

// adopt takes down an earlier summary that stands in the history itself, since the
// caller has passed a view back; see [middleware.Env.Adopts]. What it was made of is
// not to be had any more.
func (j *job) adopt(src *source, p piece) {
	at := src.positions(p)
	if len(at) != 1 || len(p.earlier.Messages) != 1 || !src.view.History()[at[0]].Equal(p.earlier.Messages[0]) {
		return
	}
	if j.adopted == nil {
		j.adopted = map[int]*middleware.Record{}
	}
	j.adopted[at[0]] = p.earlier
}

// count returns how many messages there were, of those that adopted summaries stand
// for as well.
func (j *job) count() (t tally) {
	for i, k := range j.covers {
		n := one(j.fold.Originals[i])
		if r := j.adopted[k]; r != nil {
			n, _ = tallied(r)
		}
		t = t.plus(n)
	}
	return t
}

// retold returns what rules read of an adopted summary: its topics as questions, and
// all of it as an answer.
func (j *job) retold(r *middleware.Record) (out []message.Message) {
	words := j.wordsOf(r)
	for line := range strings.SplitSeq(words, "\n") {
		for _, title := range []string{"Topics: ", "讨论主题: "} {
			if topics, ok := strings.CutPrefix(line, title); ok {
				for topic := range strings.SplitSeq(topics, "; ") {
					out = append(out, message.User(topic))
				}
			}
		}
	}
	return append(out, message.Assistant(message.Text{Text: words}))
}
