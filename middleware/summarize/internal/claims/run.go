package claims

import (
	"slices"
	"strings"

	"github.com/laconic-go/laconic/middleware/summarize/internal/facts"
)

// command is a command, or a tool, with the outcomes of its runs.
type command struct {
	words    []string // of the command line
	subjects map[string]bool
	newest   state
	passed   bool // at least once
	failed   bool // at least once
}

// state is an outcome.
type state uint8

const (
	unknown state = iota
	good
	bad
)

// addRun adds a run, after those before it.
func (s *Source) addRun(r facts.Run) {
	line := r.Command
	if line == "" {
		line = r.Tool
	}
	words := wordsOf(line)
	if len(words) == 0 {
		return
	}
	key := strings.Join(words, " ")
	c := s.commands[key]
	if c == nil {
		c = &command{words: words, subjects: subjectsOf(line)}
		s.commands[key] = c
	}
	switch {
	case r.Passed:
		c.newest, c.passed = good, true
	case r.Failed:
		c.newest, c.failed = bad, true
	default:
		c.newest = unknown
	}
}

func wordsOf(line string) (words []string) {
	for _, t := range lex(nil, fold(line)) {
		if inStream(t) {
			words = append(words, t.text)
		}
	}
	return words
}

// subjectsOf returns the words by which a command is mentioned: those of its line that are neither options nor paths,
// but for the name of a script.
func subjectsOf(line string) map[string]bool {
	const most = 400 // bytes
	subjects, option := map[string]bool{}, false
	for field := range strings.FieldsSeq(line[:min(len(line), most)]) {
		field = strings.Trim(field, `"'();&|`)
		value := option
		option = len(field) == 2 && field[0] == '-' && field != "-m" && field != "-c" && field != "--"
		if value || strings.HasPrefix(field, "-") || strings.ContainsAny(field, "=:@*${}") || strings.HasSuffix(field, "/...") {
			continue
		}
		if at := strings.LastIndexByte(field, '/'); at >= 0 || strings.Contains(field, ".") {
			name, end, _ := strings.Cut(field[at+1:], ".")
			if !scriptEnds[end] {
				continue
			}
			field = name
		}
		for _, t := range lex(nil, strings.ReplaceAll(strings.Join(append(humpsOr(field), ""), " "), "_", " ")) {
			if subject := subjectOf(t.text); subject != "" {
				subjects[subject] = true
			}
		}
	}
	return subjects
}

func humpsOr(field string) []string {
	if h := humps(field); h[0] != "\x02" {
		return h
	}
	return []string{field}
}

var scriptEnds = set("sh py js ts rb pl ps1 bat")

// subjectOf returns the form in which words of commands and of sentences are compared, or "" for a word that says little.
func subjectOf(w string) string {
	const least = 4
	if len(w) < 3 || vague[w] {
		return ""
	}
	if s := synonyms[w]; s != "" {
		return s
	}
	for _, end := range wordEnds {
		if stem, ok := strings.CutSuffix(w, end); ok && len(stem) >= least {
			w = stem
			break
		}
	}
	if s := synonyms[w]; s != "" {
		return s
	}
	return w
}

// wordEnds are ends of words that mean the same without them, longer ones first.
var wordEnds = strings.Fields("ations ation ating ated ates ate ments ment ions ion ing ers er ed es e s")

// synonyms have the subject of words that do not begin alike.
var synonyms = pairs(`test: tests testing tested pytest unittest jest vitest mocha rspec ctest phpunit tox nosetests spec specs suite
	build: builds building built compile compiles compiled compiler compil compilation tsc webpack gcc clang javac rollup esbuild make
	lint: linter linting linted eslint ruff flake8 pylint golangci clippy stylelint
	types: typecheck mypy pyright tsc
	install: installs installed installation instal ci
	email: mail emails e-mail
	send: sends sent sending
	push: pushes pushed pushing
	deploy: deploys rollout release`)

