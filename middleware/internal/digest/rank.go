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
	text    string
	label   string // its key, if that can be part of a line; "": none
	kind    kind
	role    role // of its key
	whole   bool // it is all of a value
	defines bool // it is the number of a line that declares a name

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
	f.defines = f.defines && g.defines
}

// pool holds the facts of several texts. Equal strings have one id.
type pool struct {
	texts []string // by id
	cost  []int    // estimated tokens, by id; 0: not counted yet
	facts [][]fact // of each cleared text

	ids  map[string]int32
	last []place // by id: where the string was found last
}

// place is an index of pool.facts and one in the facts there.
type place struct{ text, seq int }

func newPool(cleared []Cleared) *pool {
	p := &pool{ids: map[string]int32{}, facts: make([][]fact, len(cleared))}
	for i, c := range cleared {
		scan(c.Text, func(f fact) { p.add(i, f) })
		if c.Of != "" {
			p.facts[i] = p.within(p.facts[i], c.Of)
		}
		p.facts[i] = refine(p.facts[i])
	}
	p.cost = make([]int, len(p.texts))
	return p
}

// add adds a fact of text i.
func (p *pool) add(i int, f fact) {
	id, ok := p.ids[f.text]
	if !ok {
		id = int32(len(p.texts))
		p.ids[f.text] = id
		p.texts = append(p.texts, f.text)
		p.last = append(p.last, place{text: -1})
	}
	if at := p.last[id]; at.text == i {
		p.facts[i][at.seq].merge(&f)
		return
	}
	f.id, f.seq = id, len(p.facts[i])
	p.last[id] = place{text: i, seq: f.seq}
	p.facts[i] = append(p.facts[i], f)
}

// within returns the facts that occur in a text.
func (p *pool) within(facts []fact, text string) []fact {
	all := make([]string, len(facts))
	for k := range facts {
		all[k] = facts[k].text
	}
	find := newFinder(all)
	for _, part := range legible(text) {
		find.show(part)
	}
	kept := facts[:0]
	for k := range facts {
		if find.shown[k] {
			kept = append(kept, facts[k])
		}
	}
	return kept
}

// refine uses what the facts of a text show about each other. A code with the key
// of an identifier is an identifier: {"seats": ["12A", "AB"]}. The bare kind of an
// identifier, as credit_card of credit_card_7815826, is not a fact.
func refine(facts []fact) []fact {
	keys, kindsOfID := map[string]bool{}, map[string]bool{}
	for i := range facts {
		if f := &facts[i]; f.kind == id {
			if f.whole && f.label != "" {
				keys[f.label] = true
			}
			if bare := strings.TrimRight(f.text, "0123456789"); bare != f.text {
				kindsOfID[strings.TrimRight(bare, "_-#")] = true
			}
		}
	}
	if len(keys)+len(kindsOfID) == 0 {
		return facts
	}
	kept := facts[:0]
	for _, f := range facts {
		if f.kind == code && f.whole && keys[f.label] {
			f.kind = id
		}
		if !kindsOfID[f.text] || f.kind == id {
			kept = append(kept, f)
		}
	}
	return kept
}

// role is what a key shows about its value.
type role uint8

const (
	noKey    role = iota
	otherKey      // the key shows nothing
	idKey
	codeKey
	amountKey
	dateKey
	nameKey
	placeKey
	contactKey
	roles
)

