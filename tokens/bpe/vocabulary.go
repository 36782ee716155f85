package bpe

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"sync"

	"github.com/pkoukk/tiktoken-go-loader/assets"
)

// vocabulary is the tokens of one or several encodings. It does not change
// after it is loaded.
type vocabulary struct {
	table
	*solid
	pool sync.Pool // of *scratch
}

// loadVocabulary loads the vocabulary of a name from the file that is embedded for it. A
// file that is missing or broken is a broken build, and a panic.
func loadVocabulary(name string) *vocabulary {
	file, err := assets.Assets.ReadFile(name + ".tiktoken")
	if err != nil {
		panic(fmt.Sprintf("bpe: %s is not among the embedded vocabularies: %v", name, err))
	}
	v, err := newVocabulary(file)
	if err != nil {
		panic(fmt.Sprintf("bpe: the embedded vocabulary %s, %v", name, err))
	}
	return v
}

// newVocabulary reads lines of a token in base64, a space, and its rank.
func newVocabulary(file []byte) (*vocabulary, error) {
	classify()
	v := &vocabulary{table: newTable(bytes.Count(file, []byte("\n")))}
	out := make(breaks)
	var token []byte
	line := 0
	for l := range bytes.Lines(file) {
		line++
		code, decimal, _ := bytes.Cut(bytes.TrimSuffix(l, []byte("\n")), []byte(" "))
		var err error
		token, err = base64.StdEncoding.AppendDecode(token[:0], code)
		rank, ok := parseRank(decimal)
		if err != nil || !ok || len(token) == 0 {
			return nil, fmt.Errorf("line %d: %q, want a token in base64, a space and a rank", line, l)
		}
		v.add(string(token), rank)
		out.add(string(token), rank)
	}
	v.solid = newSolid(&v.table, out)
	v.pool.New = func() any { return &scratch{merger: merger{vocabulary: v}} }
	return v, nil
}

// parseRank reads a decimal number of up to nine digits. (strconv would allocate
// for each of 200,000 lines.)
func parseRank(digits []byte) (rank uint32, ok bool) {
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, false
		}
		rank = rank*10 + uint32(d-'0')
	}
	return rank, len(digits) > 0 && len(digits) < 10
}
