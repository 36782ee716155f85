// Package claims checks the text of a model against what it was written from.
//
//	s := claims.SourceOf(folded, view, earlier)
//	for _, f := range s.Check(summary) {
//		fmt.Println(summary[f.From:f.To], f.Items) // a sentence, and what of it the source does not have
//	}
//
// A claim is something in a sentence that can be compared: what package lex reads, or the outcome of a command. It is supported
// if the source has it, however it is written: digit grouping, Chinese numerals, wide characters, case, units of the same
// dimension, and the folder before a path do not count. Whole numbers up to 20 without a unit are no claims, since models
// count. A number that two others of its sentence give by one operation is supported.
//
// The package knows no language: it does not find a false sentence whose words are all right. All functions take any text,
// also invalid UTF-8, and need time proportional to its length.
package claims

import (
	_ "embed" // for words.txt
	"slices"
	"strings"

	"github.com/laconic-go/laconic/middleware/internal/lex"
)

//go:embed words.txt
var file string

// The lists of words.txt.
var (
	lists = lex.Lists(file, " ")

	fileEnds, scripts, vague           = lists["file"], lists["script"], lists["vague"]
	subjects, endings, outcomes        = lists["subject"], lists["ending"], lists["outcome"]
	negations, joints, refusal         = lists["negation"], lists["joint"], lists["refusal"]
	sums, assent, plain, wrote         = lists["sum"], lists["assent"], lists["plain"], lists["wrote"]
	between, title, condition, runners = lists["between"], lists["title"], lists["condition"], lists["runner"]
	opening, past, present, ago        = lists["open"], lists["past"], lists["present"], lists["ago"]
	searching                          = lists["search"]
)

// sentence is a sentence, or a part of one.
type sentence struct{ *lex.Text }

func read(text string) sentence {
	t := lex.Read(text)
	t.Items = slices.DeleteFunc(t.Items, func(it lex.Item) bool { return it.Kind == lex.Number && !counts(t.Tokens, &it.Value) })
	return sentence{t}
}

// counts reports whether a number is a claim: not a small one, an ordinal, a factor, or a time from now.
func counts(toks []lex.Token, v *lex.Value) bool {
	t, next := &toks[v.From], lex.At(toks, v.To)
	switch {
	case v.Label:
		return true
	case lex.IsOrdinal(t.Suffix), t.Suffix == "x", next.Is("×"), next.Text == "倍", v.Units != nil && ago.Has(next.Text):
		return false
	}
	return v.Units != nil || v.Step < 1 || v.Value > lex.Small
}

// hasAny reports whether the sentence has a word of a list.
func (s sentence) hasAny(l *lex.List) bool {
	for range l.In(s.Folded) {
		return true
	}
	return slices.ContainsFunc(s.Tokens, func(t lex.Token) bool { return t.Kind == lex.Word && l.Has(t.Text) })
}

// asks reports whether the sentence is a question.
func (s sentence) asks() bool { return strings.HasSuffix(strings.TrimSpace(s.Folded), "?") }
