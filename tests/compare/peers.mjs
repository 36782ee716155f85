// What people use, each as its own code from npm, beside a Go program: a line of JSON in has the messages that a
// conversation has grown by, the line out has the view that the peer would send: the position of a message that is as it
// was, or a message that is not; the prompts for summaries; and the nanoseconds in the code of the peer.
import { createInterface } from "node:readline";
import { ClearToolUsesEdit, contextEditingMiddleware, summarizationMiddleware } from "langchain";
import { AIMessage, HumanMessage, SystemMessage, ToolMessage, getBufferString, trimMessages } from "@langchain/core/messages";
import { ContextOverflowError } from "@langchain/core/errors";
import { pruneMessages } from "ai";
import { createFilesystemMiddleware, createSummarizationMiddleware } from "deepagents";
import { SessionManager, DEFAULT_COMPACTION_SETTINGS, compact, estimateTokens, shouldCompact } from "@earendil-works/pi-coding-agent";
import { fauxAssistantMessage, registerFauxProvider } from "@earendil-works/pi-ai";

// These two are not exported from the package.
const inPi = (file) => import(new URL(`node_modules/@earendil-works/pi-coding-agent/dist/core/${file}`, import.meta.url));
const { prepareCompaction } = await inPi("compaction/compaction.js");
const { convertToLlm } = await inPi("messages.js");

console.warn = console.log = () => {}; // standard output is for views

// summary stands in for what a model would write: 800 tokens without a fact.
const summary = "Goal, state, decisions and next steps are those of the messages below. ".repeat(46).slice(0, 3200);

const parsed = (text) => {
  try {
    const value = JSON.parse(text);
    if (value && typeof value === "object" && !Array.isArray(value)) return value;
  } catch {}
  return { value: text };
};

// A talk is one conversation with one peer.
class Talk {
  asked = []; // prompts for summaries since the last view
  spent = 0n;
  length = 0; // of the history
  positions = new Map(); // of messages, as JSON
  known = new Map(); // message of the peer → its position, or several
  arguments = new Map(); // ID of a call → [as a peer would write them, as they came]

  constructor({ window, tools }) {
    Object.assign(this, { window, tools });
  }

  // at returns the number of tokens at which a peer begins: its default or, in a small window, three quarters of it.
  at(usual) {
    return Math.min(usual, Math.floor(0.75 * this.window));
  }

  async timed(work) {
    const begin = process.hrtime.bigint();
    const out = await work();
    this.spent += process.hrtime.bigint() - begin;
    return out;
  }

  model() {
    const invoke = async (prompt) => {
      this.asked.push(typeof prompt === "string" ? prompt : getBufferString(prompt));
      return new AIMessage(summary);
    };
    return { invoke, profile: { maxInputTokens: this.window }, getName: () => "stand-in" };
  }

  async call(added) {
    [this.asked, this.spent] = [[], 0n];
    for (const m of added) {
      for (const c of m.calls ?? []) this.arguments.set(c.id, [JSON.stringify(parsed(c.arguments)), c.arguments]);
      this.positions.set(JSON.stringify(m), this.length++);
    }
    const view = (await this.view(added)).flatMap((m) => this.out(m));
    return { view, asked: this.asked, nanoseconds: Number(this.spent) };
  }

  // in returns what a peer has for a message, and remembers it.
  in(m) {
    const made = this.convert(m);
    this.known.set(made, this.positions.get(JSON.stringify(m)));
    return made;
  }

  out(m) {
    if (this.known.has(m)) return [this.known.get(m)].flat();
    return this.back(m).map((b) => this.positions.get(JSON.stringify(b)) ?? b);
  }

  written(id, value) {
    const text = JSON.stringify(value);
    const [as, was] = this.arguments.get(id) ?? [];
    return text === as ? was : text;
  }
}

class LangChain extends Talk {
  system = [];
  messages = [];

  convert(m) {
    if (m.role === "system") return new SystemMessage(m.text);
    if (m.role === "user") return new HumanMessage(m.text);
    if (m.role === "tool") return new ToolMessage({ content: m.text, tool_call_id: m.id, name: m.name });
    const tool_calls = m.calls?.map((c) => ({ id: c.id, name: c.name, args: parsed(c.arguments), type: "tool_call" }));
    return new AIMessage({ content: m.text, tool_calls });
  }

  back(m) {
    const text = m.text;
    if (SystemMessage.isInstance(m)) return [{ role: "system", text }];
    if (HumanMessage.isInstance(m)) return [{ role: "user", text }];
    if (ToolMessage.isInstance(m)) return [{ role: "tool", text, id: m.tool_call_id, name: m.name }];
    return [{ role: "assistant", text, calls: m.tool_calls.map((c) => ({ id: c.id, name: c.name, arguments: this.written(c.id, c.args) })) }];
  }

  // As in createAgent, the system prompt is not in the state.
  async view(added) {
    for (const m of added) {
      if (m.role === "system" && this.messages.length === 0) this.system.push(this.in(m));
      else this.messages.push(await this.received(this.in(m)));
    }
    return [...this.system, ...(await this.edited())];
  }

