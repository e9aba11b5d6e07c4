// Parts of a page that are being made: each is fetched when it is seen, one at a time, and comes in
// its place; to print a page fetches all of them. A part with `data-page` stands for the rest of its
// page: when it is made, the page has more parts.
import { sent } from "./fetch_page.js";

const MARGIN = "200px"; // how far below the window a part is seen
const LONGEST = 60_000; // milliseconds until a request has failed; the service answers sooner
const waiting = new Set(); // parts in the order in which they were seen
const since = new WeakMap(); // when each was seen first
let isBusy = false;
let isAll = false;

const parts = () => document.querySelectorAll("[data-block]");
const pause = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));

function want(part) {
  if (!since.has(part)) since.set(part, performance.now());
  waiting.add(part);
}

const observer = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!target.ariaBusy) continue; // it has failed
    if (isIntersecting) want(target);
    else if (!isAll) waiting.delete(target);
  }
  next();
}, { rootMargin: MARGIN });

async function next() {
  if (isBusy) return;
  isBusy = true;
  for (let [part] = waiting; part; [part] = waiting) {
    waiting.delete(part);
    if (part.isConnected) await bring(part).catch((error) => fail(part, error.message));
  }
  isBusy = false;
}

async function fetched(name) {
  const { pathname, search } = location;
  const request = new XMLHttpRequest();
  request.timeout = LONGEST;
  await sent(request, `${pathname}${search}${name && `${search ? "&" : "?"}block=${encodeURIComponent(name)}`}`);
  if (!request.response) throw new Error(`the answer has status ${request.status}`);
  return request;
}

async function bring(part) {
  const isPage = "page" in part.dataset;
  let answer = await fetched(part.dataset.block);
  if (answer.response.querySelector("[data-block]")) {
    pause(answer.getResponseHeader("Retry-After") ?? 2).then(() => { want(part); next(); });
    return;
  }
  if (isPage) answer = await fetched("");
  const { status, response: page } = answer;
  if (status === 404) return part.remove(); // the answer has no such part
  if (status >= 300) throw new Error(page.querySelector("main p")?.textContent ?? `the answer has status ${status}`);
  const heading = part.querySelector("h2")?.id;
  const hasFocus = part.contains(document.activeElement);
  if (isPage) replaceRest(part, page);
  else part.replaceWith(...page.body.childNodes);
  if (hasFocus) focusOn(document.getElementById(heading) ?? document.getElementById("main"));
  prepare();
  document.dispatchEvent(new Event("arrived"));
}

// Replaces what is in a page by what is now at its address, except the part of it that is in use.
function replaceRest(part, page) {
  const old = part.closest("#view, main");
  const fresh = page.getElementById(old.id);
  const used = [...old.children].find((one) => one !== part && one.contains(document.activeElement));
  const same = used && [...fresh.children].find((one) => one.tagName === used.tagName && one.className === used.className);
  if (!same) return old.replaceChildren(...fresh.childNodes);
  for (const one of [...old.childNodes]) if (one !== used) one.remove();
  const nodes = [...fresh.childNodes];
  used.before(...nodes.slice(0, nodes.indexOf(same)));
  used.after(...nodes.slice(nodes.indexOf(same) + 1));
}

function focusOn(element) {
  element.tabIndex = -1;
  element.focus({ preventScroll: true });
}

function fail(part, why) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Ask again";
  button.addEventListener("click", () => {
    since.delete(part);
    part.ariaBusy = "true";
    part.querySelector("[role=status]").textContent = "Being made.";
    focusOn(part.querySelector("h2") ?? part);
    want(part);
    next();
  });
  part.ariaBusy = null;
  part.querySelector(".seconds").textContent = "";
  part.querySelector("[role=status]").replaceChildren(`This part failed: ${why.trim().replace(/\.$/, "")}. `, button);
}

function prepare() {
  for (const part of parts()) observer.observe(part);
}

// Fetches all parts; those that fail say so.
async function bringAll() {
  isAll = true;
  for (const part of parts()) if (part.ariaBusy) want(part);
  next();
  while ([...parts()].some((part) => part.ariaBusy)) await pause(0.1);
  isAll = false;
}

if (parts().length) setInterval(() => {
  for (const part of parts()) {
    const seconds = Math.round((performance.now() - since.get(part)) / 1000);
    if (part.ariaBusy && seconds) part.querySelector(".seconds").textContent = `${seconds} s`;
  }
}, 1000);
addEventListener("beforeprint", bringAll);
addEventListener("keydown", async (event) => {
  const isPrint = (event.ctrlKey || event.metaKey) && event.key === "p" && parts().length;
  if (!isPrint || isAll) return; // asked for a second time, a page is printed as it is
  event.preventDefault();
  await bringAll();
  print();
});
prepare();
