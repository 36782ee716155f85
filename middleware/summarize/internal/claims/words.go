package claims

import (
	"strconv"
	"strings"
)

// Tables of words, in lower case.

var months = index("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
	"september sep sept", "october oct", "november nov", "december dec")

var weekdays = index("monday mon mondays", "tuesday tue tuesdays", "wednesday wed wednesdays", "thursday thu thursdays",
	"friday fri fridays", "saturday saturdays", "sunday sundays")

// numerals are the English words of numbers.
var numerals = map[string]float64{
	"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
	"twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19,
	"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
	"hundred": 100, "thousand": 1000, "million": 1e6, "billion": 1e9,
}

// currencies are the signs and names of currencies, with their dimension.
var currencies = map[string]string{
	"$": "usd", "€": "eur", "£": "gbp", "¥": "yuan", "￥": "yuan", "₹": "inr", "₩": "krw",
	"usd": "usd", "dollar": "usd", "dollars": "usd", "eur": "eur", "euro": "eur", "euros": "eur", "gbp": "gbp", "pound": "gbp",
	"pounds": "gbp", "cny": "yuan", "rmb": "yuan", "yuan": "yuan", "jpy": "yuan", "yen": "yuan", "inr": "inr", "krw": "krw",
	"chf": "chf", "cad": "cad", "aud": "aud", "元": "yuan", "美元": "usd", "欧元": "eur", "英镑": "gbp", "日元": "yuan",
	"人民币": "yuan", "块": "yuan", "块钱": "yuan", "元人民币": "yuan", "美金": "usd",
}

// units are the names of units; several meanings are several lines.
var units = readUnits(`
time 1e-9 ns nanosecond nanoseconds 纳秒
time 1e-6 us µs μs microsecond microseconds 微秒
time 1e-3 ms msec millisecond milliseconds millis 毫秒
time 1 s sec secs second seconds 秒 秒钟
time 60 m min mins minute minutes 分钟
time 3600 h hr hrs hour hours 小时 钟头
time 86400 d day days 天 日
time 604800 w week weeks 周 星期
time 2592000 month months 月
time 31536000 y yr yrs year years 年
bytes 1 b byte bytes 字节
bytes 1e3 kb kib ki kilobyte kilobytes
bytes 1e6 mb mib mi meg megabyte megabytes 兆 兆字节
bytes 1e9 gb gib g gi gigabyte gigabytes
bytes 1e12 tb tib terabyte terabytes
ratio 1 % percent pct 个百分点
length 1 m meter meters metre metres 米
length 1e3 km kilometer kilometers 公里 千米
length 1e-2 cm 厘米
length 1e-3 mm 毫米
length 1609 mile miles 英里
mass 1 kg kilogram kilograms 千克 公斤
mass 1e-3 g gram grams 克
frequency 1 hz 赫兹
frequency 1e3 khz
frequency 1e6 mhz
frequency 1e9 ghz
power 1 w watt watts 瓦
power 1e3 kw 千瓦
power 1e6 mw 兆瓦
energy 1 wh
energy 1e3 kwh
energy 1e6 mwh
charge 1 ah
temperature 1 c f celsius 度 摄氏度
pixels 1 px pixel pixels 像素
rate 1 rps qps tps rpm fps
`)

// multipliers scale the number before them.
var multipliers = map[string]float64{
	"K": 1e3, "k": 1e3, "M": 1e6, "thousand": 1e3, "million": 1e6, "billion": 1e9, "万": 1e4, "亿": 1e8, "千": 1e3, "百万": 1e6,
}

// approximate are words before a number that is rounded.
var approximate = set("about approximately around roughly nearly almost circa ca over under some 约 近 超 overall")

// chineseLabels are the last two characters of such words.
var chineseLabels = set("端口 口号 出码 态码 版本 错误")

// linking are words after a number that it does not count.
var linking = set("and but for from the then that was were are per with into out off until till before after while when which")

// labels are words before a number that is a name.
var labels = set("port ports line lines pid row rows page pages issue pr ticket room status http code exit version rev build gate seat")

// unitsOf returns the meanings of the name of a unit, or nil.
func unitsOf(s string) []unit {
	if u := units[strings.ToLower(s)]; u != nil {
		return u
	}
	if c := currencies[strings.ToLower(s)]; c != "" {
		return []unit{{c, 1}}
	}
	return nil
}

// unitOf returns the longest Chinese name of a unit at the beginning of a text, or "".
func unitOf(s string) (name string) {
	for at, r := range s {
		if head := s[:at+len(string(r))]; unitsOf(head) != nil {
			name = head
		}
		if at > 12 {
			break
		}
	}
	return name
}

func readUnits(table string) map[string][]unit {
	all := map[string][]unit{}
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) < 3 {
			continue
		}
		size, err := strconv.ParseFloat(f[1], 64)
		if err != nil {
			panic("claims: " + err.Error())
		}
		for _, name := range f[2:] {
			all[name] = append(all[name], unit{f[0], size})
		}
	}
	return all
}

func index(names ...string) map[string]int {
	m := map[string]int{}
	for i, all := range names {
		for name := range strings.FieldsSeq(all) {
			m[name] = i + 1
		}
	}
	return m
}

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// known are names that a text may contain without its source, in lower case: brands, formats, abbreviations.
var known = set(`github gitlab javascript typescript postgresql mysql sqlite macos ios iphone ipad youtube linkedin devops
	websocket websockets graphql nosql oauth oauth2 fastapi numpy pytorch tensorflow openai chatgpt vscode intellij wifi phd latex
	mongodb dynamodb rabbitmq elasticsearch webassembly grpc node.js next.js vue.js nuxt.js react.js express.js three.js d3.js
	asp.net utf-8 utf8 utf-16 sha-1 sha1 sha-256 sha256 sha512 md5 base64 ipv4 ipv6 x86 x64 x86-64 x86_64 amd64 arm64 i18n l10n
	a11y k8s 2d 3d 2fa mp3 mp4 h264 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 http2 http/2 p50 p90 p95 p99
	s3 ec2 e2e b2b b2c q1 q2 q3 q4 co2 covid-19 python2 python3 es6 html5 css3 json5 web3 e-mail etc vs e.g i.e a.m p.m u.s u.k ph.d
	deepmind deepseek whatsapp facebook paypal mastercard airbnb doordash microservices microservice todos ids apis urls
	powershell powerpoint sharepoint onedrive wordpress datetime`)

// counted are words before a number that only count something.
var counted = set("top step phase level part pre post mid n tier round day week non sub multi option item group question task")

// fileEnds are the ends of names of files.
var fileEnds = set(`go py js ts jsx tsx mjs cjs vue svelte rs rb java kt kts c h cc cpp hpp cs php swift scala clj ex exs erl hs ml lua
	pl r jl sh bash zsh ps1 bat sql html htm css scss less xml yaml yml json jsonl toml ini cfg conf env lock md mdx rst txt csv tsv
	parquet xlsx xls docx pdf png jpg jpeg gif svg ico log gz zip tar tgz proto graphql tf dockerfile mod sum ipynb db sqlite bin exe
	so dll dylib wasm map snap test spec com org net io dev`)
