package facts

// The phrases of standing instructions, in lower case, with ' for ’. Sentences are read
// clause by clause. Some phrases must begin a clause, after fillers such as "please";
// others count anywhere. The lists prefer precision: "I never saw that" must not count.

// fillers may come before an instruction.
var fillers = list(
	"please ", "pls ", "kindly ", "and ", "but ", "so ", "also ", "then ", "or ", "just ", "again ", "now ", "important ",
	"note ", "remember ", "however ", "otherwise ", "in general ", "generally ",
	"in particular ", "in addition ", "additionally ", "moreover ", "instead ", "because ", "since ", "that ", "absolutely ",
	"definitely ", "ok ", "okay ", "no ", "yes ", "well ",
	"请你", "请", "你们", "你", "您", "但是", "但", "而且", "并且", "并", "也", "都", "就", "先", "千万", "绝对", "一定", "以后", "今后", "所以", "另外", "此外",
	"注意", "记住", "记得", "大家", "同时", "还有", "尽可能", "尽量", "最好",
	"請", "並",
)

// bans begin a clause that forbids.
var bans = list(
	"never ", "do not ", "don't ", "dont ", "don`t ", "must not ", "mustn't ", "should not be ", "may not be ", "avoid ",
	"refrain from ", "not allowed",
	"you can't ", "you cannot ", "you can not ",
	"under no circumstances", "in no case", "stop using ", "stop adding ", "stop changing ", "stop making ", "stop asking ",
	"stop creating ", "stop writing ", "stop deleting ", "stop committing ", "stop pushing ", "stop touching ", "stop doing ",
	"hands off ", "keep your hands off ", "keep away from ", "stay away from ", "stay out of ",
	"absolutely no ", "no new dependenc", "no new file", "no new package", "no new librar", "no external ", "no third-party ",
	"no third party ", "no emoji", "no force-push", "no force push", "no breaking change", "no placeholders", "no stubs",
	"不要", "别", "勿", "不得", "不许", "不准", "不可以", "不能", "不应", "不该", "永远不要", "绝不", "切忌", "杜绝", "別", "不許", "不準", "不應",
)

// bansAnywhere forbid in any place of a sentence.
var bansAnywhere = list(
	"you must not ", "you must never ", "you should not ", "you shouldn't ", "you should never ", "you mustn't ", "you may not ",
	"you are not to ",
	"you're not to ", "you are not allowed", "you're not allowed", "you are never ", "you will not ", "you shall not ",
	"must not ", "must never ", "mustn't ", "should never ", "shall not ",
	"is not allowed", "are not allowed", "isn't allowed", "aren't allowed", "is forbidden", "are forbidden", "is prohibited",
	"are prohibited", "strictly forbidden", "strictly prohibited", "is not permitted", "are not permitted", "off limits", "off-limits",
	"may not be changed", "may not be modified", "may not be edited", "may not be touched", "may not be deleted", "may not be removed",
	"should not be changed", "should not be modified", "should not be edited", "should not be touched", "should not be deleted",
	"should not be removed", "should not be committed", "shouldn't be changed", "shouldn't be modified", "shouldn't be edited",
	"shouldn't be touched", "shouldn't be deleted", "shouldn't be removed", "shouldn't be committed",
	"i don't want ", "i do not want ", "we don't want ", "we do not want ", "i dont want ", "i really don't want ",
	"i really do not want ", "i would rather not ", "i'd rather not ", "i'd prefer not ", "please don't ", "please do not ",
	"please never ",
	"without asking", "without changing", "without modifying", "without touching", "without breaking", "without deleting",
	"without adding", "without removing", "without my ",
	"千万不要", "千万别", "绝对不要", "绝不能", "绝对不能", "禁止", "严禁", "请勿", "切勿", "不允许", "不许", "不准", "请不要", "请别", "请避免", "要避免", "应避免", "应该避免",
	"你不能", "你不要", "您不要", "我不想", "我不要", "我不希望", "不要再", "但不要", "并不要", "且不要", "而不要", "但别",
	"嚴禁", "請勿", "請不要", "不允許", "請別",
	// In Chinese the object comes first.
	"不要动", "不要改", "不要碰", "不要删", "不要用", "不要提交", "不要推", "不要加", "不要添加", "不要使用", "不要写", "不要运行", "不要执行", "不要修改", "不要覆盖",
	"不要泄露", "不要打印", "不要上传", "不要公开", "不要包含", "不要出现", "不要超过", "不要依赖", "不要引入", "不要创建", "不要新建", "不要動", "不要刪", "不要寫",
	"不能动", "不能碰", "不能改动", "不能泄露", "不能外传", "不可泄露", "不可外传",
	"不得修改", "不得使用", "不得删除", "不得推送", "不得提交", "不得更改", "不得超过", "不得包含", "不得泄露", "不得擅自", "不得引入",
)

