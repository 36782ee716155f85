package digest

// traits are what a word is made of.
type traits struct {
	lower, upper, digit, letter           int  // characters
	dot, slash, dash, under, colon, other int  // marks
	at                                    int  // of the sign @
	humps                                 int  // lower case before upper case: getUser
	beyondHex                             bool // has a letter that no hexadecimal number has
}

func traitsOf(s string) (t traits) {
	before := mark
	for i := 0; i < len(s); {
		c, size := classAt(s, i)
		switch c {
		case lower:
			t.lower++
			t.beyondHex = t.beyondHex || s[i] > 'f'
		case upper:
			t.upper++
			t.beyondHex = t.beyondHex || s[i] > 'F'
			if before == lower {
				t.humps++
			}
		case digit:
			t.digit++
		case letter, ideograph:
			t.letter++
			t.beyondHex = true
		case joint:
			t.joint(s[i])
		default:
			t.other++
		}
		before = c
		i += size
	}
	return t
}

func (t *traits) joint(b byte) {
	switch b {
	case '.':
		t.dot++
	case '/':
		t.slash++
	case '-':
		t.dash++
	case '_':
		t.under++
	case ':':
		t.colon++
	case '@':
		t.at++
	default:
		t.other++
	}
}

func (t *traits) letters() int { return t.lower + t.upper + t.letter }
