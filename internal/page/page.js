"use strict";
const $ = id => document.getElementById(id);
const page = JSON.parse($("data").textContent);
const FATES = ["sent", "cleared", "folded", "joined", "added"];
const COLORS = [["#0a6c74", "#5cc4cc"], ["#c4500b", "#ff9d5c"], ["#5b55c9", "#a5a0ff"], ["#a3326f", "#f08cc0"], ["#5c7a12", "#b4d455"],
  ["#1f6fb8", "#7cb8f0"], ["#8a6300", "#e0b64a"], ["#6b6f76", "#a5a9b0"], ["#2f8f5b", "#6fdca0"], ["#b3261e", "#ff8a80"], ["#7b4a2d", "#d6a284"], ["#3c4a8f", "#9fb0ff"]];
const dark = matchMedia("(prefers-color-scheme: dark)");
const color = i => COLORS[i % COLORS.length][dark.matches ? 1 : 0];
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const state = { lang: navigator.language.startsWith("zh") ? 1 : 0, cls: 0, talk: 0, chain: 0, call: 0, filter: "every" };
let data = null, texts = null, plot = null, shown = 0;

const t = (key, ...args) => WORDS[key][state.lang].replace(/\{(\d)\}/g, (_, i) => args[i]);
const format = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 }), num = n => format.format(n);
const short = n => n >= 1e6 ? (n / 1e6).toFixed(1) + "M" : n >= 1e4 ? Math.round(n / 1000) + "k" : n >= 1000 ? +(n / 1000).toFixed(1) + "k" : String(n);
const percent = x => x === undefined || x === null ? "–" : (100 * x).toFixed(1) + " %";
const two = x => x.toFixed(2);
const hard = c => c.facts ? c.facts.hard : null;

// el makes an element. Text is always set as text, never as markup.
function el(tag, props, ...children) {
  const e = tag === "svg" || el.svg[tag] ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [k, v] of Object.entries(props || {})) {
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else if (k === "style") for (const [p, x] of Object.entries(v)) e.style.setProperty(p, x);
    else if (k.startsWith("aria-")) e.setAttribute(k, String(v));
    else if (v !== false && v !== null && v !== undefined) e.setAttribute(k, v === true ? "" : v);
  }
  e.append(...children.filter(c => c !== null && c !== undefined));
  return e;
}
el.svg = { g: 1, line: 1, circle: 1, rect: 1, text: 1, title: 1 };
const fill = (id, ...children) => $(id).replaceChildren(...children.filter(Boolean));
const td = (text, cls) => el("td", { class: cls }, text);
const th = (text, cls) => el("th", { class: cls, scope: "col" }, text);
const head = (...cells) => el("thead", {}, el("tr", {}, ...cells));
const empty = text => el("p", { class: "empty" }, text);
const bar = (value, most, text, cls) => el("td", { class: "n bar " + (cls || "") },
  el("i", { style: { width: `calc(${100 * Math.min(1, most ? value / most : 0)}% - .4rem)` } }), el("span", {}, text));
const stat = (word, value, note) => el("div", {}, el("dt", {}, word), el("dd", {}, value, note ? el("small", {}, " " + note) : null));

async function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed), c => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

// --- all conversations

// ranked returns the chains as the table of the command ranks them: by cost, first those that keep enough hard facts.
function ranked() {
  const cls = page.classes[state.cls].name, keeps = c => hard(c) === null || hard(c) >= page.bar;
  return page.chains.map((c, i) => ({ c, i, cost: c.cost[cls], keeps: keeps(c) })).sort((a, b) => b.keeps - a.keeps || a.cost - b.cost || a.i - b.i);
}

