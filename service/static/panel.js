// A panel for the replay of pywb: who linked to the page that its frame shows, at that time and in
// which words. pywb loads this file by one script element in a template (docs/how-to/browse.md).
//
// Addresses and words come from archived pages, so they are only ever set as text, in elements that
// styles of other pages cannot reach. The service must allow the origin of pywb (--cors-origin).
"use strict";

(() => {
  const SERVICE = new URL("..", document.currentScript.src).href; // this file is /static/panel.js
  const MOST_LINKS = 1000;
  const MOST_PAGES = 4; // with the same words
  const WIDE = "(min-width: 60rem)";
  const LAYOUT = `#wb_iframe_div { display: flex; } #wb_iframe_div > iframe { flex: 1 1 0; min-width: 0; min-height: 0; }
@media not all and ${WIDE} { #wb_iframe_div { flex-direction: column; } }`;
  const STYLE = `
:host { all: initial; color-scheme: light dark; --paper: #fbfaf6; --ink: #1e1c19; --soft: #5c574f; --line: #ddd8cc; --in: #a4480f; --link: #1d4f86; }
@media (prefers-color-scheme: dark) { :host { --paper: #16171a; --ink: #ebe7de; --soft: #aea89c; --line: #3a3d44; --in: #f0a268; --link: #9cc3f0; } }
aside { box-sizing: border-box; overflow: auto; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; padding: .5rem 1rem; border-top: 1px solid var(--line); }
aside.is-open { max-height: 40vh; }
@media ${WIDE} { aside { height: 100%; border-top: 0; border-left: 1px solid var(--line); } aside.is-open { width: 22rem; max-height: none; } }
summary { cursor: pointer; font-weight: 600; }
li summary { font-weight: 400; }
#heading { color: var(--in); }
small, p, .pages { color: var(--soft); font-size: .85rem; }
p { margin: .5rem 0; }
ul { list-style: none; margin: .5rem 0; padding: 0; }
li { margin: 0 0 .6rem; overflow-wrap: anywhere; }
li small { display: block; }
.wordless { color: var(--soft); font-style: italic; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }`;

  let frame = null;
  let parts = null;
  let shown = "";
  let request = null;

  function element(name, text = "", attributes = {}) {
    const made = document.createElement(name);
    made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  }

  function isolated(text, attributes = {}) {
    return element("bdi", text, attributes); // its direction does not turn the rest round
  }

  // Where pywb shows a page: the collection's address, as pywb's own banner knows it. Without dot
  // segments, which would lead to another address of that host.
  function replayAddress(time, uri) {
    return `${window.banner_info.prefix}${time}/${new URL(uri).href}`;
  }

  // The page in the address of the window, until the frame reports its page.
  function pageInAddress() {
    const rest = location.href.slice(window.banner_info.prefix.length);
    const [, time = "", uri = ""] = /^(?:(\d{1,14})(?:[a-z]{2}_)?\/)?(https?:\/\/.*)$/is.exec(rest) ?? [];
    return { time, uri };
  }

  function prepare() {
    frame = document.getElementById("replay_iframe");
    if (!frame || !window.banner_info?.prefix) return;
    document.head.append(element("style", LAYOUT));
    const host = element("div", "", { id: "arclink-panel" });
    const root = host.attachShadow({ mode: "open" });
    const details = element("details");
    const summary = element("summary");
    const count = element("small");
    summary.append(element("span", "Who linked here then", { id: "heading" }), " ", count);
    const list = element("div", "", { role: "status" });
    details.append(summary, list);
    const aside = element("aside", "", { "aria-labelledby": "heading" });
    aside.append(details);
    root.append(element("style", STYLE), aside);
    details.addEventListener("toggle", () => aside.classList.toggle("is-open", details.open));
    details.open = matchMedia(WIDE).matches;
    frame.after(host);
    parts = { count, list };
    const { time, uri } = pageInAddress();
    show(uri, time);
    addEventListener("message", ({ source, origin, data }) => {
      if (source !== frame.contentWindow || origin !== location.origin) return;
      if (["load", "replace-url"].includes(data?.wb_type)) show(String(data.url ?? ""), timeOf(data));
    });
  }

  // The time in the reader's address if it has a day, otherwise the time of the capture.
  function timeOf({ request_ts: asked, ts }) {
    return [asked, ts].map((time) => String(time ?? "")).find((time) => /^\d{8,14}$/.test(time)) ?? "";
  }

  async function show(uri, time) {
    if (!/^https?:\/\//i.test(uri) || !/^\d{8,14}$/.test(time)) return;
    const page = uri.replace(/#.*$/s, "");
    // A crawl reads pages that link to each other within hours, so "then" is the end of the day.
    const query = new URLSearchParams({ uri: page, at: time.slice(0, 8), direction: "in", limit: MOST_LINKS, format: "json" });
    if (shown === String(query)) return;
    shown = String(query);
    request?.abort();
    const own = (request = new AbortController());
    try {
      const answer = await fetch(`${SERVICE}linkQuery?${query}`, { signal: own.signal, credentials: "omit" });
      if (!answer.ok) throw new Error(`it answered with status ${answer.status}`);
      fill(await answer.json(), page, time);
    } catch (error) {
      if (error.name === "AbortError") return;
      shown = "";
      parts.count.textContent = "";
      parts.list.replaceChildren(element("p", `The links are not known: ${SERVICE} cannot be asked from ${location.origin} (${error.message}).`));
    }
  }

  function fill(answer, page, time) {
    const site = (surt) => surt.split(")")[0];
    const isHere = (link) => site(link.surt) === site(answer.surt);
    const others = answer.inlinks.filter((link) => !isHere(link));
    const here = answer.inlinks.filter(isHere);
    parts.count.textContent = `${answer.inlinks.length}${answer.next ? " and more" : ""}`;
    const items = (links) => {
      const byWords = new Map();
      for (const link of links) {
        const words = JSON.stringify([link.text, !link.text && link.kind === "img@src"]);
        if (!byWords.has(words)) byWords.set(words, []);
        byWords.get(words).push(link);
      }
      const made = element("ul");
      made.append(...[...byWords.values()].map((same) => item(same, time)));
      return made;
    };
    const all = [];
    if (others.length) all.push(items(others));
    if (here.length) {
      const fold = element("details");
      fold.open = !others.length && here.length <= 12;
      const title = element("summary", "From the same site ");
      title.append(element("small", here.length));
      fold.append(title, items(here));
      all.push(fold);
    }
    if (!all.length) all.push(element("p", "No capture in force at that time shows a link to it. Pages that had not been captured by then may have linked to it."));
    const more = element("p");
    more.append(element("a", "This page in ArcLink", { href: `${SERVICE}browse/?${new URLSearchParams({ uri: page, at: time })}` }));
    parts.list.replaceChildren(...all, more);
  }

  // The links with the same words: the words once, and the pages; many pages are folded.
  function item(same, time) {
    const made = element("li");
    const [{ text, kind }] = same;
    const wordless = kind === "img@src" ? "an image" : "no words";
    const words = text ? isolated(text, { class: "words" }) : element("span", wordless, { class: "wordless" });
    const pages = [...new Map(same.map((link) => [link.uri, link])).values()].map((link) => place(link, time));
    if (pages.length <= MOST_PAGES) {
      made.append(words, ...pages);
      return made;
    }
    const fold = element("details");
    const title = element("summary");
    title.append(words, element("span", ` on ${pages.length} pages`, { class: "pages" }));
    fold.append(title, ...pages);
    made.append(fold);
    return made;
  }

  function place(link, time) {
    const where = element("small");
    const uri = isolated(link.uri, { dir: "ltr", class: "uri" });
    if (/^https?:\/\//i.test(link.uri) && URL.canParse(link.uri)) {
      const anchor = element("a", "", { href: replayAddress(time, link.uri) });
      anchor.append(uri);
      where.append(anchor);
    } else {
      where.append(uri);
    }
    return where;
  }

  if (document.readyState === "loading") addEventListener("DOMContentLoaded", prepare, { once: true });
  else prepare();
})();
