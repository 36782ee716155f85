package recap

import (
	"slices"
	"strings"
	"unicode"
)

// remark is a sentence worth repeating.
type remark struct {
	text string
	from int // the message that says it

	key   string   // its letters and digits alone
	count string   // its digits alone
	pairs []uint64 // of neighbouring characters of the key, sorted
}

func newRemark(text string, from int) remark {
	r := remark{text: text, from: from}
	var last rune
	var b strings.Builder
	for _, c := range text {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			continue
		}
		c = unicode.ToLower(c)
		if unicode.IsDigit(c) {
			r.count += string(c)
		}
		b.WriteRune(c)
		if last != 0 {
			r.pairs = append(r.pairs, uint64(last)<<32|uint64(c))
		}
		last = c
	}
	r.key = b.String()
	slices.Sort(r.pairs)
	return r
}

// isNear reports whether two remarks say the same in nearly the same words: four
// of five pairs of neighbouring characters are common, and all digits: issue 12 is
// not issue 13.
func (r *remark) isNear(o *remark) bool {
	if r.key == o.key {
		return true
	}
	if r.count != o.count {
		return false
	}
	common := 0
	for i, k := 0, 0; i < len(r.pairs) && k < len(o.pairs); {
		switch a, b := r.pairs[i], o.pairs[k]; {
		case a == b:
			common++
			i++
			k++
		case a < b:
			i++
		default:
			k++
		}
	}
	const most, of = 4, 5
	return 2*common*of >= most*(len(r.pairs)+len(o.pairs)) && common > 0
}

// remarks are the newest ones, the oldest first, without those that are nearly
// the same.
type remarks []remark

// add appends a remark in place of one that is near, and drops the oldest beyond
// the most.
func (rs *remarks) add(r remark, most int) {
	if r.key == "" {
		return
	}
	*rs = slices.DeleteFunc(*rs, func(o remark) bool { return o.isNear(&r) })
	if *rs = append(*rs, r); len(*rs) > most {
		*rs = slices.Delete(*rs, 0, 1)
	}
}
