package chainfile

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/laconic-go/laconic/message"
	"github.com/laconic-go/laconic/middleware"
	"github.com/laconic-go/laconic/middleware/contextedit"
	"github.com/laconic-go/laconic/middleware/fit"
	"github.com/laconic-go/laconic/middleware/microcompact"
	"github.com/laconic-go/laconic/middleware/native"
	"github.com/laconic-go/laconic/middleware/summarize"
	"github.com/laconic-go/laconic/middleware/trigger"
	"github.com/laconic-go/laconic/middleware/trim"
)

// optionKeys returns the keys of each middleware that a chain may have, without use.
func optionKeys() map[string][]string {
	return map[string][]string{
		"contextedit":  namesOf(contexteditKeys(new(contextedit.Options))),
		"fit":          namesOf(fitKeys(new(fit.Options))),
		"trim":         namesOf(trimKeys(new(trim.Options))),
		"microcompact": namesOf(microcompactKeys(new(microcompact.Options))),
		"native":       namesOf(nativeKeys(new(native.Options))),
		"summarize":    namesOf(append(summarizeKeys(new(summarize.Options)), writerKeys(nil, new(summarize.Ask))...)),
	}
}

// build reads an entry and returns its middleware; nil after an error.
func (f *File) build(name string, entry node) middleware.Middleware {
	switch name {
	case "contextedit":
		return build(entry, contextedit.New, contexteditKeys)
	case "fit":
		return build(entry, fit.New, fitKeys)
	case "trim":
		return build(entry, trim.New, trimKeys)
	case "microcompact":
		return build(entry, microcompact.New, microcompactKeys)
	case "native":
		return build(entry, native.New, nativeKeys)
	}
	return f.buildSummarize(entry)
}

// options are the options of a middleware package.
type options interface{ Validate() error }

func build[O options](entry node, of func(O) middleware.Middleware, keys func(*O) []key) middleware.Middleware {
	opts := readOptions(entry, keys)
	if entry.src.first != nil {
		return nil
	}
	return of(opts)
}

// readOptions reads an entry by the keys of its options.
func readOptions[O options](entry node, keys func(*O) []key) (opts O) {
	all := append([]key{{"use", func(node) {}}}, keys(&opts)...)
	entry.read(all)
	if err := opts.Validate(); err != nil {
		entry.invalid(err, namesOf(all))
	}
	return opts
}

// invalid reports an error of Validate at the first key that it names.
func (n node) invalid(err error, keys []string) {
	at := n
	text := strings.ReplaceAll(err.Error(), "\n", "; ") // joined errors
	for _, option := range goName.FindAllString(text, -1) {
		name := snake(option)
		if v, ok := n.value(name); ok && slices.Contains(keys, name) {
			at = v
			break
		}
	}
	at.failf("cannot be: %s", inKeys(text))
}

// inKeys replaces the Go names of options in a text of a middleware, such as that of an event or an error, by the
// keys of a chain file.
func inKeys(text string) string {
	text = strings.ReplaceAll(text, ", or add the model to Env.Models", "") // a chain file has no table
	return goName.ReplaceAllStringFunc(text, func(name string) string {
		switch name {
		case "Budget":
			return "window"
		case "Model":
			return "model"
		}
		if t, ok := strings.CutPrefix(name, "trigger."); ok && slices.Contains(namesOf(triggerKeys(nil)), snake(t)) {
			return "trigger " + snake(t)
		}
		for _, keys := range optionKeys() {
			if slices.Contains(keys, snake(name)) {
				return snake(name)
			}
		}
		return name
	})
}

var goName = regexp.MustCompile(`\b(?:trigger\.)?[A-Z][a-z]+(?:[A-Z][a-z]+)*\b`)

var capital = regexp.MustCompile(`\B[A-Z]`)

// snake returns the key of an option: keep_rounds of KeepRounds.
func snake(option string) string {
	return strings.ToLower(capital.ReplaceAllString(option, "_$0"))
}

func contexteditKeys(o *contextedit.Options) []key {
	return []key{
		{"trigger", set(&o.Trigger, node.trigger)},
		{"keep", set(&o.Keep, node.orNone)},
		{"keep_rounds", set(&o.KeepRounds, whole(0))},
		{"keep_tokens", set(&o.KeepTokens, whole(0))},
		{"only", set(&o.Only, texts("tool names"))},
		{"exclude_tools", set(&o.ExcludeTools, texts("tool names"))},
		{"clear_at_least", set(&o.ClearAtLeast, whole(0))},
		{"stop_after", set(&o.StopAfter, whole(0))},
		{"clear_thinking", set(&o.ClearThinking, node.yesNo)},
		{"clear_tool_inputs", set(&o.ClearToolInputs, node.yesNo)},
		{"clear_inputs_of", set(&o.ClearInputsOf, texts("tool names"))},
		{"placeholder", set(&o.Placeholder, node.text)},
		{"digest", set(&o.Digest, node.orNone)},
		{"min_calls", set(&o.MinCalls, whole(0))},
		{"strict", set(&o.Strict, node.yesNo)},
	}
}

