package tests

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/internal/testkit"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/journal"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/tokens"
)

// TestSummaryAccountsForAll takes random conversations call by call through
// summarize with random options: each message of the history is in the view, or a
// summary stands for it, and those that no summariser has been given are counted
// as left out; what shall stay stays; nothing is paid or flushed twice.
func TestSummaryAccountsForAll(t *testing.T) {
	t.Parallel()
	var folds, prepared, again int
	rapid.Check(t, func(t *rapid.T) {
		a := newAccount(rapidDice{t})
		a.run(t)
		folds, prepared, again = folds+a.folds, prepared+a.prepared, again+a.again
	})
	t.Logf("%d folds, of them %d that were prepared (few; package summarize tests them by themselves) and %d of summaries", folds, prepared, again)
	require.Positive(t, folds)
	require.Positive(t, again)
}

// account is a conversation that summarize folds, and what is known of that.
type account struct {
	dice    dice
	history []message.Message // the time of a message is its position
	opts    summarize.Options
	writer  summarize.Writer
	several bool // the strategy makes several summaries
	byRules bool
	honest  bool // the summariser always gives words that can be taken
	env     middleware.Env
	chain   middleware.Middleware
	log     []string

	mu      sync.Mutex
	asked   int                     // how often the summariser was
	read    map[string]map[int]bool // by the words of a summary: positions that they are about
	flushed map[int]int             // positions that were flushed, how often

	view     *middleware.View // of the newest call
	waiting  []func(context.Context)
	restarts int
	folds    int
	prepared int
	again    int
}

func (a *account) notef(format string, args ...any) {
	a.log = append(a.log, fmt.Sprintf(format, args...))
}

func newAccount(d dice) *account {
	a := &account{dice: d, read: map[string]map[int]bool{}, flushed: map[int]int{}}
	w := &wild{chat: chat{dice: d}}
	a.history, _ = w.conversation()
	for range d.roll("more steps", 12) {
		a.history = w.grow(a.history)
	}
	a.history = message.Portable.Repair(a.history).Messages
	for i := range a.history {
		a.history[i].Time = time.Unix(int64(i), 0)
	}
	a.env = middleware.Env{Counter: tokens.Chars4, Journal: journal.NewMemory(0)}
	a.choose()
	a.restart()
	return a
}

// choose rolls the options.
func (a *account) choose() {
	d, o := a.dice, &a.opts
	o.Trigger = []middleware.Trigger{trigger.Tokens(50 << d.roll("tokens", 6)), trigger.Messages(2 + d.roll("messages", 12))}[d.roll("trigger", 2)]
	o.Keep = d.roll("keep", 5) - 1
	o.KeepRounds, o.KeepTurns = d.roll("keep rounds", 3), d.roll("keep turns", 3)/2
	o.KeepTokens = 50 * d.roll("keep tokens", 3)
	o.PreserveMemory = d.roll("memory", 2) == 1
	o.SummaryTokens = []int{0, 40, 200}[d.roll("summary tokens", 3)]
	o.FactTokens = []int{0, -1, 60}[d.roll("fact tokens", 3)]
	o.QuoteTokens = []int{0, -1, 60}[d.roll("quote tokens", 3)]
	o.Role = []message.Role{"", message.RoleSystem, message.RoleAssistant}[d.roll("role", 3)]
	kind := d.roll("strategy", 5)
	a.several = kind == 1 || kind == 2
	o.Strategy = []summarize.Strategy{
		{},
		{BySystem: true},
		{Chunks: 1 + d.roll("chunk", 5)},
		{OnlyLast: 1 + d.roll("last", 6)},
		{Since: time.Unix(int64(d.roll("since", len(a.history)+2)), 0)},
	}[kind]
	o.Parallel = 1 + d.roll("parallel", 3)
	o.Timeout, o.Language = -1, "en"
	if d.roll("background", 2) == 1 {
		soft := 2 + d.roll("soft", 8)
		o.Soft, o.Trigger = trigger.Messages(soft), trigger.Messages(soft+2+d.roll("hard", 8))
		o.Background = func(task func(context.Context)) bool {
			a.waiting = append(a.waiting, task)
			return true
		}
	}
	o.Flush = func(_ context.Context, msgs []message.Message) (int, error) {
		a.mu.Lock()
		defer a.mu.Unlock()
		for _, m := range msgs {
			a.flushed[int(m.Time.Unix())]++
		}
		return len(msgs), nil
	}
	a.honest = d.roll("honest", 3) > 0
	a.byRules = d.roll("rules", 6) == 5
	if a.writer = summarize.ByFunc(a.write); a.byRules {
		a.writer = summarize.ByRules()
	}
	a.notef("keep %d, %d rounds, %d turns, %d tokens; strategy %d; by rules %t; honest %t; soft %t", o.Keep, o.KeepRounds, o.KeepTurns, o.KeepTokens, kind, a.byRules, a.honest, o.Soft != nil)
}

