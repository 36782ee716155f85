package main

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The colours, as terminals number them.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

func (s *screen) paint(color, text string) string {
	if !s.color || text == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// barWidth leaves room for the numbers and for a few words.
func (s *screen) barWidth() int { return min(max((s.width-44)/2, 10), 48) }

// beside is where the words begin that stand beside a bar and its numbers.
func (s *screen) beside() int { return 4 + 2 + s.barWidth() + 2 + 18 + 2 }

// bar draws n tokens against the window.
func (s *screen) bar(n int) string {
	color := green
	switch {
	case 4*n >= 3*s.window:
		color = red
	case 2*n >= s.window:
		color = yellow
	}
	full, empty := s.cells(n)
	return s.paint(color, full) + s.paint(dim, empty)
}

// legend says what the bars mean.
func (s *screen) legend() string {
	return fmt.Sprintf("%s sent to the model   %s taken out by an edit", s.either("#", "█"), s.gone())
}

// gone is what stands in a bar for what an edit has taken out.
func (s *screen) gone() string { return s.either("-", "░") }

// either returns the text that can be shown here.
func (s *screen) either(ascii, unicode string) string {
	if s.unicode {
		return unicode
	}
	return ascii
}

// cutBar draws how a context of so many tokens was cut back to those kept.
func (s *screen) cutBar(kept, before int) string {
	was, empty := s.cells(before)
	is, _ := s.cells(kept)
	cut := utf8.RuneCountInString(was) - utf8.RuneCountInString(is)
	return s.paint(green, is) + s.paint(cyan, strings.Repeat(s.gone(), max(cut, 0))) + s.paint(dim, empty)
}

// cells returns a bar of n tokens, and what is left of the window.
func (s *screen) cells(n int) (full, empty string) {
	width := s.barWidth()
	track, block, parts := ".", "#", []string{""}
	if s.unicode {
		track, block, parts = "·", "█", []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}
	}
	n = min(max(n, 0), s.window) * width * len(parts) / s.window
	full = strings.Repeat(block, n/len(parts)) + parts[n%len(parts)]
	return full, strings.Repeat(track, width-utf8.RuneCountInString(full))
}

// fit shortens text to what stands beside a bar.
func (s *screen) fit(text string) string {
	room := s.width - s.beside()
	if room <= 0 || utf8.RuneCountInString(text) <= room {
		return text
	}
	more := s.either("...", "…")
	keep := max(room-utf8.RuneCountInString(more), 0)
	return string([]rune(text)[:keep]) + more
}

// wrapped prints a list behind a head, on as many lines as it needs.
func (s *screen) wrapped(head, list string) {
	line := "  " + head
	for _, word := range strings.SplitAfter(list, ", ") {
		if utf8.RuneCountInString(line+word) > s.width {
			s.linef("%s", line)
			line = "    "
		}
		line += word
	}
	s.linef("%s", line)
}

// lines breaks a text between words, where a line would be wider than it may be.
func lines(text string, width int) []string {
	var out []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line+" "+word) > width {
			out = append(out, line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(out, line)
}

// thousands writes a number with a comma every three digits.
func thousands(n int) string {
	if n < 0 {
		return "-" + thousands(-n)
	}
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
