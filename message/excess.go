package message

import "fmt"

// Excess is one limit that a request breaks. Values are comparable.
type Excess struct {
	Limit Limit
	At    int // index of the message; -1: the request as a whole
	Part  int // index in its parts; -1: the request as a whole
	Is    int // how much there is, of what the limit counts
	Most  int // how much is accepted
}

// String says what is too much, and where.
func (e Excess) String() string {
	where := "the request"
	if e.At >= 0 {
		where = fmt.Sprintf("message %d, part %d", e.At, e.Part)
	}
	return fmt.Sprintf("%s: %d %s, at most %d", where, e.Is, e.Limit, e.Most)
}