function drawAll() {
  const rows = ranked(), first = rows[0], most = Math.max(...rows.map(r => r.cost));
  const facts = page.chains.some(c => c.facts);
  $("best").textContent = !first.keeps ? t("nobest", percent(page.bar)) :
    facts ? t("best", percent(page.bar), first.c.chain, two(first.cost)) : t("bestplain", first.c.chain, two(first.cost));
  const classes = page.classes.map((c, i) => th(c.name, "n " + (i === state.cls ? "chosen" : "other")));
  fill("chains", head(th(t("rank"), "n"), th(t("chain")), ...classes, facts && th(t("hard"), "n"), facts && th(t("facts"), "n other"),
    th(t("hits"), "n other"), th(t("edits"), "n"), th(t("toolong"), "n other"), th(t("invalid"), "n other")),
  el("tbody", {}, ...rows.map(({ c, i, cost, keeps }, r) => el("tr", { class: i === state.chain && "on" },
    td(keeps ? String(r + 1) : "–", "n"), el("td", {}, el("button", { class: "link", onclick: () => choose({ chain: i }), "aria-pressed": i === state.chain }, c.chain)),
    ...page.classes.map((k, j) => j === state.cls ? bar(cost, most, two(cost), "chosen") : td(two(c.cost[k.name]), "n other")),
    facts && td(percent(hard(c)), "n" + (keeps ? "" : " bad")), facts && td(percent(c.facts && c.facts.all), "n other"),
    td(Math.round(100 * c.cache_hit) + " %", "n other"), td(num(c.edits), "n"), td(num(c.too_long.n), "n other" + (c.too_long.n ? " bad" : "")),
    td(num(c.violations), "n other" + (c.violations ? " bad" : ""))))));
  $("scatter").replaceChildren(el("figcaption", {}, t("scatter"), el("small", {}, facts ? t("scatternote") : "")), facts ? scatter(rows) : empty(t("nofacts")));
  drawLong(rows);
}

// scatter draws hard facts against cost. A number of a point stands at the first free place around it, or nowhere.
function scatter(rows) {
  const W = 520, H = 300, L = 50, R = 16, T = 14, B = 44, low = Math.min(page.bar, ...rows.map(r => hard(r.c)));
  const least = Math.max(0, 1 - 1.12 * Math.max(1 - low, .005)), most = Math.max(1, ...rows.map(r => r.cost)) * 1.06;
  const x = v => L + (W - L - R) * v / most, y = v => H - B - (H - T - B) * (v - least) / (1 - least);
  const line = (x1, y1, x2, y2, stroke, dash) => el("line", { x1, y1, x2, y2, stroke, "stroke-dasharray": dash || "none" });
  const label = (x, y, anchor, text, cls) => el("text", { x, y, "text-anchor": anchor, class: cls }, text);
  const grid = [], step = [.001, .002, .005, .01, .02, .05, .1, .2, .25].find(s => (1 - least) / s <= 6) || .5;
  for (let v = 1; v >= least; v -= step) grid.push(line(L, y(v), W - R, y(v), css("--line")), label(L - 7, y(v) + 4, "end", (100 * v).toFixed(step < .01 ? 1 : 0) + " %"));
  for (let v = 0, by = most > 3 ? 1 : most > 1.6 ? .5 : .25; v <= most; v += by) grid.push(line(x(v), H - B, x(v), H - B + 5, css("--soft")), label(x(v), H - B + 18, "middle", two(v)));
  const points = rows.map(r => [x(r.cost), y(hard(r.c))]), taken = [...points, ...[12, 25, 38].map(d => [W - R - d, y(page.bar) - 9])];
  const around = [14, 26, 38, 52, 68].flatMap(d => [[1, 0], [0, -1], [0, 1], [-1, 0], [.8, -.8], [.8, .8], [-.8, -.8], [-.8, .8]].map(([a, b]) => [a * d, b * d]));
  const free = ([px, py]) => px > L && px < W - 8 && py > 8 && py < H - B - 6 && taken.every(q => Math.abs(q[0] - px) > 13 || Math.abs(q[1] - py) > 12);
  const dots = rows.map(({ c, i, cost, keeps }, r) => {
    const [px, py] = points[r], at = around.map(([a, b]) => [px + a, py + b]).find(free);
    if (at) taken.push(at);
    return el("g", { onclick: () => choose({ chain: i }), style: { cursor: "pointer" } }, el("title", {}, `${c.chain}: ${two(cost)}, ${percent(hard(c))}`),
      at && Math.hypot(at[0] - px, at[1] - py) > 20 ? line(px, py, at[0], at[1], css("--soft")) : null,
      el("circle", { cx: px, cy: py, r: i === state.chain ? 7 : 5, fill: color(i), "fill-opacity": keeps ? 1 : .35, stroke: color(i) }),
      at ? label(at[0], at[1] + 4, "middle", keeps ? String(r + 1) : "–", "dot") : null);
  });
  const text = rows.map(r => `${r.c.chain}: ${two(r.cost)}, ${percent(hard(r.c))}`).join("; ");
  return el("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `${t("scatter")}. ${text}` }, ...grid, line(L, H - B, W - R, H - B, css("--soft")),
    line(L, y(page.bar), W - R, y(page.bar), css("--accent"), "5 4"), label(W - R, y(page.bar) - 5, "end", `≥ ${percent(page.bar)}`),
    label((L + W - R) / 2, H - 6, "middle", `${t("xcost")} (${page.classes[state.cls].name})`), ...dots);
}

