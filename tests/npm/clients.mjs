// A loop of tools with one client. Usage: node clients.mjs CLIENT BASE_URL. It writes {"calls", "answer"} or {"error"}.
const [client, base] = process.argv.slice(2);
const key = "k";
const system = "You read files.";
const question = "Read all.";
const description = "reads a file";
const schema = { type: "object", properties: { n: { type: "integer" } } };
const content = (input) => `file ${JSON.stringify(input)}\n` + "line of text with some words\n".repeat(30);
const model = { openai: "gpt-4o", anthropic: "claude-sonnet-5-5", ollama: "qwen3" };

// turns runs a loop: ask returns the calls of an answer, or its text; answer takes the results.
async function turns(ask, answer) {
  for (let calls = 0; ;) {
    const { text, uses } = await ask();
    if (uses.length === 0) return { calls, answer: text };
    calls += uses.length;
    answer(uses.map((u) => ({ ...u, content: content(u.input) })));
  }
}

async function openaiChat(stream) {
  const { default: OpenAI } = await import("openai");
  const c = new OpenAI({ baseURL: base + "/v1", apiKey: key, maxRetries: 0 });
  const messages = [{ role: "system", content: system }, { role: "user", content: question }];
  const tools = [{ type: "function", function: { name: "read", description, parameters: schema } }];
  return turns(async () => {
    const p = { model: model.openai, messages, tools };
    let m;
    if (stream) {
      m = { role: "assistant", content: "", tool_calls: [] };
      for await (const chunk of await c.chat.completions.create({ ...p, stream: true, stream_options: { include_usage: true } })) {
        const d = chunk.choices[0]?.delta ?? {};
        m.content += d.content ?? "";
        for (const t of d.tool_calls ?? []) {
          m.tool_calls[t.index] ??= { id: t.id, type: "function", function: { name: t.function.name, arguments: "" } };
          m.tool_calls[t.index].function.arguments += t.function.arguments ?? "";
        }
      }
      if (m.tool_calls.length === 0) delete m.tool_calls;
    } else {
      m = (await c.chat.completions.create(p)).choices[0].message;
    }
    messages.push(m);
    return { text: m.content, uses: (m.tool_calls ?? []).map((t) => ({ id: t.id, input: JSON.parse(t.function.arguments) })) };
  }, (results) => messages.push(...results.map((r) => ({ role: "tool", tool_call_id: r.id, content: r.content }))));
}

async function openaiResponses(stream) {
  const { default: OpenAI } = await import("openai");
  const c = new OpenAI({ baseURL: base + "/v1", apiKey: key, maxRetries: 0 });
  const input = [{ role: "user", content: question }];
  const tools = [{ type: "function", name: "read", description, parameters: schema, strict: false }];
  return turns(async () => {
    const p = { model: model.openai, instructions: system, input, tools, store: false, include: ["reasoning.encrypted_content"] };
    let r;
    if (stream) {
      for await (const e of await c.responses.create({ ...p, stream: true })) if (e.type === "response.completed") r = e.response;
    } else {
      r = await c.responses.create(p);
    }
    input.push(...r.output);
    const uses = r.output.filter((o) => o.type === "function_call").map((o) => ({ id: o.call_id, input: JSON.parse(o.arguments) }));
    return { text: r.output.at(-1).content?.[0].text, uses };
  }, (results) => input.push(...results.map((r) => ({ type: "function_call_output", call_id: r.id, output: r.content }))));
}

async function anthropic(stream) {
  const { default: Anthropic } = await import("@anthropic-ai/sdk");
  const c = new Anthropic({ baseURL: base, apiKey: key, maxRetries: 0 });
  const messages = [{ role: "user", content: question }];
  return turns(async () => {
    const p = { model: model.anthropic, max_tokens: 500, system, messages, tools: [{ name: "read", description, input_schema: schema }] };
    const m = stream ? await c.messages.stream(p).finalMessage() : await c.messages.create(p);
    messages.push({ role: "assistant", content: m.content });
    return { text: m.content.at(-1).text, uses: m.content.filter((b) => b.type === "tool_use") };
  }, (results) => messages.push({ role: "user", content: results.map((r) => ({ type: "tool_result", tool_use_id: r.id, content: r.content })) }));
}

