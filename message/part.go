package message

// Part is a piece of a message: [Text], [Thinking], [Media], [ToolCall],
// [ToolResult] or [Opaque]. The set is closed. Parts are comparable values
// that hold strings only, so == compares their content; a pointer to one is not
// a part, and [Check] says so.
//
//sumtype:decl
type Part interface{ part() }

// Text is something said.
type Text struct {
	Text string
}

// Thinking is reasoning of the model. Providers that sign it accept it back
// only as it was: it is passed on whole or left out whole.
type Thinking struct {
	Text      string // "" where the provider sends it sealed
	Signature string // the provider's seal, or the sealed content itself; "": none
}

// Media is an image, a sound, a video or a document.
type Media struct {
	Type string // MIME type, as "image/png"
	URL  string // where it is; "": in Data
	Data string // the bytes themselves, not base64
	Name string // of the file; "": none
}

// ToolCall is the wish of the model that a tool be run.
type ToolCall struct {
	ID        string // pairs the call with its result
	Name      string // of the tool
	Arguments string // a JSON object, as the model wrote it
}

// ToolResult is what a tool gave back, or a piece of it: a result of several
// pieces is several parts with one CallID.
type ToolResult struct {
	CallID  string
	Name    string // of the tool; "": as in the call
	Text    string
	Content Part // a [Media] or [Opaque] in place of Text; nil: Text is the piece
	Error   bool // the tool failed, and Text says how
}

// Opaque is a part that only its provider understands. It is passed on
// untouched.
type Opaque struct {
	Kind string // what the provider calls it
	Data string // as the provider wrote it
}

func (Text) part()       {}
func (Thinking) part()   {}
func (Media) part()      {}
func (ToolCall) part()   {}
func (ToolResult) part() {}
func (Opaque) part()     {}

// KnownPart reports whether a part is one of the six types: not nil, no pointer
// to one, and if it is a result, with content that is none of that either.
func KnownPart(p Part) bool {
	switch p := p.(type) {
	case ToolResult:
		return p.Content == nil || KnownPart(p.Content)
	case Text, Thinking, Media, ToolCall, Opaque:
		return true
	}
	return false
}
