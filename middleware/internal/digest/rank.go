package digest

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/laconic-go/laconic/tokens"
)

// fact is a string in a text that an agent can need again word for word.
type fact struct {
	text  string
	label string // its key, if that can be part of a line; "": none
	kind  kind
	role  role // of its key
	whole bool // it is all of a value

	id    int32 // of its string in the pool
	seq   int   // its index among the facts of its text
	score int
}

// needsLabel reports whether a fact has little meaning without its key.
func (f *fact) needsLabel() bool {
	if f.label == "" {
		return false
	}
	switch f.kind {
	case number, amount, date, code, text, hash:
		return true
	case id: // credit_card_7815826 has its kind in it
		t := traitsOf(f.text)
		return (f.whole || f.role > otherKey) && t.n[lower] < 3
	default:
		return false
	}
}

// isPhrase reports whether a text has several words.
func isPhrase(text string) bool { return strings.IndexByte(text, ' ') >= 0 }

// merge adds what another place of the same fact adds to it.
func (f *fact) merge(g *fact) {
	if f.role <= otherKey && g.role > f.role {
		f.label, f.role = g.label, g.role
	}
	f.whole = f.whole || g.whole
}

// pool holds the facts of several texts. Equal strings have one id.
type pool struct {
	texts []string // by id
	facts [][]fact // of each cleared text
}

func newPool(cleared []Cleared) *pool {
	p := &pool{facts: make([][]fact, len(cleared))}
	ids := map[string]int32{}
	var last []int // by id: seq of the fact that had the string last
	seq := 0
	for i, c := range cleared {
		var facts []fact
		first := seq
		scan(c.Text, func(f fact) {
			id, ok := ids[f.text]
			switch {
			case !ok:
				id = int32(len(p.texts))
				ids[f.text] = id
				p.texts, last = append(p.texts, f.text), append(last, seq)
			case last[id] >= first:
				facts[last[id]-first].merge(&f)
				return
			}
			f.id, f.seq, last[id] = id, seq, seq
			facts = append(facts, f)
			seq++
		})
		p.facts[i] = refine(within(facts, c.Of))
	}
	return p
}

// within returns the facts that occur in a text, or all if the text is "".
func within(facts []fact, text string) []fact {
	if text == "" {
		return facts
	}
	all := make([]string, len(facts))
	for k := range facts {
		all[k] = facts[k].text
	}
	find := newFinder(all)
	for _, part := range legible(text) {
		find.mark(find.shown, part)
	}
	kept := facts[:0]
	for k, f := range facts {
		if find.shown[k] {
			kept = append(kept, f)
		}
	}
	return kept
}

// refine uses what the facts of a text show about each other. A code with the key
// of an identifier is an identifier: {"seats": ["12A", "AB"]}. The bare kind of an
// identifier, as credit_card of credit_card_7815826, is not a fact.
func refine(facts []fact) []fact {
	keysOfID, kindsOfID := map[string]bool{}, map[string]bool{}
	for i := range facts {
		if f := &facts[i]; f.kind == id {
			keysOfID[f.label] = keysOfID[f.label] || f.whole
			if bare := strings.TrimRight(f.text, digits); bare != f.text {
				kindsOfID[strings.TrimRight(bare, "_-#")] = true
			}
		}
	}
	if len(keysOfID) == 0 {
		return facts
	}
	for i := range facts {
		if f := &facts[i]; f.kind == code && f.whole && f.label != "" && keysOfID[f.label] {
			f.kind = id
		}
	}
	return slices.DeleteFunc(facts, func(f fact) bool { return kindsOfID[f.text] && f.kind != id })
}

// role is what a key shows about its value.
type role uint8

const (
	noKey    role = iota
	otherKey      // the key shows nothing
	idKey
	dateKey
	amountKey // also contacts
	placeKey  // also codes
	nameKey
	roles
)