function drawLong(rows) {
  const all = rows[0].c.unedited, most = Math.max(1, all.n, ...rows.map(r => r.c.too_long.n));
  const row = (name, r, cls) => el("tr", {}, td(name), bar(r.n, most, num(r.n), r.n ? cls : ""));
  const windows = [...new Set(rows.map(r => r.c.window))].map(w => t("window", num(w))).join(", ");
  const wrong = rows.filter(r => r.c.too_long.n);
  $("long").replaceChildren(el("figcaption", {}, t("long"), el("small", {}, t("longnote", num(all.of)) + ", " + windows)),
    all.n || wrong.length ? el("table", {}, el("tbody", {}, row(t("never"), all, "bad"), ...wrong.map(r => row(r.c.chain, r.c.too_long, "bad")))) : null,
    wrong.length < rows.length ? el("p", { class: "empty" }, t("fitted", num(rows.length - wrong.length))) : "");
}

// --- one conversation

const calls = () => data ? data.at.length : 0;
const run = () => data.chains[state.chain];
const isEdit = e => e[1] === "edited" || e[1] === "repaired" || e[1] === "thinking left out";
const atCall = i => el("button", { class: "link", onclick: () => { choose({ call: i }); $("call").scrollIntoView(); } }, num(i + 1));

function drawOne() {
  const talk = page.talks[state.talk], r = run(), sums = talk.runs[state.chain];
  const cost = talk.none && talk.none.length ? relative(talk, state.chain, state.cls) : null;
  fill("numbers", stat(t("calls"), num(calls())), stat(t("peakwhole"), num(Math.max(0, ...data.whole)), t("tokens")),
    stat(t("peak"), num(Math.max(0, ...r.sent)), t("tokens")), cost !== null && stat(`${t("cost")} ${page.classes[state.cls].name}`, two(cost)),
    stat(t("edits"), num(r.events.filter(e => e[1] === "edited" && e[0] >= 0).length)),
    sums && sums.uses > 0 && stat(t("kept"), t("of", num(sums.uses - sums.lost), num(sums.uses))));
  drawPlot();
  const events = r.events.filter(e => e[0] >= 0), nothing = (key, n) => el("tbody", {}, el("tr", {}, el("td", { colspan: n, class: "empty" }, t(key))));
  fill("events", head(th(t("call"), "n"), th(t("by")), th(t("what")), th(t("messages"), "n"), th(t("freed"), "n")),
    events.length ? el("tbody", {}, ...events.map(e => el("tr", { class: e[0] === state.call && "on" }, el("td", { class: "n" }, atCall(e[0])), td(e[2]),
      td(isEdit(e) ? e[3] : `${e[1]}: ${e[3]}`, e[1] === "edited" ? "" : "soft"), td(num(e[4]), "n"), td(num(e[5]), "n")))) : nothing("noevents", 5));
  fill("lost", head(th(t("call"), "n"), th(t("kind")), th(t("fact"))), r.lost.length ? el("tbody", {}, ...r.lost.map(l =>
    el("tr", {}, el("td", { class: "n" }, atCall(l[0])), td(t(l[1] ? "ishard" : "issoft")), el("td", {}, el("bdi", {}, page.texts ? l[2] : t("hidden")))))) :
    nothing(sums && sums.uses > 0 ? "nolost" : "nofacts", 3));
  if (cost !== null) fill("costs", head(th(t("chain")), ...page.classes.map((c, i) => th(c.name, "n " + (i === state.cls ? "chosen" : "")))),
    el("tbody", {}, ...page.chains.map((c, i) => el("tr", { class: i === state.chain && "on" }, td(c.chain),
      ...page.classes.map((_, j) => td(two(relative(talk, i, j)), "n " + (j === state.cls ? "chosen" : "")))))));
}

const relative = (talk, chain, cls) => talk.none[cls] ? talk.runs[chain].costs[cls] / talk.none[cls] : 1;

