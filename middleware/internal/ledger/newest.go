package ledger

import "github.com/laconic-go/laconic/middleware/internal/prose"

// Files returns the names of the newest files, at most n, the oldest of them
// first, each as a line.
func (l *Ledger) Files(n int) []string { return newest(l.fileLines(), n) }

// Commands returns the newest commands likewise, with what is known of their
// outcome in the given language.
func (l *Ledger) Commands(n int, lang prose.Language) []string {
	return newest(l.commandLines(wordings[lang.Or(prose.English)]), n)
}

// Errors returns the newest errors likewise.
func (l *Ledger) Errors(n int) []string { return newest(l.errorLines(), n) }

func newest(lines []line, n int) []string {
	var texts []string
	for _, l := range lines[max(len(lines)-n, 0):] {
		texts = append(texts, l.text)
	}
	return texts
}