func nativeKeys(o *native.Options) []key {
	return []key{
		{"trigger", set(&o.Trigger, node.trigger)},
		{"keep", set(&o.Keep, whole(0))},
		{"instructions", set(&o.Instructions, node.text)},
		{"min_calls", set(&o.MinCalls, whole(0))},
		{"strict", set(&o.Strict, node.yesNo)},
	}
}

func trimKeys(o *trim.Options) []key {
	return []key{
		{"for", func(n node) {
			of := trim.For(n.text())
			o.Strategy = cmp.Or(o.Strategy, of.Strategy)
			o.Warning = cmp.Or(o.Warning, of.Warning)
			o.Threshold = cmp.Or(o.Threshold, of.Threshold)
			o.PreserveStart, o.PreserveEnd = cmp.Or(o.PreserveStart, of.PreserveStart), cmp.Or(o.PreserveEnd, of.PreserveEnd)
			o.MinMessages = cmp.Or(o.MinMessages, of.MinMessages)
		}},
		{"strategy", set(&o.Strategy, choice("hybrid", "middle", "oldest"))},
		{"trigger", set(&o.Trigger, node.trigger)},
		{"warning", set(&o.Warning, node.share)},
		{"threshold", set(&o.Threshold, node.share)},
		{"target", set(&o.Target, node.share)},
		{"target_tokens", set(&o.TargetTokens, whole(1))},
		{"preserve_start", set(&o.PreserveStart, node.orNone)},
		{"preserve_end", set(&o.PreserveEnd, node.orNone)},
		{"min_messages", set(&o.MinMessages, node.orNone)},
		{"efficiency_only", set(&o.EfficiencyOnly, node.yesNo)},
		{"note", set(&o.Note, node.text)},
		{"interval", set(&o.Interval, span(0, "a length of time, as 5s or 1m30s"))},
		{"min_calls", set(&o.MinCalls, whole(0))},
		{"strict", set(&o.Strict, node.yesNo)},
	}
}

func microcompactKeys(o *microcompact.Options) []key {
	return []key{
		{"trigger", set(&o.Trigger, node.trigger)},
		{"keep_rounds", set(&o.KeepRounds, node.orNone)},
		{"limit", func(n node) { payloads(&o.Limit, n) }},
		{"protect", set(&o.Protect, texts("tools"))},
		{"batch", func(n node) {
			n.read([]key{{"results", set(&o.Batch.Results, whole(0))}, {"tokens", set(&o.Batch.Tokens, whole(0))}})
		}},
		{"digest", set(&o.Digest, node.orNone)},
		{"fresh_share", set(&o.FreshShare, orOff(-1, node.share))},
		{"fresh_tokens", set(&o.FreshTokens, orOff(-1, whole(1)))},
		{"min_calls", set(&o.MinCalls, whole(0))},
		{"strict", set(&o.Strict, node.yesNo)},
	}
}

// payloads reads the limit of results, or a map with those of all payloads.
func payloads(dst *microcompact.Limits, n node) {
	limit := orOff(-1, whole(1))
	if n.kind() != aMap {
		dst.Results = limit(n)
		return
	}
	n.read([]key{
		{"results", set(&dst.Results, limit)},
		{"arguments", set(&dst.Arguments, limit)},
		{"text", set(&dst.Text, limit)},
	})
}

func fitKeys(o *fit.Options) []key {
	return []key{
		{"rules", set(&o.Rules, node.rules)},
		{"limits", func(n node) { n.read(limitKeys(&o.Limits)) }},
		{"target", set(&o.Target, node.share)},
		{"placeholder", set(&o.Placeholder, node.text)},
		{"digest", set(&o.Digest, node.orNone)},
		{"note", set(&o.Note, node.text)},
		{"no_retry", set(&o.NoRetry, node.yesNo)},
	}
}

// ruleSets are the rules of providers by their names in a file.
var ruleSets = []struct {
	name  string
	rules message.Rules
}{
	{"openai", message.OpenAI},
	{"openai_responses", message.OpenAIResponses},
	{"anthropic", message.Anthropic},
	{"gemini", message.Gemini},
	{"bedrock", message.Bedrock},
	{"mistral", message.Mistral},
	{"chat", message.Chat},
	{"messages", message.Messages},
	{"as_sent", message.AsSent},
	{"portable", message.Portable},
	{"unconfirmed", message.Unconfirmed},
	{"prefill", message.Prefill},
	{"in_place", message.InPlace},
	{"system_first", message.SystemFirst},
	{"one_text", message.OneText},
	{"one_system", message.OneSystem},
	{"thinking_calls", message.ThinkingCalls},
	{"plain", message.Plain},
}

