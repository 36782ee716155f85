package rulewriter

// Sentences of the model that state a result or a decision contain one of these words,
// in lower case.
var conclusive = []string{
	"decided", "decide", "decision", "use", "uses", "because", "therefore", "fixed", "fix", "root cause", "caused by",
	"conclusion", "concluded", "recommend", "recommended", "should", "solution", "solved", "resolved",
	"turns out", "found that", "confirmed", "the problem is", "the issue is", "the reason is", "the answer is", "implemented",
	"works because", "chose", "switched to",
	"建议", "应该", "使用", "因此", "结论", "决定", "采用", "推荐", "所以", "根本原因", "原因是", "原因在于", "问题在于", "已修复", "修复了", "解决", "已完成", "確認", "确认",
	"建議", "應該", "結論", "決定", "採用", "推薦",
}

// Sentences that begin with these announce the next step, or are polite phrases.
var prospective = []string{
	"please ", "let me ", "let's ", "i'll ", "i will ", "i'm going to ", "i am going to ", "now i ", "now let", "next, i", "first, i",
	"would you ", "do you ", "please let me know", "let us ", "if you ", "feel free", "could you ", "shall i ", "i need to ",
	"让我", "我来", "我将", "接下来", "首先我", "下面我", "如果你", "如果您", "请告诉我", "需要我", "讓我",
}

// Sentences that contain these announce the next step as well.
var prospectiveIn = []string{"i'll", "i will", "i'm going to", "let me", "let's", "would you like", "shall i", "让我", "我将", "我来"}

// Links and tags begin with these.
var links = []string{"[", "http://", "https://"}

// Thanks begin with these. What they are for is not a topic.
var thanks = []string{
	"thanks for ", "thanks so much", "thank you", "many thanks", "i appreciate ", "that's correct", "that's right", "that is correct",
	"谢谢你的", "谢谢您的", "感谢",
}

// Sentences of the user that are not a topic, as the key of a remark.
var courtesies = func() map[string]bool {
	m := map[string]bool{}
	for _, s := range []string{
		"ok", "okay", "yes", "yep", "no", "sure", "great", "perfect", "good", "nice", "thanks", "thank you", "thanks a lot",
		"thanks so much", "thank you so much", "thank you very much", "thank you so much for your help", "thanks for your help",
		"thank you for your help", "you too", "sure thing", "hi there", "hello there", "hi",
		"hello", "hey", "good morning", "go on", "go ahead", "continue", "please continue",
		"keep going", "next", "done", "sounds good", "got it", "i see", "right", "correct", "please", "yes please", "no thanks",
		"好", "好的", "继续", "请继续", "接着", "谢谢", "谢谢你", "多谢", "你好", "您好", "嗯", "嗯嗯", "是", "是的", "对", "对的", "不", "不是", "可以", "行", "明白",
		"明白了", "知道了", "收到", "下一步", "没问题", "好吧", "不错", "很好", "继续吧", "懂了", "了解",
	} {
		r := newRemark(s, 0)
		m[r.key] = true
	}
	return m
}()
