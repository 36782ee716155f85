package models

import (
	"iter"
	"regexp"
	"strings"
)

// Lookup finds a model by its name or by a variant of it, in any case:
//
//	gpt-4o-2024-08-06, claude-sonnet-5-5@default, gemini-2.5-pro-preview-05-06    dates and channels
//	models/gemini-2.5-pro, openrouter/deepseek/deepseek-r1                        prefixes of hosts
//	us.anthropic.claude-sonnet-5-5, openai.gpt-oss-120b-1:0                       Bedrock
//	ft:gpt-4o-mini:acme::a1b2                                                     fine-tuned models
//	anthropic/claude-sonnet-5.5:thinking, qwen3:8b, llama-3.1-70b-instruct        tags and sizes
//
// The result is the row that shares the longest part of the name. If a part of the
// name means another price, as for fine-tuned, free and locally served models, the
// price in the result is unknown. Lookup returns false for an unknown name; a name
// that only begins like a known one is unknown.
func (t *Table) Lookup(name string) (Model, bool) {
	if len(name) > maxName {
		return Model{}, false
	}
	if m, ok := t.row(name); ok {
		return m, true
	}
	for v := range variants(name) {
		if m, ok := t.row(v.name); ok {
			if v.repriced {
				m.Price = Price{}
			}
			return m, true
		}
	}
	return Model{}, false
}

// variant is a name without some of its parts.
type variant struct {
	name     string
	cloud    bool // it had the form of Bedrock or Vertex, which number versions: -v1
	numbered bool // it had a number after a colon, such as the last part of Bedrock: -v1:0, -1:0
	repriced bool // a removed part means another price
}

// variants yields the names to look up, the longest first.
func variants(name string) iter.Seq[variant] {
	return func(yield func(variant) bool) {
		for v := range unhosted(variant{name: lower(name)}) {
			if tuned, ok := strings.CutPrefix(v.name, "ft:"); ok {
				v.name, _, _ = strings.Cut(tuned, ":")
				v.repriced = true
			}
			for more := true; more; v, more = v.shorter() {
				if !yield(v) {
					return
				}
			}
		}
	}
}

// lower changes only ASCII letters: names of models have no others.
func lower(name string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, name)
}

// Bedrock writes region.vendor.model, with its own names for vendors.
var (
	regions = map[string]bool{
		"us": true, "us-gov": true, "eu": true, "apac": true, "global": true, "jp": true, "au": true, "ca": true,
	}
	vendors = map[string]bool{
		"anthropic": true, "openai": true, "meta": true, "mistral": true, "deepseek": true, "qwen": true, "google": true,
		"minimax": true, "moonshot": true, "moonshotai": true, "zai": true, "xai": true,
	}
)

// unhosted yields the name, and then the name with fewer and fewer of the prefixes that
// hosts add.
func unhosted(v variant) iter.Seq[variant] {
	return func(yield func(variant) bool) {
		for more := true; more; {
			if !yield(v) {
				return
			}
			var rest string
			_, rest, more = strings.Cut(v.name, "/")
			if more {
				v.name = rest
			}
		}
		if region, rest, ok := strings.Cut(v.name, "."); ok && regions[region] {
			v.name = rest
		}
		vendor, rest, ok := strings.Cut(v.name, ".")
		if !ok || !vendors[vendor] {
			return
		}
		v.cloud = true
		v.name = rest
		if !yield(v) {
			return
		}
		v.name = vendor + "-" + rest // deepseek.r1-v1:0
		yield(v)
	}
}

var (
	channel = regexp.MustCompile(`-(?:latest|preview|exp|experimental)$`)

	// A day, a month or a counter, in all orders that providers use. Single digits
	// are not dates: claude-opus-4-9 is not claude-opus-4.
	date = regexp.MustCompile(`-(?:` + strings.Join([]string{
		`20\d\d-(?:0\d|1[0-2])-[0-3]\d`, // 2024-08-06
		`20\d\d(?:0\d|1[0-2])[0-3]\d`,   // 20250929
		`2\d(?:0\d|1[0-2])[0-3]\d`,      // 250615
		`(?:0\d|1[0-2])[0-3]\d`,         // 0613
		`2\d(?:0\d|1[0-2])`,             // 2507
		`(?:0\d|1[0-2])-20\d\d`,         // 09-2025
		`(?:0\d|1[0-2])-[0-3]\d`,        // 05-06
		`00\d`,                          // 001
	}, "|") + `)$`)

	version   = regexp.MustCompile(`-v\d$`)
	afterAt   = regexp.MustCompile(`^(?:\d+|latest|default)$`)
	digits    = regexp.MustCompile(`^\d+$`)
	windowTag = regexp.MustCompile(`^\d+[km]$|^extended$`)
	samePrice = regexp.MustCompile(`^(?:\d+|thinking|latest)$`)

	size   = regexp.MustCompile(`-a?\d+(?:\.\d+)?[bme]$`)
	tuning = regexp.MustCompile(`(-a?\d+(?:\.\d+)?[bme])-(?:instruct|chat|it)$`)
)

// shorter removes one part from the end of the name. It returns false if there is no
// such part.
func (v variant) shorter() (variant, bool) {
	if i := strings.LastIndexByte(v.name, ':'); i >= 0 {
		tag := v.name[i+1:]
		if windowTag.MatchString(tag) {
			return v, false // another window than that of the row
		}
		v.name = v.name[:i]
		v.numbered = v.numbered || digits.MatchString(tag)
		v.repriced = v.repriced || !samePrice.MatchString(tag)
		return v, true
	}
	if i := strings.LastIndexByte(v.name, '@'); i >= 0 {
		if !afterAt.MatchString(v.name[i+1:]) {
			return v, false
		}
		v.name, v.cloud = v.name[:i], true
		return v, true
	}
	if (v.cloud || v.numbered) && version.MatchString(v.name) {
		v.name = version.ReplaceAllString(v.name, "")
		v.cloud, v.numbered = false, false
		return v, true
	}
	if rest, ok := strings.CutSuffix(v.name, "-1"); ok && v.numbered {
		v.name, v.numbered = rest, false
		return v, true
	}
	for _, ending := range []*regexp.Regexp{channel, date} {
		if ending.MatchString(v.name) {
			v.name = ending.ReplaceAllString(v.name, "")
			return v, true
		}
	}
	if tuning.MatchString(v.name) {
		v.name = tuning.ReplaceAllString(v.name, "$1")
		return v, true
	}
	if size.MatchString(v.name) {
		v.name = size.ReplaceAllString(v.name, "")
		v.repriced = true
		return v, true
	}
	return v, false
}
