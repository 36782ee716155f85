package text

import (
	"unicode"

	"github.com/laconic-go/laconic/message"
)

// Language is one of those in which there are wordings.
type Language uint8

// The languages. The zero value leaves the choice to [Of].
const (
	Unknown Language = iota
	English
	Chinese
)

// Or returns the language, or the other one if it is unknown.
func (l Language) Or(other Language) Language {
	if l == Unknown {
		return other
	}
	return l
}

// What is looked at, in bytes, of each role.
const (
	ofText = 2 << 10
	ofAll  = 64 << 10
)

// letters is as many as one message may have: what somebody pastes in another
// language does not outweigh what they say.
const letters = 60

// Of returns the language of a conversation, by the script in which its user
// writes; where the user writes nothing, by that of the model. What is written in
// neither of the two languages is taken for English, and so is a conversation in
// which nobody writes anything. Code in fences does not count, and a long message
// counts no more than a short one. Of a long message only the beginning is read,
// and likewise of a long conversation: its language hardly changes any more.
func Of(msgs []message.Message) Language {
	var g Guess
	g.Add(msgs)
	return g.Language()
}

// Guess is what is known so far of the language of a conversation that comes
// piece by piece. The zero value knows nothing.
type Guess struct {
	user, model scripts
}

// Add looks at messages that come after those before.
func (g *Guess) Add(msgs []message.Message) {
	for i := range msgs {
		m := &msgs[i]
		switch m.Role {
		case message.RoleUser:
			g.user.message(m)
		case message.RoleAssistant:
			g.model.message(m)
		default:
		}
	}
}

// Language returns what [Of] returns for all messages that were added.
func (g *Guess) Language() Language { return g.user.language().Or(g.model.language()).Or(English) }

// scripts are how many letters there are of each.
type scripts struct {
	han, kana, other int
	read             int // bytes
}

func (s *scripts) message(m *message.Message) {
	var said scripts
	for _, p := range m.Parts {
		if t, ok := p.(message.Text); ok && s.read+said.read < ofAll {
			said.add(Head(t.Text, ofText))
		}
	}
	all := max(letters, said.han+said.kana+said.other)
	s.han += said.han * letters / all
	s.kana += said.kana * letters / all
	s.other += said.other * letters / all
	s.read += said.read
}

func (s *scripts) add(text string) {
	s.read += len(text)
	for line := range lines(text) {
		if line.kind == code {
			continue
		}
		for _, r := range line.text {
			switch {
			case unicode.Is(unicode.Han, r):
				s.han++
			case unicode.In(r, unicode.Hiragana, unicode.Katakana):
				s.kana++
			case unicode.IsLetter(r):
				s.other++
			}
		}
	}
}

// language says Chinese where Chinese characters are at least a fifth of all
// letters: one of them says as much as several letters, and names of programs
// stay as they are.
func (s *scripts) language() Language {
	const share, sign = 5, 10
	switch {
	case s.han+s.kana+s.other == 0:
		return Unknown
	case s.han*share >= s.han+s.other && s.kana*sign < s.han:
		return Chinese
	}
	return English
}