// write is the summariser.
func (a *account) write(_ context.Context, f *summarize.Fold) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked++
	switch {
	case a.honest:
		words := "No. " + strings.Map(func(digit rune) rune { return digit - '0' + 'a' }, strconv.Itoa(a.asked)) // a number may be an invention
		a.read[words] = map[int]bool{}
		for _, m := range f.Messages {
			a.read[words][int(m.Time.Unix())] = true
		}
		for _, e := range f.Earlier {
			maps.Copy(a.read[words], a.read[e])
		}
		return words, nil
	case a.asked%3 == 0:
		return "", errors.New("no words today")
	case a.asked%3 == 1:
		return strings.Repeat("far too long ", 10*f.Tokens), nil
	}
	return strings.Join(f.Earlier, "; ") + " and more", nil
}

// restart makes the chain anew, on the same journal.
func (a *account) restart() {
	a.chain = middleware.With(a.env, summarize.New(a.writer, a.opts))
	a.waiting = nil
}

func (a *account) run(t *rapid.T) {
	defer func() {
		if t.Failed() {
			t.Log(strings.Join(a.log, "\n"))
		}
	}()
	for _, n := range callsOf(a.history) {
		if len(a.waiting) > 0 && a.dice.roll("background runs", 2) == 1 {
			for _, task := range a.waiting {
				task(testContext)
			}
			a.waiting = nil
		}
		req := &middleware.Request{Messages: a.history[:n]}
		if a.dice.roll("force", 6) == 5 {
			req.Force = []string{"summarize"}
		}
		switch a.dice.roll("before", 6) {
		case 4:
			d, err := middleware.Draft(testContext, a.chain, req)
			require.NoError(t, err)
			if a.dice.roll("kept", 2) == 1 {
				require.NoError(t, d.Commit(testContext))
				a.notef("a draft of %d is kept", n)
			}
		case 5:
			if len(req.Force) == 0 { // a restart right behind a fold
				a.restart()
				a.restarts++
				a.notef("restart before %d", n)
			}
		}
		a.call(t, req)
	}
}

// call makes a call, and the same once more.
func (a *account) call(t *rapid.T, req *middleware.Request) {
	unchanged := testkit.Freeze(req)
	before := a.view
	sent, events, err := middleware.Apply(testContext, a.chain, req)
	require.NoError(t, err)
	require.NoError(t, unchanged())
	a.view = sent.View()
	a.notef("call of %d, forced %t: %v", len(req.Messages), req.Force != nil, events)
	a.check(t)
	edited := count(events, middleware.Edited)
	for _, e := range events {
		if strings.Contains(e.Why, "that was prepared") {
			a.prepared++
		}
		if strings.Contains(e.Why, "with the earlier one updated") {
			a.again++
		}
		require.NotEqual(t, middleware.Refused, e.Kind, "a plan is sound: %v\n%s", e, strings.Join(a.log, "\n"))
	}
	if a.folds += edited; edited > 0 {
		a.checkKept(t, before)
	}
	asked := a.asked
	if edited > 0 && a.dice.roll("other chain", 3) == 2 { // one that rests would not
		a.restart()
	}
	again, _, err := middleware.Apply(testContext, a.chain, &middleware.Request{Messages: req.Messages})
	require.NoError(t, err)
	if a.honest {
		require.Equal(t, asked, a.asked, "an equal call pays nothing\n%s", strings.Join(a.log, "\n"))
		requireSame(t, sent.Messages, again.Messages, "an equal call is sent the same")
	}
	a.view = again.View()
}

// tallied is the line of a summary that counts.
var tallied = regexp.MustCompile(`\n?\((\d+) messages compacted: (\d+) of the user, (\d+) of the assistant(?:; (\d+) of them left out)?\)$`)

// check looks for each message of the history.
func (a *account) check(t *rapid.T) {
	v := a.view
	h, lead := v.History(), message.Leading(v.History())
	where := make([]*journal.Record, len(h)) // that stands for it
	there := make([]bool, len(h))
	products := map[*journal.Record]message.Message{}
	for i, m := range v.Messages() {
		s := v.Span(i)
		if s.Edit == nil {
			there[s.First] = true
			require.NoError(t, testkit.Same(h[s.First:s.First+1], []message.Message{m}), "it stays as it is")
			continue
		}
		_, twice := products[s.Edit]
		require.False(t, twice, "a summary is one message")
		products[s.Edit] = m
		for _, r := range s.Edit.Runs {
			for k := lead + r.First; k <= lead+r.Last; k++ {
				require.Nil(t, where[k], "message %d has one summary", k)
				where[k] = s.Edit
			}
		}
	}
	firstUser, lastUser := -1, -1
	for k, m := range h {
		require.NotEqual(t, there[k], where[k] != nil, "message %d of %d is in the view, or a summary stands for it", k, len(h))
		if m.Role == message.RoleUser {
			lastUser = k
			if firstUser < 0 {
				firstUser = k
			}
		}
		if m.Role == message.RoleSystem || m.Hints.Pinned || a.opts.PreserveMemory && m.Hints.Memory {
			require.True(t, there[k], "message %d stays", k)
		}
	}
	for _, k := range []int{firstUser, lastUser} {
		require.True(t, k < 0 || there[k] || k != firstUser && k != len(h)-1 && a.wasFolded(where[k], k), "question %d stays", k)
	}
	for _, u := range message.Units(h) {
		for k := u.First; k <= u.Last; k++ {
			require.Equal(t, where[u.First], where[k], "unit %v is folded whole or not at all", u)
		}
	}
	for r, m := range products {
		a.checkSummary(t, m, where, r)
	}
	if !a.several {
		require.LessOrEqual(t, len(products), 1, "there is one summary at most")
	}
}