  received(m) {
    return m;
  }
}

class ContextEditing extends LangChain {
  own = contextEditingMiddleware({ edits: [new ClearToolUsesEdit({ trigger: { tokens: this.at(100_000) } })] });

  async edited() {
    await this.timed(() => this.own.wrapModelCall({ messages: this.messages, model: this.model() }, () => new AIMessage("")));
    return this.messages; // it writes into the state
  }
}

class Summarization extends LangChain {
  own = summarizationMiddleware({ model: this.model(), trigger: { tokens: this.at(Infinity) } });

  async edited() {
    const update = await this.timed(() => this.own.beforeModel({ messages: this.messages }, { context: {} }));
    if (update) this.messages = update.messages.slice(1); // the first one removes all
    return this.messages;
  }
}

// It counts lists that get shorter by a message at a time, so a message is measured once.
class Trimmed extends LangChain {
  async edited() {
    const sizes = new Map();
    const size = (m) => {
      if (!sizes.has(m)) sizes.set(m, m.text.length + (m.tool_calls?.length ? JSON.stringify(m.tool_calls).length : 0));
      return sizes.get(m);
    };
    const tokenCounter = (list) => Math.ceil(list.reduce((n, m) => n + size(m), 0) / 4);
    return this.timed(() =>
      trimMessages(this.messages, { maxTokens: this.at(Infinity), strategy: "last", startOn: ["human", "ai"], endOn: ["human", "tool"], tokenCounter }),
    );
  }
}

class DeepAgents extends LangChain {
  constructor(o) {
    super(o);
    const files = new Map();
    const backend = {
      write: (path, text) => (files.set(path, text), { path }),
      uploadFiles: (list) => list.map(([path, bytes]) => (files.set(path, new TextDecoder().decode(bytes)), { path, error: null })),
      downloadFiles: (paths) => paths.map((path) => ({ path, content: files.has(path) ? new TextEncoder().encode(files.get(path)) : null, error: files.has(path) ? null : "file_not_found" })),
    };
    this.files = createFilesystemMiddleware({ backend });
    this.own = createSummarizationMiddleware({ model: this.model(), backend });
    this.state = {};
  }

  // received is what is left of a result when it comes in.
  async received(m) {
    if (!ToolMessage.isInstance(m)) return m;
    const toolCall = { id: m.tool_call_id, name: m.name, args: {} };
    const got = await this.timed(() => this.files.wrapToolCall({ toolCall, state: {}, runtime: {} }, () => m));
    return ToolMessage.isInstance(got) ? got : got.update.messages[0];
  }

  async edited() {
    let sent = this.messages;
    const systemMessage = new SystemMessage(this.system.map((m) => m.text).join("\n"));
    const request = { messages: this.messages, model: this.model(), systemMessage, tools: this.tools, state: this.state, runtime: {} };
    const handler = ({ messages }) => {
      sent = messages;
      const bytes = JSON.stringify(this.tools).length + [...this.system, ...messages].reduce((n, m) => n + m.text.length + JSON.stringify(m.tool_calls ?? "").length, 0);
      if (bytes / 4 > this.window) throw new ContextOverflowError("the prompt is longer than the window");
      return new AIMessage("");
    };
    try {
      const got = await this.timed(() => this.own.wrapModelCall(request, handler));
      if (got.update) this.state = got.update;
    } catch (err) {
      if (!ContextOverflowError.isInstance(err)) throw err; // what is too long is sent, and counted as refused
    }
    return sent;
  }
}

class AISDK extends Talk {
  messages = [];

  convert(m) {
    if (m.role === "system" || m.role === "user") return { role: m.role, content: m.text };
    if (m.role === "tool") {
      return { role: "tool", content: [{ type: "tool-result", toolCallId: m.id, toolName: m.name, output: { type: "text", value: m.text } }] };
    }
    const text = m.text ? [{ type: "text", text: m.text }] : [];
    const calls = (m.calls ?? []).map((c) => ({ type: "tool-call", toolCallId: c.id, toolName: c.name, input: parsed(c.arguments) }));
    return { role: "assistant", content: [...text, ...calls] };
  }

  back(m) {
    if (typeof m.content === "string") return [{ role: m.role, text: m.content }];
    if (m.role === "tool") return m.content.map((p) => ({ role: "tool", text: p.output.value, id: p.toolCallId, name: p.toolName }));
    const calls = m.content.filter((p) => p.type === "tool-call");
    const text = m.content.map((p) => p.text ?? "").join("");
    return [{ role: "assistant", text, calls: calls.map((p) => ({ id: p.toolCallId, name: p.toolName, arguments: this.written(p.toolCallId, p.input) })) }];
  }

  // The settings are those of its documentation, which calls it for each step with the whole history. The results of one step
  // are one message.
  async view(added) {
    for (const m of added) {
      const last = this.messages.at(-1);
      const made = this.in(m);
      if (m.role === "tool" && last?.role === "tool") {
        last.content.push(...made.content);
        this.known.set(last, [this.known.get(last), this.known.get(made)].flat());
      } else this.messages.push(made);
    }
    return this.timed(() =>
      pruneMessages({ messages: this.messages, reasoning: "before-last-message", toolCalls: "before-last-2-messages", emptyMessages: "remove" }),
    );
  }
}

