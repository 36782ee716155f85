package message

// The names of the rules and the tables, for the tests.
var (
	UnansweredCall    = unansweredCall.String()
	OrphanedResult    = orphanedResult.String()
	DisplacedResult   = displacedResult.String()
	DuplicateCall     = duplicateCall.String()
	DuplicateResult   = duplicateResult.String()
	BadArguments      = badArguments.String()
	EmptyMessage      = emptyMessage.String()
	NilPart           = nilPart.String()
	MisplacedPart     = misplacedPart.String()
	UnknownPart       = unknownPart.String()
	UnknownRole       = unknownRole.String()
	BadText           = badText.String()
	NoResult          = noResult.String()
	ResultsNotFirst   = resultsNotFirst.String()
	EmptyResult       = emptyResult.String()
	MisplacedMedia    = misplacedMedia.String()
	AnsweredMedia     = answeredMedia.String()
	EmptyText         = emptyText.String()
	TextAfterCall     = textAfterCall.String()
	FirstNotUser      = firstNotUser.String()
	LateSystem        = lateSystem.String()
	RepeatedTurn      = repeatedTurn.String()
	CallAfterAnswer   = callAfterAnswer.String()
	UserAfterResult   = userAfterResult.String()
	EndsInAnswer      = endsInAnswer.String()
	ThinkingOutside   = thinkingOutside.String()
	ThinkingNotFirst  = thinkingNotFirst.String()
	ThinkingLast      = thinkingLast.String()
	ThinkingAlone     = thinkingAlone.String()
	ReusedID          = reusedID.String()
	BadID             = badID.String()
	BadName           = badName.String()
	SeveralTexts      = severalTexts.String()
	BadAuthor         = badAuthor.String()
	SystemAfterAnswer = systemAfterAnswer.String()
	OneSystemRule     = oneSystem.String()
	UnknownContent    = unknownContent.String()
	AnswersInARow     = answersInARow.String()
	MissingThinking   = missingThinking.String()
)

type (
	Entry      = entry
	LimitEntry = limitEntry
)

func Sheet() []Entry           { return ruleTable[:] }
func LimitSheet() []LimitEntry { return limitTable }

// Matching reports whether a call and its result may be apart.
func (r Rules) Matching() bool {
	anywhere, joined := r.matching()
	return anywhere || joined
}

func (r Rules) Demand(name string) bool {
	for i := range ruleTable {
		if ruleTable[i].Rule == name {
			return r.demanded().has(rule(i))
		}
	}
	return false
}

func (m Message) AppendContent(b []byte) []byte { return m.appendContent(b, nil) }

func (r Rules) ViolationsFrom(msgs []Message, from int) []Violation {
	return r.violationsFrom(msgs, from)
}

func HashContent(mediaType, data string) ContentHash { return hashContent(mediaType, data) }

func Content(msgs []Message, i int) []Violation { return contentOf(msgs, i) }

func Pairing(msgs []Message) []Violation { return internals{}.Pairing(msgs) }

func (m Message) IsCompaction() bool { return m.isCompaction() }

func (m Media) Dimensions() (width, height int, ok bool) { return m.dimensions() }
