package replay

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/laconic-go/laconic/internal/transcript"
	"github.com/laconic-go/laconic/message"
)

// The files of a folder with recordings.
const (
	talksFile = "conversations.jsonl"
	factsFile = "facts.jsonl"
)

// Load reads recordings: a conversation, a list of conversations, one on each line, or a session of Claude Code, plain or
// compressed by gzip. A conversation is a request of OpenAI's chat completions or Responses, of Anthropic's Messages or of
// Gemini, or one of chat completions with the field id and calls without the level function. An answer of the model is a
// message of the assistant. The field timestamp of a message is its time.
//
// Of a folder, conversations.jsonl.gz is read, and facts.jsonl.gz if it exists; each may be uncompressed. What can be
// read is returned in any case. The error joins one for each conversation, or rest of a file, that cannot, with file and
// line.
func Load(path string) ([]*Conversation, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fileError(path, err)
	case !info.IsDir():
		return loadFile(path)
	}
	file, ok := either(path, talksFile)
	if !ok {
		return nil, fmt.Errorf("%s: the folder has no %s.gz: name the files in it", path, talksFile)
	}
	talks, err := loadFile(file)
	if facts, ok := either(path, factsFile); ok {
		err = errors.Join(err, LoadFacts(facts, talks))
	}
	return talks, err
}

// either returns the compressed file of a folder, or the uncompressed one.
func either(folder, name string) (string, bool) {
	for _, name := range []string{name + ".gz", name} {
		file := filepath.Join(folder, name)
		if _, err := os.Stat(file); err == nil {
			return file, true
		}
	}
	return "", false
}

// fileError returns the error of an operation as an error about a file.
func fileError(name string, err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		err = e.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}

func lineError(name string, line int, err error) error {
	return fmt.Errorf("%s:%d: %w", name, line, err)
}

func loadFile(path string) (talks []*Conversation, err error) {
	f, err := os.Open(path) //nolint:gosec // G304: the caller names the file
	if err != nil {
		return nil, fileError(path, err)
	}
	defer func() { _ = f.Close() }() // it was only read
	return Read(path, f)
}

// Read is [Load] for one file that is open. The name is used in errors, and for conversations without an id.
func Read(name string, r io.Reader) (talks []*Conversation, err error) {
	var errs []error
	add := func(line int, found []*Conversation, err error) {
		for _, c := range found {
			c.ID = cmp.Or(c.ID, fmt.Sprintf("%s:%d", name, line))
		}
		talks = append(talks, found...)
		if err != nil {
			errs = append(errs, lineError(name, line, err))
		}
	}
	var session []byte
	for line, value := range values(name, r, &errs) {
		if transcript.InSession(value) {
			session = append(append(session, value...), '\n')
			continue
		}
		found, err := conversations(value)
		add(line, found, err)
	}
	if session != nil {
		found, err := conversations(session)
		add(1, found, err)
	}
	if len(talks) == 0 && len(errs) == 0 {
		errs = append(errs, fmt.Errorf("%s: %w", name, errEmpty))
	}
	return talks, errors.Join(errs...)
}

// LoadFacts reads the uses of facts, one JSON object on each line, and adds them to the conversations, in the place of
// those that they have:
//
//	{"conversation": "an id", "fact": "W2378156", "kind": "id", "used_at_message": 12}
//
// Facts of the kinds id, amount, date and email are hard. Facts of other conversations are left out.
func LoadFacts(path string, talks []*Conversation) error {
	f, err := os.Open(path) //nolint:gosec // G304: the caller names the file
	if err != nil {
		return fileError(path, err)
	}
	defer func() { _ = f.Close() }() // it was only read
	byID := map[string][]*Conversation{}
	for _, c := range talks {
		byID[c.ID] = append(byID[c.ID], c)
		c.Facts = nil
	}
	var errs []error
	for line, value := range values(path, f, &errs) {
		if err := addFact(value, byID); err != nil {
			errs = append(errs, lineError(path, line, err))
		}
	}
	return errors.Join(errs...)
}