// chineseSubjects are words of Chinese sentences, with their subject.
var chineseSubjects = [][2]string{
	{"测试", "test"},
	{"构建", "build"},
	{"编译", "build"},
	{"部署", "deploy"},
	{"安装", "install"},
	{"迁移", "migr"},
	{"推送", "push"},
	{"提交", "commit"},
	{"重启", "restart"},
	{"启动", "start"},
	{"下载", "download"},
	{"上传", "upload"},
	{"备份", "backup"},
	{"发布", "deploy"},
	{"检查", "lint"},
	{"类型检查", "types"},
	{"邮件", "email"},
	{"发送", "send"},
	{"预订", "book"},
	{"预定", "book"},
	{"取消", "cancel"},
	{"退款", "refund"},
	{"拦截", "intercept"},
	{"集成", "integr"},
}

// vague are words of commands that say little about what they do.
var vague = set(`run exec npm npx yarn pnpm node git python python3 bash sudo the and for all with without app src file files echo cat
	head tail grep find bin usr local home dev null true false out log main new get set use env from into not was were has had
	this that then than its are after before first second last also only when while which been but now still fails fail failed
	pass passes passed success successful successfully error errors done completed finished time code exit docker kubectl cargo`)

func pairs(table string) map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(table) {
		subject, all, _ := strings.Cut(strings.TrimSpace(line), ":")
		m[subject] = subject
		for w := range strings.FieldsSeq(all) {
			m[w] = subject
		}
	}
	return m
}

// clause is a part of a sentence.
type clause struct {
	from, to int // tokens
	state    state
	text     string
	about    []*command
}

// contradicted returns the parts of a sentence that state an outcome against the record.
func (s *Source) contradicted(sen *sentence) (items []string) {
	if len(s.commands) == 0 || isOpen(sen) {
		return nil
	}
	states, all := map[state]bool{}, []clause(nil)
	var before []*command
	for _, c := range clauses(sen) {
		c.about = s.about(sen, c)
		if c.about == nil {
			c.about = before
		}
		before = c.about
		states[c.state] = true
		all = append(all, c)
	}
	story, now := states[good] && states[bad] || sen.hasAny(once), sen.hasAny(still)
	for _, c := range all {
		agrees := func(cmd *command) bool { return cmd.agrees(c.state, story, now) }
		if c.state != unknown && len(c.about) > 0 && !slices.ContainsFunc(c.about, agrees) {
			items = append(items, strings.TrimRight(c.text, ".!。！"))
		}
	}
	return items
}

// agrees reports whether a command may have had an outcome: its newest, or in a story any. That it failed may be a story
// in any case, unless it still does.
func (c *command) agrees(claimed state, story, now bool) bool {
	switch {
	case c.newest == unknown || c.newest == claimed:
		return true
	case claimed == bad && !now:
		return c.failed
	}
	return claimed == good && story && c.passed
}

// about returns the commands that a clause is about: those that it quotes, otherwise those with most of its words.
func (s *Source) about(sen *sentence, c clause) (found []*command) {
	from, to := sen.toks[c.from].from, sen.toks[c.to-1].to()
	for _, sp := range sen.spans {
		if sp.from < from || sp.to > to {
			continue
		}
		words := sen.wordsIn(sp.from, sp.to)
		for _, cmd := range s.commands {
			if containsRun(cmd.words, words) {
				found = append(found, cmd)
			}
		}
		if found != nil {
			return found
		}
	}
	subjects, most := sen.subjects(c), 1
	for _, cmd := range s.commands {
		n := 0
		for w := range subjects {
			if cmd.subjects[w] {
				n++
			}
		}
		switch {
		case n > most:
			most, found = n, []*command{cmd}
		case n == most:
			found = append(found, cmd)
		}
	}
	return found
}

// subjects returns the subjects of a clause, without the words of names.
func (s *sentence) subjects(c clause) map[string]bool {
	subjects := map[string]bool{}
	for i, t := range s.toks[c.from:c.to] {
		if w := subjectOf(t.text); t.kind == word && w != "" && !s.named[c.from+i] {
			subjects[w] = true
		}
	}
	part := s.text[s.toks[c.from].from:s.toks[c.to-1].to()]
	for _, w := range chineseSubjects {
		if strings.Contains(part, w[0]) {
			subjects[w[1]] = true
		}
	}
	return subjects
}