function drawPlot() {
  $("plot-h").replaceChildren(t("plot"), el("small", {}, t("plotnote", page.scale)));
  const edited = new Set(run().events.filter(e => e[1] === "edited").map(e => e[0])), x = data.at.map((_, i) => i + 1);
  const sent = data.chains.map(c => c.sent.map((n, i) => c.unmade.includes(i) ? null : n)), chosen = sent[state.chain];
  const order = [...sent.keys()].filter(i => i !== state.chain).concat(state.chain);
  const axis = { stroke: css("--soft"), grid: { stroke: css("--line"), width: 1 }, ticks: { stroke: css("--line") }, font: "12px system-ui" };
  const label = t("plotlabel", num(calls()), num(Math.max(0, ...data.whole)), page.chains[state.chain].chain, num(Math.max(0, ...chosen)), num(chosen.at(-1) || 0), num(edited.size));
  $("plot").setAttribute("aria-label", label);
  if (plot) plot.destroy();
  const size = () => ({ width: $("plot").clientWidth, height: 270 });
  const window_ = page.chains[state.chain].window, top = Math.max(1, ...data.whole, ...sent.flat());
  const limit = window_ && window_ < 1.5 * top ? x.map(() => window_) : x.map(() => null);
  plot = new uPlot({
    ...size(), legend: { show: false }, scales: { x: { time: false }, y: { range: (_, lo, hi) => [0, (hi || 1) * 1.06] } },
    cursor: { drag: { x: false, y: false }, points: { show: false } },
    axes: [{ ...axis, label: t("call"), labelSize: 22, labelFont: "12px system-ui", size: 34, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] },
      { ...axis, size: 52, values: (_, v) => v.map(short) }],
    series: [{}, { stroke: css("--soft"), width: 1.5, dash: [2, 4], points: { show: calls() === 1 } }, { stroke: css("--bad"), width: 1, dash: [8, 4], points: { show: false } },
      ...order.map(i => ({ stroke: color(i), width: i === state.chain ? 2.5 : 1, alpha: i === state.chain ? 1 : .55, points: { show: calls() === 1 } })),
      { stroke: color(state.chain), paths: () => null, points: { show: true, size: 7, fill: css("--card"), width: 2 } }],
    hooks: { setCursor: [u => readout(u.cursor.idx)], draw: [mark] },
  }, [x, data.whole, limit, ...order.map(i => sent[i]), chosen.map((n, i) => edited.has(i) ? n : null)], $("plot"));
  plot.over.addEventListener("click", () => plot.cursor.idx !== null && choose({ call: plot.cursor.idx }));
  drawLegend(limit[0]);
  readout(null);
}

// mark draws the line of the call that is shown below.
function mark(u) {
  const at = Math.round(u.valToPos(state.call + 1, "x", true)), c = u.ctx;
  c.save();
  c.fillStyle = css("--accent");
  c.fillRect(at - 1, u.bbox.top, 2, u.bbox.height);
  c.restore();
}

function drawLegend(limit) {
  const key = (cls, c) => el("span", { class: "key " + cls, style: { color: c } });
  fill("legend", el("li", {}, key("dash", css("--soft")), " ", t("whole")), limit && el("li", {}, key("dash", css("--bad")), " ", t("window", num(limit))),
    el("li", {}, key("dot", color(state.chain)), " ", t("edit")),
    ...page.chains.map((c, i) => el("li", {}, el("button", { "aria-pressed": i === state.chain, onclick: () => choose({ chain: i }) }, key("", color(i)), c.chain))));
}

function readout(i) {
  if (i === null || i === undefined) i = Math.min(state.call, calls() - 1);
  $("readout").textContent = `${t("call")} ${num(i + 1)}: ${t("whole")} ${num(data.whole[i])}; ${page.chains[state.chain].chain} ${num(run().sent[i])} ${t("tokens")}`;
}

// --- one call

// view returns what is sent in a call, in the order of the history: position, number in the history, fate, event, what is sent.
function view(call) {
  const now = new Map(), rows = [];
  for (const [c, at, fate, event, ...ids] of run().changes) {
    if (c > call) break;
    now.set(at, { fate, event, ids, call: c });
  }
  const add = (at, ids, was) => ids.forEach(id => rows.push({ at, id: null, fate: 4, event: was.event, call: was.call, sent: [id] }));
  if (now.has(-1)) add(-1, now.get(-1).ids, now.get(-1));
  for (let at = 0; at < data.at[call]; at++) {
    const was = now.get(at) || { fate: 0, event: -1, ids: [], call: -1 }, replaced = was.fate === 1 || was.fate === 3;
    rows.push({ at, id: data.history[at], fate: was.fate, event: was.event, call: was.call, sent: replaced ? was.ids : was.fate === 0 ? [data.history[at]] : [] });
    if (!replaced) add(at, was.ids, was);
  }
  return rows;
}

