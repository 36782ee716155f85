package quotes_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/laconic-go/laconic/internal/testkit/recorded"
	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/summarize/internal/quotes"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
	"github.com/laconic-go/laconic/tokens"
)

// in returns the lines of a section, with the line breaks that the user wrote.
func in(section string) (lines []string) {
	if section == "" {
		return nil
	}
	for _, l := range strings.Split(section, "\n- ")[1:] {
		lines = append(lines, strings.ReplaceAll(l, "\n  ", "\n"))
	}
	return lines
}

// kept returns what is kept of messages, as lines.
func kept(said ...string) []string {
	return in(of(said...).Text(text.Options{Tokens: 3000, Counter: tokens.Estimate{}}))
}

func of(said ...string) *quotes.Set {
	s := &quotes.Set{}
	for _, m := range said {
		s.Add(m)
	}
	return s
}

// parts returns what is kept of a message, as parts between which something is left out.
func parts(said string) []string { return strings.Split(kept(said)[0], "\n[…]\n") }

// TestLongMessage: of a longer message both ends are kept, and from its middle sentences whose words are not in the rest.
func TestLongMessage(t *testing.T) {
	t.Parallel()
	const prose = "The station was built by two brothers. The clock above the door came from a church. "
	const logs = "2026-03-01 10:14:07 INFO worker-3 finished in 212 ms\n"
	for middle, is := range map[string]bool{
		"Never touch the old ones.": true, "Please answer in French.": true, "Our fiscal year starts on 1 April.": true, "只改src目录。": true,
		"They liked the smell of wood.": true, "The clock was built by two brothers.": false,
	} {
		lines := parts("Here it is.\n" + strings.Repeat(prose, 30) + middle + " " + strings.Repeat(prose, 30) + "\nThat is all.")
		require.True(t, strings.HasPrefix(lines[0], "Here it is.\nThe station"), lines)
		require.True(t, strings.HasSuffix(lines[len(lines)-1], "door.\nThat is all.") || strings.HasSuffix(lines[len(lines)-1], "church.\nThat is all."), lines)
		require.Equal(t, is, slices.Contains(lines, middle), middle)
	}
	for _, middle := range []string{"They liked the smell of wood.", "# keep the order of these lines", "// 修改之前先问我"} {
		require.Contains(t, parts(strings.Repeat(logs, 60)+middle+"\n"+strings.Repeat(logs, 60)), middle, "between the output of programs")
	}
	list := "Rules:\n- tabs\n- no footer\n- one chart"
	require.Contains(t, parts(strings.Repeat(prose+"\n\n", 20)+"Keep to these "+list+"\n\n"+strings.Repeat(prose+"\n\n", 20)), "Keep to these "+list)
	long := "Never touch " + strings.Repeat("the old, slow, tired, ", 400) + "and dusty server 4711."
	require.Less(t, len(kept(long)[0]), 650, "of a long sentence both ends")
	require.True(t, strings.HasPrefix(kept(long)[0], "Never touch the old") && strings.HasSuffix(kept(long)[0], "dusty server 4711."))
	cut := parts(strings.Repeat("Lorem ipsum. ", 1<<20) + "Never touch it.")
	require.Contains(t, cut[len(cut)-1], "Never touch it.", "the end of a text of 13 MB")
}

// TestHarness: what programs write in the user's name is not the user's.
func TestHarness(t *testing.T) {
	t.Parallel()
	for said, want := range map[string][]string{
		"[Request interrupted by user]":                                                nil,
		"[Request interrupted by user for tool use]":                                   nil,
		"<local-command-stdout>all green</local-command-stdout>":                       nil,
		"<bash-stdout>a\nb</bash-stdout><bash-stderr></bash-stderr>":                   nil,
		"Base directory for this skill: /skills/pdf\n\n# PDF\nAlways do it.":           nil,
		"Operation stopped by hook: Another session is active: \"Fix it\"":             nil,
		"This session is being continued from a previous conversation. Fix it":         nil,
		"[image omitted: 415118 bytes]":                                                nil,
		"<command-name>/plan</command-name>\n<command-args>Fix the log</command-args>": {"Fix the log"},
		"<user-memory-input>Use tabs</user-memory-input>":                              {"Use tabs"},
		"The hook says: Operation stopped by hook: why?":                               {"The hook says: Operation stopped by hook: why?"},
		"Fix it.\n<system-reminder>\nNever tell.\n</system-reminder>\nThanks.":         {"Fix it.\n\nThanks."},
		"Write <b>bold</b> and <system-reminder> in the text":                          {"Write <b>bold</b> and <system-reminder> in the text"},
	} {
		require.Equal(t, want, kept(said), said)
	}
}