func containsRun(all, part []string) bool {
	for i := range all {
		if i+len(part) <= len(all) && len(part) > 0 && slices.Equal(all[i:i+len(part)], part) {
			return true
		}
	}
	return false
}

// clauses returns the clauses of a sentence with their outcomes.
func clauses(sen *sentence) (all []clause) {
	inSpan := func(t token) bool {
		return slices.ContainsFunc(sen.spans, func(sp span) bool { return sp.from <= t.from && t.from < sp.to })
	}
	from := 0
	for i := 0; i <= len(sen.toks); i++ {
		if i < len(sen.toks) {
			t := sen.toks[i]
			if joint := t.is(",;()。、") || t.kind == word && joints[t.text]; !joint || inSpan(t) {
				continue
			}
		}
		if i > from {
			c := clause{from: from, to: i}
			c.state, c.text = sen.outcome(from, i)
			all = append(all, c)
		}
		from = i + 1
	}
	return all
}

// outcome returns the outcome that tokens state, and the word.
func (s *sentence) outcome(from, to int) (st state, item string) {
	negated := false
	for i := from; i < to; i++ {
		t := s.toks[i]
		if t.kind != word {
			continue
		}
		switch {
		case negations[t.text]:
			negated = true
		case i > from && (s.toks[i-1].amount.has || s.toks[i-1].text == "to"): // 212 passed, to pass
		case goods[t.text] || bads[t.text]:
			st = good
			if bads[t.text] != negated {
				st = bad
			}
			return st, s.text[s.toks[from].from:s.toks[to-1].to()]
		}
	}
	part := s.text[s.toks[from].from:s.toks[to-1].to()]
	if t := s.toks[from]; t.amount.has && at(s.toks, from+1).kind == ideograph { // 212 个通过
		return unknown, ""
	}
	for _, w := range chineseOutcomes {
		if strings.Contains(part, w.text) {
			return w.state, part
		}
	}
	return unknown, ""
}

// hasAny reports whether the sentence has a word, or a part in Chinese.
func (s *sentence) hasAny(list wordList) bool {
	for _, t := range s.toks {
		if t.kind == word && list.words[t.text] {
			return true
		}
	}
	return slices.ContainsFunc(list.parts, func(p string) bool { return strings.Contains(s.text, p) })
}

// isOpen reports whether a sentence states a wish, a condition or what somebody says, and no outcome.
func isOpen(sen *sentence) bool {
	return sen.hasAny(wishes) || strings.HasSuffix(strings.TrimSpace(sen.text), "?")
}

type wordList struct {
	words map[string]bool
	parts []string
}

var (
	wishes = wordList{
		set(`should must want wants wanted need needs until if unless whether ensure sure expected expects would will may
		might could plan plans next todo require requires required keep once claims claimed says said reported asks asked please`),
		strings.Fields("应 必须 要求 需要 希望 确保 如果 直到 是否 保持 待 计划 将 说 请 尚 再 下一步 准备 打算"),
	}
	once = wordList{
		set(`first initially earlier before previously originally then later again after already`),
		strings.Fields("最初 之前 先 起初 第一次 原来 后来 重构前 曾"),
	}
	still     = wordList{set("still now currently"), strings.Fields("仍 现在 目前 依然")}
	joints    = set("but while whereas although though however then after and")
	negations = set("not no never without neither nor didnt doesnt dont isnt wasnt werent couldnt cannot cant havent hasnt zero")
	goods     = set(`pass passes passed passing succeed succeeds succeeded success successful successfully green works worked completed`)
	bads      = set(`fail fails failed failing failure failures unsuccessful unsuccessfully broken crashed errored timed killed denied
		aborted cancelled canceled rejected`)
)

var chineseOutcomes = []struct {
	text  string
	state state
}{
	{"未通过", bad},
	{"没有通过", bad},
	{"没通过", bad},
	{"不通过", bad},
	{"未成功", bad},
	{"没有成功", bad},
	{"未能", bad},
	{"没有失败", good},
	{"无失败", good},
	{"失败", bad},
	{"报错", bad},
	{"出错", bad},
	{"超时", bad},
	{"被终止", bad},
	{"被拒绝", bad},
	{"被取消", bad},
	{"通过", good},
	{"成功", good},
	{"已完成", good},
}