// keys are the last words of telling keys, in several languages, and what the value
// of such a key is worth, as in [worths].
var keys = [roles]struct {
	worth int
	words string
}{
	idKey: {300, "id ids uid uuid guid key keys token sku number numbers num no nr ref reference hash sha digest " +
		"commit isbn barcode serial order orders invoice ticket tracking account card iban vin handle user username login " +
		"编号 单号 号码 号 订单 订单号 账号 卡号 流水号 番号 nummer numero número"},
	dateKey: {300, "date dates time day at on dob birthday birthdate deadline due expires expiry expiration created " +
		"updated modified start end timestamp since until 日期 时间 生日 期限 datum fecha"},
	amountKey: {150, "price prices amount amounts total subtotal cost costs fee fees balance sum tax payment refund " +
		"discount salary rate value qty quantity email emails mail phone phones tel telephone mobile fax contact " +
		"价格 金额 总价 总额 费用 余额 总计 合计 单价 税额 数量 preis betrag prix montant precio importe " +
		"邮箱 电话 手机 手机号 联系方式 telefon teléfono"},
	placeKey: {100, "path paths file files url urls uri link links href src filename dir directory folder repo repository " +
		"branch host hostname domain ip endpoint code codes zip postcode postal status version port pin otp " +
		"路径 链接 文件 网址 目录 代码 编码 邮编 版本 版本号 端口 验证码"},
	nameKey: {40, "name names title titles first last label person people author owner customer city address street " +
		"country product item brand model 姓名 客户 用户 名称 名字 标题 作者 城市 地址 国家 产品 商品 品牌 型号"},
}

var roleOfWord = func() map[string]role {
	m := map[string]role{}
	for r, k := range keys {
		for w := range strings.FieldsSeq(k.words) {
			m[w] = role(r)
		}
	}
	return m
}()

// roleOf returns the role of a key by its last word, which is Id in orderId and id
// in order_id.
func roleOf(key string) role {
	if key == "" {
		return noKey
	}
	from := len(key)
	for from > 0 && (key[from-1] >= utf8.RuneSelf || ascii[key[from-1]].inWord()) {
		from--
		if is(key, from, upper) && is(key, from-1, lower) {
			break
		}
	}
	return max(otherKey, roleOfWord[strings.ToLower(key[from:])])
}

// worths is how likely a fact of a kind is needed later, relative to 100 for the
// name of a file. They are round numbers: twice or half of one of them hardly
// changes what is kept of recorded conversations.
var worths = [kinds]int{
	number: 10,
	amount: 300,
	date:   300,
	email:  150,
	link:   150,
	path:   300,
	file:   100,
	id:     300,
	hash:   30,
	host:   30,
	symbol: 60,
	code:   20,
	text:   15,
	fault:  1000,
	lines:  1000,
}

// ranked returns the facts of text i that are not shown, best first.
func (p *pool) ranked(i int, find *finder) []*fact {
	const fixed = 3 // tokens, so that short facts do not take all the room
	var ranked []*fact
	for k := range p.facts[i] {
		f := &p.facts[i][k]
		if find.shown[f.id] && f.kind != lines {
			continue
		}
		f.score = 1000 * f.worth() / (tokens.Estimate{}.Count(f.text) + fixed)
		if find.passing[f.id] {
			f.score /= 2
		}
		ranked = append(ranked, f)
	}
	slices.SortFunc(ranked, func(a, b *fact) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.seq, b.seq)) })
	return ranked
}

// worth returns the worth of a fact by its kind and its key. A key counts half if
// the fact is only the first word of the value.
func (f *fact) worth() int {
	w, keyed := worths[f.kind], keys[f.role].worth
	if !f.whole {
		keyed /= 2
	}
	switch f.kind {
	case symbol, text:
		if f.whole {
			w = max(w, keyed/2)
		}
	case id, code, hash, amount, date:
		if f.kind == id && f.whole && f.role != noKey {
			keyed = keys[idKey].worth
		}
		w = max(w, keyed)
	case number:
		const short, long = 2, 6 // digits
		switch w = max(w, keyed); {
		case len(f.text) <= short:
			w /= 3
		case len(f.text) >= long && keyed == 0 && !strings.ContainsAny(f.text, ".:"):
			w *= 5
		}
	default:
	}
	return w
}

// longest returns the longest path of text i that ends with a path.
func (p *pool) longest(i int, f *fact) *fact {
	if f.kind != path && f.kind != file {
		return f
	}
	for k := range p.facts[i] {
		g := &p.facts[i][k]
		more := len(g.text) - len(f.text)
		if g.kind == path && more > 0 && g.text[more:] == f.text && (f.text[0] == '/' || g.text[more-1] == '/') {
			f = g
		}
	}
	return f
}