const tokensOf = ids => ids.reduce((n, id) => n + data.messages[id][1], 0);
const previews = new Map(); // by number: the beginning of the text, made once
function preview(id) {
  if (!texts) return "";
  if (!previews.has(id)) previews.set(id, texts[id].map(p => p[2].slice(0, 160)).join("\n").slice(0, 160));
  return previews.get(id);
}

function drawCall() {
  const n = calls(), k = state.call, r = run(), rows = view(k), unmade = r.unmade.includes(k);
  const changed = [...new Set(r.events.filter(e => isEdit(e) && e[0] >= 0).map(e => e[0]))].sort((a, b) => a - b);
  const earlier = changed.filter(c => c < k).at(-1), later = changed.find(c => c > k);
  $("call-h").textContent = t("callhead", num(k + 1), num(n));
  $("by").textContent = page.chains[state.chain].chain;
  for (const [id, to, word, text] of [["before", k > 0 ? k - 1 : undefined, "before"], ["after", k + 1 < n ? k + 1 : undefined, "after"],
    ["edit-before", earlier, "editbefore", "back"], ["edit-after", later, "editafter", "next"]]) {
    $(id).disabled = to === undefined;
    $(id).onclick = () => choose({ call: to });
    $(id).setAttribute("aria-label", t(word));
    if (text) $(id).textContent = t(text);
  }
  Object.assign($("step"), { max: n, value: k + 1, ariaLabel: t("call"), ariaValueText: t("callhead", num(k + 1), num(n)) });
  fill("sizes", stat(t("sizewhole"), num(data.whole[k]), t("tokens")), stat(t("sizesent"), num(r.sent[k])), stat(t("sizeread"), num(r.read[k])),
    stat(t("sizewritten"), num(r.written[k])), stat(t("sizeout"), num(data.whole[k] - r.sent[k])), unmade && el("p", { class: "bad" }, t("unmade")));
  const count = FATES.map((_, f) => rows.filter(x => x.fate === f).length);
  $("strip").replaceChildren(...strip(rows));
  $("strip").setAttribute("aria-label", t("striplabel", ...count.map(num)));
  fill("filter", ...["every", ...FATES].map((f, i) => el("button", { "aria-pressed": state.filter === f, class: f, onclick: () => choose({ filter: f }) },
    i ? el("span", { class: "key dot", style: { color: `var(--${f})` } }) : null, `${t(f)} ${num(i ? count[i - 1] : rows.length)}`)));
  seen = rows.filter(x => state.filter === "every" || FATES[x.fate] === state.filter);
  fill("messages", ...(seen.length ? seen.map((x, i) => row(x, i, k)) : [empty(t("nomessages"))]));
}

// strip draws neighbours of one fate as one piece, as wide as its tokens in the history.
function strip(rows) {
  const pieces = [];
  for (const x of rows) {
    const n = x.id === null ? tokensOf(x.sent) : data.messages[x.id][1], last = pieces.at(-1);
    if (last && last.fate === x.fate) last.n += n; else pieces.push({ fate: x.fate, n });
  }
  return pieces.map(p => el("i", { title: `${t(FATES[p.fate])}: ${num(p.n)} ${t("tokens")}`, style: { "flex-grow": p.n, background: `var(--${FATES[p.fate]})` } }));
}

const blank = el("li", {}, el("details", {}, el("summary", {}, ...["no", "who"].map(c => el("span", { class: c })), el("bdi"), ...["size", "fate"].map(c => el("span", { class: c })))));
let seen = []; // the rows that are shown

function row(x, i, call) {
  const id = x.id === null ? x.sent[0] : x.id, [role, n, tool] = data.messages[id], fate = FATES[x.fate], li = blank.cloneNode(true);
  li.className = fate + (x.fate && x.call === call ? " now" : "");
  const summary = li.firstChild.firstChild, cells = summary.children, event = x.event >= 0 ? run().events[x.event] : null;
  summary.tabIndex = i ? -1 : 0;
  [x.id === null ? "+" : num(x.at + 1), (WORDS[role] ? t(role) : role) + (tool ? " · " + tool : ""), preview(x.fate === 1 ? x.sent[0] : id),
    x.fate === 1 ? `${num(n)} → ${num(tokensOf(x.sent))}` : num(n), t(fate) + (event ? ` · ${event[2]}` : "")].forEach((text, c) => { cells[c].textContent = text; });
  return li;
}