// wasFolded reports whether a question could be folded, since it was not the last
// one then.
func (a *account) wasFolded(r *journal.Record, k int) bool { return r != nil && r.HistoryLen > k }

// checkSummary judges one summary.
func (a *account) checkSummary(t *rapid.T, m message.Message, where []*journal.Record, r *journal.Record) {
	h := a.view.History()
	words, quoted, facts, last := sectionsOf(m.Text())
	var all, user, assistant, unread int
	for k := range h {
		if where[k] != r {
			continue
		}
		all++
		switch h[k].Role {
		case message.RoleUser:
			user++
		case message.RoleAssistant:
			assistant++
		case message.RoleSystem, message.RoleTool:
		}
		if !a.read[words][k] {
			unread++
		}
		require.Equal(t, 1, a.flushed[k], "message %d is flushed once\n%s", k, strings.Join(a.log, "\n"))
	}
	found := tallied.FindStringSubmatch(last)
	require.NotNil(t, found, "%q counts", last)
	n := func(i int) int {
		n, _ := strconv.Atoi(found[i])
		return n
	}
	require.Equal(t, []int{all, user, assistant}, []int{n(1), n(2), n(3)}, "it says how many it stands for")
	if !a.byRules && a.honest { // of rules nothing here knows what they have read
		require.Equal(t, unread, n(4), "it says how many nobody has read\n%s", strings.Join(a.log, "\n"))
	}
	text := m.Text()
	require.Equal(t, 1, strings.Count(text, "of the earlier conversation"), "no summary is inside another: %s", text)
	require.LessOrEqual(t, strings.Count(text, "[Facts recorded by code]"), 1)
	require.LessOrEqual(t, tokens.Chars4.Count(facts), max(0, cmp.Or(a.opts.FactTokens, 600)), "the facts have their bound")
	require.LessOrEqual(t, tokens.Chars4.Count(quoted), max(0, cmp.Or(a.opts.QuoteTokens, 3000)), "and so has what the user said")
	most := a.opts.SummaryTokens
	if most == 0 {
		most = 2000
	}
	const frame = 60 // of the first and the last line
	require.LessOrEqual(t, tokens.Chars4.Count(words), most+frame, "and so have the words")
}

// sectionsOf returns the words of a summary, what the user said, the facts, and the last line.
func sectionsOf(summary string) (words, quoted, facts, last string) {
	into := &words
	_, rest, _ := strings.Cut(summary, "\n")
	for line := range strings.SplitSeq(rest, "\n") {
		switch {
		case strings.HasPrefix(line, "[What the user said"):
			into = &quoted
		case line == "[State of the work]":
			into, line = &words, ""
		case line == "[Facts recorded by code]":
			into = &facts
		case line == "[End of the record]":
			line = ""
		case tallied.MatchString(line):
			last, line = line, ""
		}
		*into = strings.Trim(*into+"\n"+line, "\n")
	}
	return words, quoted, facts, last
}

// checkKept looks behind the folds that are new: so many of the newest messages,
// rounds and turns stay.
func (a *account) checkKept(t *rapid.T, before *middleware.View) {
	old := map[message.ID]bool{}
	for i := 0; before != nil && i < before.Len(); i++ {
		if e := before.Span(i).Edit; e != nil {
			old[e.ID] = true
		}
	}
	v := a.view
	newest := -1
	for i := range v.Len() {
		if e := v.Span(i).Edit; e != nil && !old[e.ID] {
			newest = i
		}
	}
	if newest < 0 {
		return
	}
	rounds, turns := 0, 0
	for _, u := range message.Units(v.Messages()) {
		if u.First <= newest {
			continue
		}
		if u.Round {
			rounds++
		}
		if v.At(u.First).Role == message.RoleUser && v.Span(u.First).Edit == nil {
			turns++
		}
	}
	keep := a.opts.Keep
	if keep == 0 && a.opts.KeepRounds+a.opts.KeepTurns+a.opts.KeepTokens == 0 {
		keep = 6
	}
	require.GreaterOrEqual(t, v.Len()-1-newest, keep, "messages kept")
	require.GreaterOrEqual(t, rounds, a.opts.KeepRounds, "rounds kept")
	require.GreaterOrEqual(t, turns, a.opts.KeepTurns, "turns kept")
}