// keyWords are the last words of telling keys, in several languages.
var keyWords = [roles]string{
	idKey: "id ids uid uuid guid key keys token sku number numbers num no nr ref reference hash sha digest commit isbn barcode serial " +
		"order orders invoice ticket tracking account card iban vin handle user username login " +
		"编号 单号 号码 号 订单 订单号 账号 卡号 流水号 番号 nummer numero número",
	codeKey: "code codes zip postcode postal status version port pin otp " +
		"代码 编码 邮编 版本 版本号 端口 验证码",
	amountKey: "price prices amount amounts total subtotal cost costs fee fees balance sum tax payment refund discount salary rate " +
		"value qty quantity 价格 金额 总价 总额 费用 余额 总计 合计 单价 税额 数量 preis betrag prix montant precio importe",
	dateKey: "date dates time day at on dob birthday birthdate deadline due expires expiry expiration created updated modified start " +
		"end timestamp since until 日期 时间 生日 期限 datum fecha",
	nameKey: "name names title titles first last label person people author owner customer city address street country product item " +
		"brand model 姓名 客户 用户 名称 名字 标题 作者 城市 地址 国家 产品 商品 品牌 型号",
	placeKey: "path paths file files url urls uri link links href src filename dir directory folder repo repository branch " +
		"host hostname domain ip endpoint 路径 链接 文件 网址 目录",
	contactKey: "email emails mail phone phones tel telephone mobile fax contact 邮箱 电话 手机 手机号 联系方式 telefon teléfono",
}

var roleOfWord = func() map[string]role {
	m := map[string]role{}
	for r, words := range keyWords {
		for w := range strings.FieldsSeq(words) {
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
// name of a symbol. They are round numbers: twice or half of one of them hardly
// changes what is kept of recorded conversations.
var worths = [kinds]int{
	number: 5,
	amount: 300,
	date:   300,
	email:  150,
	link:   150,
	path:   400,
	file:   150,
	id:     200,
	hash:   30,
	host:   30,
	symbol: 100,
	code:   20,
	text:   15,
	fault:  1000,
}

// keyWorths is the same for the value of a key.
var keyWorths = [roles]int{
	idKey:      300,
	codeKey:    100,
	amountKey:  150,
	dateKey:    300,
	nameKey:    40,
	placeKey:   100,
	contactKey: 150,
}

// ranked returns the facts of text i that are not shown, best first.
func (p *pool) ranked(i int, find *finder, about topics) []*fact {
	var ranked []*fact
	for k := range p.facts[i] {
		f := &p.facts[i][k]
		if find.shown[f.id] {
			continue
		}
		if p.cost[f.id] == 0 {
			p.cost[f.id] = tokens.Estimate{}.Count(f.text)
		}
		f.rank(p.cost[f.id], about)
		ranked = append(ranked, f)
	}
	slices.SortFunc(ranked, func(a, b *fact) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.seq, b.seq)) })
	return ranked
}

// rank sets the score of a fact: its worth for its cost in tokens. It is up to
// double for what the user and the model write about.
func (f *fact) rank(cost int, about topics) {
	const (
		neutral = 80 // hundredths, for a fact without a topic
		fixed   = 3  // tokens, so that short facts do not take all the room
	)
	share := neutral
	if topic := f.topic(); topic != "" {
		share = about.share(topic)
	}
	f.score = 1000 * f.worth() * (100 + share) / (cost + fixed)
}

// worth returns the worth of a fact by its kind and its key. A key counts half if
// the fact is only the first word of the value.
func (f *fact) worth() int {
	w, keyed := worths[f.kind], keyWorths[f.role]
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
			keyed = keyWorths[idKey]
		}
		w = max(w, keyed)
	case number:
		const short, long = 2, 6 // digits
		switch w = max(w, keyed); {
		case f.defines:
			w *= 3
		case len(f.text) <= short:
			w /= 3
		case len(f.text) >= long && keyed == 0 && !strings.ContainsAny(f.text, ".:"):
			w *= 5
		}
	default:
	}
	return w
}

// topic returns the part of a fact that shows what it is about; "" if there is
// none.
func (f *fact) topic() string {
	switch f.kind {
	case symbol, text, code, host, file:
		return f.text
	case path, link:
		dir := strings.TrimSuffix(f.text, "/")
		return dir[strings.LastIndexByte(dir, '/')+1:]
	default:
		return ""
	}
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