$("messages").addEventListener("toggle", e => {
  if (!e.target.open || e.target.children.length > 1) return;
  const x = seen[[...$("messages").children].indexOf(e.target.parentElement)];
  e.target.append(open(x, x.event >= 0 ? run().events[x.event] : null));
}, true); // it does not bubble

function open(x, event) {
  const pane = (word, ids) => el("div", {}, el("h3", {}, t(word, num(tokensOf(ids)))), ...ids.flatMap(id => (texts ? texts[id] : [["", "", t("notext")]]).map(([kind, name, text]) =>
    el("div", {}, kind !== "text" && kind ? el("h3", {}, [kind, name].filter(Boolean).join(" · ")) : null, el("pre", { tabindex: 0 }, text || t("emptytext"))))));
  const why = x.fate === 0 ? null : el("p", {}, event ? t("bywhom", t(FATES[x.fate]), event[2], event[0] < 0 ? "–" : num(event[0] + 1), isEdit(event) && event[1] !== "edited" ? `${event[1]}: ${event[3]}` : event[3]) : t("unexplained"));
  const panes = x.fate === 0 || x.fate === 4 ? [pane("asis", x.sent)] : [pane("original", [x.id]), x.sent.length ? pane("instead", x.sent) : el("p", { class: "soft" }, t(x.fate === 3 ? "inother" : "nothing"))];
  return el("div", { class: "open" }, why, el("div", { class: "texts" }, ...panes));
}

$("messages").addEventListener("keydown", e => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[e.key], all = [...$("messages").querySelectorAll("summary")], at = all.indexOf(e.target);
  const to = e.key === "Home" ? all[0] : e.key === "End" ? all.at(-1) : all[at + step];
  if (at < 0 || !to) return;
  e.preventDefault();
  e.target.tabIndex = -1;
  to.tabIndex = 0;
  to.focus();
});

// --- the whole page

// choose changes what is shown, and draws what depends on it.
async function choose(change) {
  const was = shown;
  Object.assign(state, change);
  if ("talk" in change) {
    const mine = ++shown, talk = page.talks[state.talk];
    const got = page.live ? [talk.live, talk.live.texts] : await Promise.all([unpack(talk.data), talk.texts ? unpack(talk.texts) : null]);
    if (mine !== shown) return; // another one was chosen meanwhile
    [data, texts] = got;
    if (page.live) page.chains[0].window = talk.window;
    previews.clear();
    state.call = change.call ?? calls() - 1;
  } else if (!data) return;
  if ("lang" in change) drawFrame();
  if (page.classes && ("cls" in change || "chain" in change || "lang" in change)) drawAll();
  $("talk").value = state.talk;
  if ($("force")) $("force").textContent = t("force");
  $("chain").value = state.chain;
  if ("call" in change && Object.keys(change).length === 1) { plot.redraw(false); readout(null); }
  else if (!("filter" in change)) drawOne();
  drawCall();
  if (!was) performance.measure("ready");
  document.documentElement.dataset.ready = String(was + 1); // for tests, as the measure
}

function drawFrame() {
  document.documentElement.lang = state.lang ? "zh-CN" : "en";
  document.querySelectorAll("[data-t]").forEach(e => { e.textContent = t(page.live && e.dataset.t === "title" ? "livetitle" : e.dataset.t); });
  $("about").textContent = page.live ? t("liveabout", page.scale) : t("about", num(page.talks.length), num(page.talks.reduce((n, x) => n + x.calls, 0)), num(page.chains.length), page.scale);
  $("warning").textContent = t(!page.texts ? "notexts" : page.live ? "livewarning" : "warning");
  document.querySelectorAll("figure .scroll").forEach(e => e.setAttribute("aria-label", e.closest("figure").querySelector("figcaption").textContent));
  $("filter").setAttribute("aria-label", t("messages"));
  fill("chain", ...page.chains.map((c, i) => el("option", { value: i }, c.chain)));
  drawTalks();
  if (page.classes) fill("class", ...page.classes.map((c, i) => el("option", { value: i }, t("class", c.name, c.read, c.write) + (c.models.length ? " · " + c.models.join(", ") : ""))));
  Object.assign($("class"), { value: state.cls });
  $("language").value = state.lang;
}