async function ai(provider, stream) {
  const { generateText, streamText, tool, stepCountIs, jsonSchema } = await import("ai");
  let of;
  if (provider === "anthropic") {
    const { createAnthropic } = await import("@ai-sdk/anthropic");
    of = createAnthropic({ baseURL: base + "/v1", apiKey: key })(model.anthropic);
  } else {
    const { createOpenAI } = await import("@ai-sdk/openai");
    const p = createOpenAI({ baseURL: base + "/v1", apiKey: key });
    of = provider === "responses" ? p.responses(model.openai) : p.chat(model.openai);
  }
  let calls = 0;
  const args = {
    model: of, system, prompt: question, maxRetries: 0, maxOutputTokens: 500, stopWhen: stepCountIs(100),
    tools: { read: tool({ description, inputSchema: jsonSchema(schema), execute: async (input) => { calls++; return content(input); } }) },
  };
  if (provider === "responses") args.providerOptions = { openai: { store: false, include: ["reasoning.encrypted_content"] } };
  if (!stream) return { answer: (await generateText(args)).text, calls };
  let failed, text = "";
  for await (const t of streamText({ ...args, onError: (e) => { failed = e.error; } }).textStream) text += t;
  if (failed) throw failed;
  return { answer: text, calls };
}

async function langchain(provider) {
  let m;
  if (provider === "anthropic") {
    const { ChatAnthropic } = await import("@langchain/anthropic");
    m = new ChatAnthropic({ model: model.anthropic, apiKey: key, maxTokens: 500, maxRetries: 0, anthropicApiUrl: base })
      .bindTools([{ name: "read", description, input_schema: schema }]);
  } else {
    const { ChatOpenAI } = await import("@langchain/openai");
    m = new ChatOpenAI({ model: model.openai, apiKey: key, maxRetries: 0, configuration: { baseURL: base + "/v1" } })
      .bindTools([{ type: "function", function: { name: "read", description, parameters: schema } }]);
  }
  const messages = [{ role: "system", content: system }, { role: "user", content: question }];
  return turns(async () => {
    const a = await m.invoke(messages);
    messages.push(a);
    const text = typeof a.content === "string" ? a.content : a.content.at(-1)?.text;
    return { text, uses: (a.tool_calls ?? []).map((t) => ({ id: t.id, input: t.args })) };
  }, (results) => messages.push(...results.map((r) => ({ role: "tool", tool_call_id: r.id, content: r.content }))));
}

async function ollama(stream) {
  const { Ollama } = await import("ollama");
  const c = new Ollama({ host: base });
  const messages = [{ role: "system", content: system }, { role: "user", content: question }];
  const tools = [{ type: "function", function: { name: "read", description, parameters: schema } }];
  return turns(async () => {
    const p = { model: model.ollama, messages, tools, options: { num_ctx: 8000 } };
    let m;
    if (stream) {
      m = { role: "assistant", content: "", tool_calls: [] };
      for await (const part of await c.chat({ ...p, stream: true })) {
        m.content += part.message.content;
        m.tool_calls.push(...(part.message.tool_calls ?? []));
      }
    } else {
      m = (await c.chat(p)).message;
    }
    messages.push(m);
    return { text: m.content, uses: (m.tool_calls ?? []).map((t) => ({ input: t.function.arguments })) };
  }, (results) => messages.push(...results.map((r) => ({ role: "tool", tool_name: "read", content: r.content }))));
}

const clients = {
  "openai": () => openaiChat(false),
  "openai, streamed": () => openaiChat(true),
  "openai, Responses": () => openaiResponses(false),
  "openai, Responses, streamed": () => openaiResponses(true),
  "@anthropic-ai/sdk": () => anthropic(false),
  "@anthropic-ai/sdk, streamed": () => anthropic(true),
  "ai, OpenAI": () => ai("openai", false),
  "ai, OpenAI, streamed": () => ai("openai", true),
  "ai, OpenAI, Responses": () => ai("responses", false),
  "ai, Anthropic": () => ai("anthropic", false),
  "ai, Anthropic, streamed": () => ai("anthropic", true),
  "@langchain/openai": () => langchain("openai"),
  "@langchain/anthropic": () => langchain("anthropic"),
  "ollama": () => ollama(false),
  "ollama, streamed": () => ollama(true),
};

if (client === "list") {
  console.log(JSON.stringify(Object.keys(clients)));
} else {
  try {
    console.log(JSON.stringify(await clients[client]()));
  } catch (e) {
    console.log(JSON.stringify({ error: String(e.message) }));
  }
}
