package message

// The table of the rules and the rules that only some providers demand, for the tests.
const (
	NoResult         = noResult
	ResultsNotFirst  = resultsNotFirst
	ResultOrder      = resultOrder
	EmptyResult      = emptyResult
	MisplacedMedia   = misplacedMedia
	EmptyText        = emptyText
	TextAfterCall    = textAfterCall
	FirstNotUser     = firstNotUser
	LateSystem       = lateSystem
	RepeatedTurn     = repeatedTurn
	CallAfterAnswer  = callAfterAnswer
	EndsInAnswer     = endsInAnswer
	ThinkingOutside  = thinkingOutside
	ThinkingNotFirst = thinkingNotFirst
	ThinkingLast     = thinkingLast
	ThinkingAlone    = thinkingAlone
	ReusedID         = reusedID
	BadID            = badID
	BadName          = badName
)

type (
	Entry      = entry
	LimitEntry = limitEntry
)

func Sheet() []Entry           { return ruleTable }
func LimitSheet() []LimitEntry { return limitTable }

func (r Rules) Demand(rule Rule) bool { return r.demands(rule) }