// rules reads a list of rule sets and returns their union.
func (n node) rules() (all message.Rules) {
	var names []string
	for _, r := range ruleSets {
		names = append(names, r.name)
	}
	if n.kind() != aList {
		n.wrong("a list of " + list(names))
	}
	for _, item := range n.items() {
		name := item.text()
		k := slices.Index(names, name)
		if k < 0 {
			item.failf("is %q, which are no rules%s; want %s", name, didYouMean(name, names), oneOf(names))
			break
		}
		all |= ruleSets[k].rules
	}
	return all
}

// limitKeys are what a provider accepts besides tokens. 0 is no limit. A limit that is left out is the provider's.
func limitKeys(l *message.Limits) []key {
	return []key{
		{"bytes", set(&l.Bytes, node.orNone)},
		{"images", set(&l.Images, node.orNone)},
		{"media", set(&l.Media, node.orNone)},
		{"documents", set(&l.Documents, node.orNone)},
		{"all_document_bytes", set(&l.AllDocumentBytes, node.orNone)},
		{"image_bytes", set(&l.ImageBytes, node.orNone)},
		{"image_side", set(&l.ImageSide, node.orNone)},
		{"many_images", set(&l.ManyImages, node.orNone)},
		{"many_side", set(&l.ManySide, node.orNone)},
		{"document_bytes", set(&l.DocumentBytes, node.orNone)},
	}
}

// triggerKeys are the keys of a trigger that is a map. Each appends to all.
func triggerKeys(all *[]middleware.Trigger) []key {
	add := func(t middleware.Trigger) { *all = append(*all, t) }
	number := func(of func(int) middleware.Trigger) func(node) { return func(n node) { add(of(whole(1)(n))) } }
	return []key{
		{"tokens", number(trigger.Tokens)},
		{"fraction", func(n node) { add(trigger.Fraction(n.share())) }},
		{"messages", number(trigger.Messages)},
		{"rounds", number(trigger.Rounds)},
		{"tool_uses", number(trigger.ToolUses)},
		{"reclaims", number(trigger.Reclaims)},
		{"at_user", func(n node) { add(trigger.AtUser(n.limit())) }},
		{"not", func(n node) { add(trigger.Not(n.trigger())) }},
		{"economy", func(n node) { add(trigger.Economy(n.prices())) }},
		{"worth", func(n node) { add(trigger.Worth(n.prices())) }},
		{"cold", func(n node) { add(trigger.Cold(n.prices())) }},
	}
}

// limit reads a trigger behind which another one does not wait: true for none.
func (n node) limit() middleware.Trigger {
	if n.kind() == aBool && n.yesNo() {
		return nil
	}
	return n.trigger()
}

// prices reads the options of a trigger that knows prices: true for the defaults, or a map.
func (n node) prices() (o trigger.EconomyOptions) {
	switch {
	case n.kind() == aBool && n.yesNo():
		return o
	case n.kind() != aMap:
		n.wrong("true, or a map as {factor: 1.5}")
		return o
	}
	n.read([]key{
		{"read", set(&o.Read, node.factor)},
		{"write", set(&o.Write, node.factor)},
		{"factor", set(&o.Factor, node.factor)},
		{"ttl", set(&o.TTL, span(1, "a length of time, as 5m or 1h"))},
		{"pressure", set(&o.Pressure, orOff(-1, node.share))},
	})
	if (o.Read == 0) != (o.Write == 0) {
		n.failf("needs read and write, or none of them")
	}
	return o
}

// trigger reads a trigger: of a list any, of a map all.
func (n node) trigger() middleware.Trigger {
	var several []middleware.Trigger
	join := trigger.Any
	switch n.kind() {
	case aList:
		for _, item := range n.items() {
			several = append(several, item.trigger())
		}
	case aMap:
		join = trigger.All
		n.read(triggerKeys(&several))
	default:
		n.wrong("a map of which all must be met, as {tokens: 100000}, or a list of maps of which one must be")
	}
	switch {
	case len(several) == 0:
		n.failf("is empty, want a trigger with %s", oneOf(namesOf(triggerKeys(nil))))
		return nil
	case n.src.first != nil: // the constructors panic for invalid arguments
		return nil
	case len(several) == 1:
		return several[0]
	}
	return join(slices.Clip(several)...)
}