class Pi extends Talk {
  system = [];
  session = SessionManager.inMemory();
  provider = registerFauxProvider({ api: `faux-${Math.random()}` });

  convert(m) {
    const content = m.text ? [{ type: "text", text: m.text }] : [];
    if (m.role === "tool") return { role: "toolResult", toolCallId: m.id, toolName: m.name, content, isError: false, timestamp: 1 };
    if (m.role !== "assistant") return { role: m.role, content, timestamp: 1 };
    for (const c of m.calls ?? []) content.push({ type: "toolCall", id: c.id, name: c.name, arguments: parsed(c.arguments) });
    return { role: "assistant", content, usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 }, stopReason: "stop", timestamp: 1 };
  }

  back(m) {
    return [{ role: m.role, text: m.content.map((p) => p.text).join("") }]; // all but its summaries are as they came
  }

  size() {
    return this.session.buildSessionContext().messages.reduce((n, m) => n + estimateTokens(m), Math.ceil(JSON.stringify(this.system).length / 4));
  }

  // It compacts when a turn has ended, by its threshold, or when a request was too long.
  async view(added) {
    for (const m of added) {
      if (m.role === "system") {
        this.system.push(this.in(m));
        continue;
      }
      if (m.role === "user" && shouldCompact(this.size(), this.window, DEFAULT_COMPACTION_SETTINGS)) await this.compact();
      this.session.appendMessage(this.in(m));
    }
    if (this.size() > this.window) await this.compact();
    return [...this.system, ...convertToLlm(this.session.buildSessionContext().messages)];
  }

  async compact() {
    const answer = (context) => {
      this.asked.push(context.messages.map((m) => m.content.map((p) => p.text).join("")).join("\n"));
      return fauxAssistantMessage(summary);
    };
    this.provider.setResponses([answer, answer]);
    await this.timed(async () => {
      const prepared = prepareCompaction(this.session.getBranch(), DEFAULT_COMPACTION_SETTINGS);
      if (!prepared) return;
      const done = await compact(prepared, this.provider.getModel(), "no key");
      this.session.appendCompaction(done.summary, done.firstKeptEntryId, done.tokensBefore, done.details);
    });
  }
}

// Documented has what a provider does on its side, by the rules of its documentation.
class Documented extends Talk {
  messages = [];

  convert(m) {
    return m;
  }

  size(m) {
    const calls = (m.calls ?? []).reduce((n, c) => n + tokens(c.id) + tokens(c.name) + tokens(c.arguments), 0);
    return tokens(m.text) + tokens(m.id ?? "") + tokens(m.name ?? "") + calls;
  }

  async view(added) {
    this.messages.push(...added.map((m) => this.in(m)));
    return this.timed(() => this.edited(this.messages.reduce((n, m) => n + this.size(m), tokens(JSON.stringify(this.tools)))));
  }
}

// https://platform.openai.com/docs/api-reference/responses, truncation: auto: items are dropped from the beginning until the
// rest fits. System messages stay, and a result goes with its call.
class Truncation extends Documented {
  edited(size) {
    const kept = this.messages.filter((m) => m.role === "system");
    let i = kept.length;
    for (; i < this.messages.length - 1 && (size > this.window || this.messages[i].role === "tool"); i++) size -= this.size(this.messages[i]);
    return [...kept, ...this.messages.slice(i)];
  }
}

// https://platform.claude.com/docs/en/build-with-claude/context-editing, clear_tool_uses_20250919 with its defaults: above
// 100,000 input tokens, all results but the newest three become a placeholder. The client sends the whole history each time,
// so this is decided anew.
class ClearToolUses extends Documented {
  edited(size) {
    if (size <= this.at(100_000)) return this.messages;
    const keep = new Set(this.messages.filter((m) => m.role === "tool").slice(-3));
    return this.messages.map((m) => (m.role !== "tool" || keep.has(m) ? m : { ...m, text: "[Old tool result cleared]" }));
  }

  back(m) {
    return [m];
  }
}

const tokens = (text) => Math.ceil(Buffer.byteLength(text) / 4);

const peers = {
  "langchain contextEditing": ContextEditing,
  "langchain summarization": Summarization,
  "langchain trimMessages": Trimmed,
  "deepagents": DeepAgents,
  "ai pruneMessages": AISDK,
  "pi compaction": Pi,
  "OpenAI truncation: auto": Truncation,
  "Anthropic clear_tool_uses": ClearToolUses,
};

const talks = new Map();
for await (const line of createInterface({ input: process.stdin })) {
  const { talk, peer, added, ...o } = JSON.parse(line);
  if (!talks.has(talk)) {
    talks.set(talk, new peers[peer](o));
    if (talks.size > 16) talks.delete(talks.keys().next().value); // long over: few are replayed at a time
  }
  const answer = await talks.get(talk).call(added).catch((err) => ({ error: `${peer}: ${err.stack}` }));
  process.stdout.write(JSON.stringify(answer) + "\n");
}
