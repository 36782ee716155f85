package modelwriter

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/laconic-go/laconic/message"
)

// spoken is what the texts of these tests summarise.
var spoken = limits{session: &session{Request: Request{Folded: []message.Message{
	message.User("The nightly build fails since Tuesday. Find out why, and never push to main."),
	message.Assistant(message.Text{Text: "I look at the log."}, message.ToolCall{ID: "1", Name: "read_log", Arguments: `{"path":"ci/4812.log"}`}),
	message.Result("1", "read_log", "FAIL TestRefund: got 3220, want 1441"),
	message.User("退款金额不对,请修复 refund.go,不要改动发票模块。"),
	message.Assistant(message.Text{Text: "优惠券没有被扣除。"}),
}}}}

// A text that only says that something was understood, or what its speaker will do, is no
// summary.
func TestAcknowledgements(t *testing.T) {
	t.Parallel()
	for text := range strings.Lines(`Understood
Understood.
Understood!
OK
Ok, got it.
Okay.
Got it, continuing.
Got it 👍
Sure, I will
Sure, I will.
Sure thing! I'll get started right away.
Sure — I'll look at the build now.
Of course! Let me continue with the next step.
Certainly. I will keep this in mind going forward.
Acknowledged. Ready to proceed.
Noted.
Noted, thanks!
Roger that.
Copy that, moving on.
I understand. I'll continue from where we left off.
I've read the conversation above and am ready to continue.
I have carefully reviewed the conversation history and I will follow your instructions.
Thank you for sharing the context! How would you like to proceed?
Thanks for the information. Please let me know what you need next.
Alright, continuing with the task.
I will now continue working on the task as requested.
Ready when you are.
Yes, I will remember all of this.
**Understood.**
> Understood.
"Understood."
Great! I'm ready to help with the next task.
Absolutely, I'm happy to help!
Will do.
As you wish.
Please go ahead.
Hello! How can I help you today?
All clear, proceeding as instructed.
Everything noted. Continuing.
Understood. I will fix the build now.
好的
好的。
好的，我会继续。
好的,明白了!
明白
明白了，我会按照您的要求继续处理。
收到！
收到，马上开始。
了解，接下来我会继续完成任务。
没问题，我来处理。
知道了。
当然可以，请问接下来需要我做什么？
嗯，好的
我已了解以上所有内容，准备好继续工作。
好的，我会修复构建。
明白，讓我繼續。
OK，收到
已知悉。
您好！有什么可以帮您？
謝謝，我已經了解對話內容。
`) {
		text = strings.TrimSpace(text)
		require.NotNil(t, spoken.rejectAcknowledgement(text), "%q says nothing", text)
		require.NotNil(t, limits{session: &session{}}.rejectAcknowledgement(text), "%q", text)
	}
}

// A short text that says something of what it replaces is a summary, however it begins.
func TestNoAcknowledgements(t *testing.T) {
	t.Parallel()
	for text := range strings.Lines(`The nightly build fails.
The user wants to know why the build fails.
Build fails since Tuesday; never push to main.
Understood: the user asked why the nightly build fails; TestRefund got 3220.
Okay. The build is red because of TestRefund.
I read ci/4812.log: TestRefund fails.
I will look at refund.go next; TestRefund got 3220, want 1441.
Done: read_log.
Sure, here is the summary: the build has failed since Tuesday, and main must not be pushed to.
It works.
All is well.
Refund: 3220 instead of 1441.
OK: TestRefund still fails
用户要求修复退款金额。
退款金额不对，优惠券没有扣除。
好的，摘要如下：用户要求修复 refund.go，不要改动发票模块。
明白：退款测试失败，期望 1441。
继续检查退款。
The amounts differ.
Good: the voucher bug is found.
A deadlock between two transactions.
Der Build ist rot.
构建失败。
`) {
		text = strings.TrimSpace(text)
		require.Nil(t, spoken.rejectAcknowledgement(text), "%q", text)
	}
	long := strings.Repeat("Understood. I will continue. ", 20)
	require.Nil(t, spoken.rejectAcknowledgement(long), "a long text is checked by its other faults")
}