function drawTalks() {
  fill("talk", ...page.talks.map((x, i) => el("option", { value: i }, `${x.id} · ${num(x.calls)} ${t("calls")} · ${short(x.tokens)} ${t("tokens")}${x.window ? " · " + t("window", num(x.window)) : ""}`)));
  $("talk").value = state.talk;
}

for (const [id, key] of [["language", "lang"], ["class", "cls"], ["talk", "talk"], ["chain", "chain"]]) $(id).addEventListener("change", e => choose({ [key]: Number(e.target.value) }));
let stepping = 0;
$("step").addEventListener("input", e => { cancelAnimationFrame(stepping); stepping = requestAnimationFrame(() => choose({ call: e.target.value - 1 })); });
dark.addEventListener("change", () => data && choose({ chain: state.chain }));
addEventListener("resize", () => plot && plot.setSize({ width: $("plot").clientWidth, height: 270 }));

// receive puts an event of a running chain behind what is known, and shows it if its newest call was shown before.
function receive(d) {
  if (d.reset) { page.talks = []; data = null; return; }
  let i = page.talks.findIndex(x => x.key === d.key);
  if (i < 0) i = page.talks.push({ key: d.key, id: d.id, calls: 0, tokens: 0, runs: [], live: { messages: [], history: [], at: [], whole: [], texts: page.texts ? [] : null,
    chains: [{ sent: [], read: [], written: [], unmade: [], events: [], changes: [], lost: [] }] } }) - 1;
  const x = page.talks[i], l = x.live, r = l.chains[0], newest = data === null || i === state.talk && state.call >= calls() - 1;
  if (d.drop) {
    [l.at, l.whole, r.sent, r.read, r.written].forEach(a => a.splice(0, d.drop));
    r.unmade = r.unmade.filter(k => k >= d.drop).map(k => k - d.drop);
    r.events.forEach(e => { e[0] -= d.drop; });
    r.changes.forEach(c => { c[0] = Math.max(0, c[0] - d.drop); });
  }
  for (const k of ["messages", "history", "at", "whole", "texts"]) if (d[k] && l[k]) l[k].push(...d[k]);
  for (const k of Object.keys(r)) r[k].push(...(d.chains[0][k] || []));
  Object.assign(x, { calls: l.at.length, tokens: Math.max(0, ...l.whole) });
  if (d.window) x.window = d.window;
  if (!x.calls) {
    page.talks.splice(i, 1);
    if (i < state.talk) state.talk--;
    else if (i === state.talk) choose({ talk: page.talks.length - 1 });
  } else {
    $("one").hidden = $("call").hidden = false;
    if ($("waiting")) $("waiting").remove();
    if (newest) choose({ talk: i });
    else if (i === state.talk) choose({ talk: i, call: Math.max(0, state.call - (d.drop || 0)) });
  }
  drawTalks();
}

if (page.force) document.querySelector("#one .head").append(el("button", { id: "force", "data-t": "force", onclick: async e => {
  const answer = await fetch("force/" + page.talks[state.talk].key, { method: "POST" }).catch(() => ({}));
  e.target.textContent = t(answer.ok ? "forced" : "lostline");
} }));
if (page.live) {
  const source = new EventSource(page.live);
  source.onmessage = e => receive(JSON.parse(e.data));
  source.onerror = () => { $("about").textContent = t("lostline"); };
  source.onopen = drawFrame;
}
if (page.classes) state.cls = Math.max(0, page.classes.findIndex(c => c.name === page.rank));
if (page.classes && page.chains.length) state.chain = ranked()[0].i;
document.body.className = page.live ? "live" : "";
$("all").hidden = !page.classes;
for (const id of ["costs", "lost"]) $(id).closest("figure").hidden = !page.classes;
drawFrame();
if (page.talks.length) {
  if (page.classes) drawAll();
  choose({ talk: page.talks.reduce((best, x, i) => x.calls > page.talks[best].calls ? i : best, 0) });
} else {
  $("one").hidden = $("call").hidden = true;
  if (page.live) $("warning").after(el("p", { class: "empty", id: "waiting" }, t("nocalls")));
}