// rules begin a clause that states how things are to be done.
var rules = list(
	"always ", "make sure ", "ensure ", "be sure to ", "remember to ", "from now on", "at all times", "in all cases",
	"under all circumstances", "whenever you ", "don't forget ", "do not forget ", "must ",
	"only add ", "only ask ", "only call ", "only change ", "only commit ", "only consider ", "only do ", "only edit ",
	"only ever ", "only fix ", "only follow ", "only give ", "only include ", "only look at ",
	"only modify ", "only output ", "only read ", "only reply ", "only respond ", "only return ", "only run ", "only show ",
	"only speak ", "only touch ", "only use ", "only work ", "only write ", "only answer ",
	"use only ", "edit only ", "change only ", "touch only ", "return only ", "respond only ", "reply only ", "answer only ",
	"output only ", "write only ", "ask me before ", "ask me first", "ask before ", "check with me before ",
	"总是", "始终", "只能", "只用", "只使用", "只允许", "只改", "只需", "仅使用", "仅限", "切记", "记住", "从现在起", "从现在开始", "每次都", "凡是", "總是", "始終", "僅",
)

// rulesAnywhere do so in any place of a clause.
var rulesAnywhere = list(
	"you must ", "you always ", "you should always ", "you need to always ", "must always ", "should always ", "you may only ",
	"you can only ", "you should only ", "you must only ", "must only ", "must be ", "must include ", "must contain ",
	"must use ", "i only want ", "ask me before ", "check with me before ",
	"from now on", "please only ", "please always ",
	"必须", "务必", "一定要", "必需", "请始终", "请总是", "请只", "请仅", "请确保", "要确保", "请保证", "从现在起", "从现在开始", "以后都", "今后都", "每次都要", "必須", "務必", "請只", "請始終",
)

// lifts begin a clause that permits what was forbidden, or ends a rule.
var lifts = list(
	"you may ", "you can now ", "you are now allowed", "you're now allowed", "now you may ", "now you can ", "it is ok now",
	"it's ok now", "it is now ok", "it's now ok", "it is ok to ",
	"it's ok to ", "it's okay to ", "it is okay to ", "it is fine to ", "it's fine to ", "feel free to ", "you are allowed to ",
	"you're allowed to ", "no longer need to ", "no need to ", "you no longer ",
	"you don't need to ", "you do not need to ", "you don't have to ", "you do not have to ", "you needn't ", "you need not ",
	"现在可以", "现在允许", "不再需要", "不用再", "不必再", "无需再", "允许你", "可以", "現在可以", "允許你",
)

// liftsAnywhere do so in any place of a sentence.
var liftsAnywhere = list("is now allowed", "are now allowed", "is now ok", "are now ok", "you may now ", "现在可以", "现在你可以", "不再禁止", "現在可以")

// statements begin like an instruction but are not one.
var statements = list(
	"never mind", "never seen", "never had", "never been", "never got", "never works", "never worked", "never happens",
	"never happened", "never used to", "never heard", "never tried", "never saw",
	"don't know", "don't think", "don't see", "don't have", "don't mind", "don't worry", "don't understand", "don't get",
	"don't care", "don't remember", "don't believe", "don't seem", "don't exist", "don't work",
	"don't like", "don't need", "don't recall", "don't really", "don't you", "don't we", "do not know", "do not think",
	"do not see", "do not have", "do not mind", "do not worry", "do not understand", "do not remember", "do not believe",
	"do not seem", "do not exist", "do not work", "do not like", "do not need", "do not recall", "do not match", "don't match",
	"don't matter", "do not matter", "do not appear", "don't appear",
	"there must ", "must be a ", "must be the ", "must be an ", "must be some", "must have ", "must be because", "must be that",
	"别人", "别的", "别名", "别处", "别墅", "别扭", "别说", "别看", "不得不", "不得已", "不能否认", "不要紧", "不能说", "不能够", "不应该是", "不该是", "我只能", "我必须",
	"我一定要", "避免了", "確保了", "确保了",
)

// asks begin a question.
var asks = list(
	"why ", "how ", "what ", "which ", "who ", "where ", "when should", "should i ", "should we ", "do i ", "do we ", "is there ",
	"are there ", "must i ", "must we ",
)

// asksAnywhere make a sentence a question.
var asksAnywhere = list(
	"是否", "要不要", "为什么", "能不能", "为何", "怎么", "可不可以", "是不是", "需不需要", "什么时候", "為什麼",
)