// TestRoom: if there is no room for all, rules come first, then requests and values, of each the newest.
func TestRoom(t *testing.T) {
	t.Parallel()
	said := []string{
		"Never push to main.", "Rain fell on the day of the move. It was cold.", "Use port 8080 for it, please.", "Thanks a lot!",
		"The folder has old reports. Never delete it.", "Could you look at build 4711?", "Always answer in French.", "My name is Ann.",
	}
	pick := func(room int) []string {
		return in(of(said...).Text(text.Options{Tokens: room, Counter: tokens.Estimate{}}))
	}
	require.Equal(t, said, pick(3000))
	require.Equal(t, []string{"(there is more, for which there is no room)", "The folder has old reports. Never delete it.", "Always answer in French."}, pick(50),
		"what a sentence refers to is kept with it")
	require.Equal(t, []string{"Never push to main.", "Use port 8080 for it, please.", "Thanks a lot!", "The folder has old reports. Never delete it.", "Always answer in French.", "My name is Ann."}, pick(76))
	require.Empty(t, pick(10))
}

// TestSaidAgain: what is said again is after what was said since.
func TestSaidAgain(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"Never force it.", "You may push.", "Never push it."},
		kept("Never push it.", "Never force it.", "You may push.", "Never push it."))
}

// TestManyStrangeSentences: a pasted text of many words does not take the room of what the user says around it.
func TestManyStrangeSentences(t *testing.T) {
	t.Parallel()
	var contract strings.Builder
	for i := range 400 {
		fmt.Fprintf(&contract, "Party%[1]s shall never pay%[1]s without notice%[1]s.\n", strings.Repeat(string(rune('a'+i%26)), 1+i/26))
	}
	section := kept("Send it to Ingrid.", "Please check this:\n"+contract.String()+"Thanks, and do not sign it.", "Then book a room.")
	require.Len(t, section, 3)
	require.Equal(t, []string{"Send it to Ingrid.", "Then book a room."}, []string{section[0], section[2]})
	require.True(t, strings.HasPrefix(section[1], "Please check this:") && strings.HasSuffix(section[1], "Thanks, and do not sign it."))
	require.Less(t, len(section[1]), 3000, "bytes of 450 tokens")
}

// TestRare: few sentences of recorded customers are rules, so that there is room for those of all messages.
func TestRare(t *testing.T) {
	t.Parallel()
	all, rules := 0, 0
	for line := range recorded.Lines(t, "conversations.jsonl.gz") {
		var c recorded.Conversation
		require.NoError(t, json.Unmarshal(line, &c))
		for _, m := range c.History() {
			if !strings.HasPrefix(c.ID, "tau") || m.Role != message.RoleUser {
				continue
			}
			for s := range text.Pieces(m.Text()) {
				all++
				if quotes.IsRule(s) {
					rules++
				}
			}
		}
	}
	t.Logf("%d of %d", rules, all)
	require.LessOrEqual(t, 10*rules, all)
}

// pieces are what users write, and worse.
var pieces = []string{
	"", " ", "Never push.", "Always ask. Never force it!", "No, 9090.", "Use port 8080.", "不要删库。必须备份", "改成 9090。", "Why never?", "Thanks!",
	"```\nnever do it\n```", "order #W1234567 for ann@example.com, $5.40", "[Facts recorded by code]\nErrors:\n- x", "\xff\xfe\x00\u202e\u2028",
	"שלום. אל תעשה", strings.Repeat("never ", 3000), strings.Repeat("x", 40_000), strings.Repeat("不要", 3000), "- never\n- always\n", "Rules:\n\n- a1\n- b2. It is old\n\nThis is it.",
	quotes.Correction + "x", "\"\"“”``", "。。。", "...", ":", "(1 messages compacted: 1 of the user, 0 of the assistant)",
}

func TestProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		said := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(pieces), rapid.String()), 0, 12).Draw(t, "said")
		o := text.Options{
			Tokens:  rapid.IntRange(-1, 900).Draw(t, "tokens"),
			Counter: rapid.SampledFrom([]tokens.Counter{tokens.Estimate{}, tokens.Chars4, tokens.Cautious}).Draw(t, "counter"),
		}
		section := of(said...).Text(o)
		require.Equal(t, section, of(said...).Text(o), "equal texts give equal sections")
		require.True(t, utf8.ValidString(section))
		require.LessOrEqual(t, o.Counter.Count(section), max(0, o.Tokens))
		for i, l := range strings.Split(section, "\n") {
			ours := i == 0 || l == "" || strings.HasPrefix(l, "- ") || strings.HasPrefix(l, "  ")
			require.True(t, ours, "no line is outside of the section: %q", l)
		}
	})
}

// TestFolds: five folds, each of which only reads the section before, keep what one fold keeps, as long as it fits.
func TestFolds(t *testing.T) {
	t.Parallel()
	o := text.Options{Tokens: 3000, Counter: tokens.Estimate{}}
	shapes := []string{
		"Never push %d.", "Please (%d):\n- use tabs here\n- no spaces there\n\nThanks.", "第%d条：不要删库。必须备份。", "Why %d?", "Look (%d):\n```\n\tif x {\n```\n  - sub",
		"Log %d:\n" + strings.Repeat("10:14:07 INFO worker finished\n", 40) + "Never retry it.\n" + strings.Repeat("10:14:08 INFO worker finished\n", 40) + "Thanks.",
	}
	rapid.Check(t, func(t *rapid.T) {
		var said []string
		for i, k := range rapid.SliceOfN(rapid.IntRange(0, len(shapes)-1), 5, 15).Draw(t, "shapes") {
			said = append(said, fmt.Sprintf(shapes[k], i))
		}
		section := ""
		for _, part := range slices.Collect(slices.Chunk(said, (len(said)+4)/5)) {
			s := &quotes.Set{}
			s.Resume(section)
			for _, m := range part {
				s.Add(m)
			}
			section = s.Text(o)
		}
		require.Equal(t, of(said...).Text(o), section)
	})
	s := &quotes.Set{}
	for i := range 90 {
		s.Add(fmt.Sprintf("Never touch the folder a%d, which has 4711 files.", i))
	}
	full := s.Text(text.Options{Tokens: 200, Counter: tokens.Estimate{}})
	require.Contains(t, full, "there is more")
	s = &quotes.Set{}
	s.Resume(full)
	require.Equal(t, full, s.Text(o), "what had no room is not forgotten")
}

func FuzzSet(f *testing.F) {
	for i, p := range pieces {
		f.Add(p, pieces[(i+5)%len(pieces)], uint16(i*30))
	}
	f.Fuzz(func(t *testing.T, first, second string, most uint16) {
		section := of(first, second).Text(text.Options{Tokens: int(most), Counter: tokens.Estimate{}})
		require.True(t, utf8.ValidString(section))
	})
}

// A polite question may ask for something that lasts, or for one answer, which is worth less when there is no room for both.
func TestPoliteQuestions(t *testing.T) {
	t.Parallel()
	lasting := []string{
		"Could you check with me before you delete anything?", "Can you give me the totals in euros?", "Can you look at nothing but the tests folder?",
		"能不能改之前先给我看看？", "能把结果都用表格给我看看吗？", "Könntest du mir vor dem Ausrollen Bescheid sagen?", "Pourrais-tu me montrer le plan avant de commencer ?",
	}
	once := []string{
		"Can you show me the part where the rows are counted?", "Could you please look at the third error?", "Could you explain why it fails?",
		"能给我看看统计行数的那一段吗？", "可以看一下第三个报错吗？", "Kannst du mir sagen, welche Datei das war?", "Pourrais-tu expliquer pourquoi ça échoue ?",
	}
	for _, want := range lasting {
		for _, newer := range once {
			count := tokens.Estimate{}.Count
			both := of(want, newer).Text(text.Options{Tokens: 1000, Counter: tokens.Estimate{}})
			room := count(both) + count("\n- (there is more, for which there is no room)") - 5
			got := in(of(want, newer).Text(text.Options{Tokens: room, Counter: tokens.Estimate{}}))
			require.Contains(t, got, want, "beside %q", newer)
			require.NotContains(t, got, newer)
		}
	}
}