func addFact(value []byte, byID map[string][]*Conversation) error {
	var f struct {
		Conversation string `json:"conversation"`
		Fact         string `json:"fact"`
		Kind         string `json:"kind"`
		At           *int   `json:"used_at_message"`
	}
	if err := json.Unmarshal(value, &f); err != nil {
		return fmt.Errorf("is no use of a fact: %w", jsonReason(err))
	}
	if f.Conversation == "" || f.Fact == "" || f.At == nil {
		return errors.New("is no use of a fact: want conversation, fact and used_at_message")
	}
	for _, c := range byID[f.Conversation] {
		if !isAnswer(c.Messages, *f.At) {
			return fmt.Errorf("used_at_message is %d, want the index of an answer of %q", *f.At, c.ID)
		}
		c.Facts = append(c.Facts, Fact{Text: f.Fact, At: *f.At, Hard: slices.Contains([]string{"id", "amount", "date", "email"}, f.Kind)})
	}
	return nil
}

func isAnswer(msgs []message.Message, i int) bool {
	return i >= 0 && i < len(msgs) && msgs[i].Role == message.RoleAssistant
}

// values yields the JSON values of a file with the lines at which they begin: the whole file, or each line.
func values(name string, r io.Reader, errs *[]error) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		data, err := content(r)
		data = bytes.TrimPrefix(data, []byte("\ufeff"))
		whole := bytes.TrimLeft(data, " \t\r\n")
		switch {
		case err == nil && json.Valid(whole):
			yield(1+bytes.Count(data[:len(data)-len(whole)], []byte("\n")), whole)
		case err == nil && !isLines(data):
			*errs = append(*errs, broken(name, 1, data))
		default:
			lines(name, data, err, errs, yield)
		}
	}
}

// lines yields the values of the lines that are JSON. cut is why the text is not complete, or nil.
func lines(name string, data []byte, cut error, errs *[]error, yield func(int, []byte) bool) {
	line := 0
	for text := range bytes.Lines(data) {
		line++
		complete := cut == nil || bytes.HasSuffix(text, []byte("\n"))
		text = bytes.TrimSpace(text)
		if len(text) == 0 || !complete {
			continue
		}
		if !json.Valid(text) {
			*errs = append(*errs, broken(name, line, text))
		} else if !yield(line, text) {
			return
		}
	}
	if cut != nil {
		*errs = append(*errs, lineError(name, max(1, line), cut))
	}
}

// content returns the text of a file, decompressed if it is compressed by gzip, as far as it can be read.
func content(r io.Reader) ([]byte, error) {
	in := bufio.NewReader(r)
	if magic, _ := in.Peek(2); !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return io.ReadAll(in)
	}
	unzipped, err := gzip.NewReader(in)
	if err != nil {
		return nil, fmt.Errorf("the compression is broken: %w", err)
	}
	data, err := io.ReadAll(unzipped)
	if err != nil {
		return data, fmt.Errorf("the compression is broken or cut off: %w", err)
	}
	return data, nil
}

// isLines reports whether a text that is not JSON has one value on each line, of which some are broken, and is not one
// broken value on several lines.
func isLines(data []byte) bool {
	objects, all := 0, 0
	for line := range bytes.Lines(data) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		all++
		if line[0] == '{' && len(line) > len("{}") && json.Valid(line) {
			objects++
		}
	}
	return 2*objects >= all
}

var errEmpty = errors.New("is empty: want a conversation")

// broken returns the error of a text that is not JSON and begins at a line.
func broken(name string, line int, data []byte) error {
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return fmt.Errorf("%s: %w", name, errEmpty)
	case !utf8.Valid(data):
		return lineError(name, line, errors.New("is not UTF-8: want JSON"))
	}
	var value json.RawMessage
	err := json.Unmarshal(data, &value)
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		line += bytes.Count(data[:min(int(s.Offset), len(data))], []byte("\n"))
	}
	return lineError(name, line, fmt.Errorf("is not JSON: %w", jsonReason(err)))
}

// jsonReason returns an error of package json without its prefix.
func jsonReason(err error) error {
	text := err.Error()
	if cut, ok := strings.CutPrefix(text, "json: "); ok {
		return errors.New(cut)
	}
	return err
}
