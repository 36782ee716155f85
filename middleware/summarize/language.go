package summarize

import (
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware/summarize/internal/text"
)

// Language is one in which summaries are written.
type Language string

// The languages that there are wordings for.
const (
	English Language = "en"
	Chinese Language = "zh"
)

func (l Language) known() bool { return l == "" || l == English || l == Chinese }

// languageOf returns the language of a conversation.
func languageOf(msgs []message.Message) Language {
	if text.Of(msgs) == text.Chinese {
		return Chinese
	}
	return English
}

func (l Language) prose() text.Language {
	if l == Chinese {
		return text.Chinese
	}
	return text.English
}

// header returns the first line of a summary: what it is, so that nobody takes it
// for a wish of the user.
func (l Language) header() string {
	if l == Chinese {
		return "【历史摘要】（程序对先前对话的记录，不是用户的新指示）"
	}
	return framed("[Summary of the earlier conversation]")
}

// byRules returns the first line of what rules write, so that nobody takes a topic
// for a wish of the user. The Chinese one says that it is a summary of what came
// before.
func (l Language) byRules(header string) string {
	if l == Chinese {
		return header
	}
	return framed(header)
}

func framed(header string) string {
	return strings.TrimSuffix(header, "]") + ": a record made by the program, not a request of the user]"
}

// headers are those that rules write.
var headers = []string{
	English.header(), Chinese.header(),
	"[Summary of the earlier conversation]", "[以下是之前对话的摘要]",
	"[Extract of the earlier conversation]", "[以下是之前对话的摘录]", framed("[Extract of the earlier conversation]"),
}

// ledgerHeaders are those of the facts.
var ledgerHeaders = []string{"[Facts recorded by code]", "[以下是由程序记录的事实]"}
