package digest

import "strings"

// role is what a key says of its value.
type role uint8

const (
	noRole  role = iota // there is no key
	anyRole             // the key says nothing
	idRole
	codeRole
	amountRole
	dateRole
	nameRole
	placeRole
	contactRole
	roles
)

// roleWords are the words that keys end in, of several languages.
var roleWords = [roles]string{
	idRole: "id ids uid uuid guid key keys token sku number numbers num no nr ref reference hash sha digest commit isbn barcode serial " +
		"order orders invoice ticket tracking account card iban vin handle user username login " +
		"编号 单号 号码 号 订单 订单号 账号 卡号 流水号 番号 nummer numero número",
	codeRole: "code codes zip postcode postal status version port pin otp " +
		"代码 编码 邮编 版本 版本号 端口 验证码",
	amountRole: "price prices amount amounts total subtotal cost costs fee fees balance sum tax payment refund discount salary rate " +
		"value qty quantity 价格 金额 总价 总额 费用 余额 总计 合计 单价 税额 数量 preis betrag prix montant precio importe",
	dateRole: "date dates time day at on dob birthday birthdate deadline due expires expiry expiration created updated modified start " +
		"end timestamp since until 日期 时间 生日 期限 datum fecha",
	nameRole: "name names title titles first last label person people author owner customer city address street country product item " +
		"brand model 姓名 客户 用户 名称 名字 标题 作者 城市 地址 国家 产品 商品 品牌 型号",
	placeRole: "path paths file files url urls uri link links href src filename dir directory folder repo repository branch " +
		"host hostname domain ip endpoint 路径 链接 文件 网址 目录",
	contactRole: "email emails mail phone phones tel telephone mobile fax contact 邮箱 电话 手机 手机号 联系方式 telefon teléfono",
}

var roleOfWord = func() map[string]role {
	m := map[string]role{}
	for r, words := range roleWords {
		for w := range strings.FieldsSeq(words) {
			m[w] = role(r)
		}
	}
	return m
}()

// roleOf returns what a key says: its last word does, also in orderId and order_id.
func roleOf(key string) role {
	if key == "" {
		return noRole
	}
	from := len(key)
	for from > 0 {
		b := key[from-1]
		if b < 0x80 && !narrow[b].isWord() {
			break
		}
		from--
		if narrow[b&0x7F] == upper && b < 0x80 && from > 0 && narrow[key[from-1]&0x7F] == lower {
			break
		}
	}
	const longest = 24
	w := key[from:]
	if len(w) > longest {
		return anyRole
	}
	if r, ok := roleOfWord[strings.ToLower(w)]; ok {
		return r
	}
	return anyRole
}
