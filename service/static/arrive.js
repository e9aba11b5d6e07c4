// Parts of a page that are being made: each is fetched when it is seen, one at a time, and comes in
// its place; to print a page fetches all. One with `data-page` stands for the rest of its page.
import { sent } from "./fetch_page.js";

const LONGEST = 60_000; // milliseconds until a request has failed; the service answers sooner
const waiting = new Set(); // parts in the order in which they were seen
const since = new WeakMap(); // when each was seen first
let isBusy = false;
let isAll = false;

const parts = () => [...document.querySelectorAll("[data-block]")];
const pause = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));

const observer = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (isIntersecting && target.ariaBusy) want(target);
    else if (!isAll) waiting.delete(target);
  }
}, { rootMargin: "200px" });

function want(part) {
  if (!since.has(part)) since.set(part, performance.now());
  waiting.add(part);
  next();
}

async function next() {
  if (isBusy) return;
  isBusy = true;
  for (let [part] = waiting; part; [part] = waiting) {
    waiting.delete(part);
    if (part.isConnected) await bring(part).catch((error) => fail(part, error.message));
  }
  isBusy = false;
}

async function fetched(block) {
  const request = new XMLHttpRequest();
  request.timeout = LONGEST;
  await sent(request, location.pathname + location.search + (block && `${location.search ? "&" : "?"}block=${block}`));
  if (!request.response) throw new Error(`the answer has status ${request.status}`);
  return request;
}

async function bring(part) {
  const isPage = "page" in part.dataset;
  let answer = await fetched(part.dataset.block);
  if (answer.response.querySelector("[data-block]")) return void pause(answer.getResponseHeader("Retry-After") ?? 2).then(() => want(part));
  if (isPage) answer = await fetched("");
  const { status, response: page } = answer;
  if (status === 404) return part.remove(); // the answer has no such part
  if (status >= 300) throw new Error(page.querySelector("main p")?.textContent ?? `the answer has status ${status}`);
  const place = part.contains(document.activeElement) && (part.querySelector("h2")?.id ?? "main");
  if (isPage) replaceRest(part, page);
  else part.replaceWith(...page.body.childNodes);
  if (place) focusOn(document.getElementById(place));
  for (const one of parts()) observer.observe(one);
  document.dispatchEvent(new Event("arrived"));
}

// Replaces what is in a page by what is now at its address, except the part of it that is in use.
function replaceRest(part, page) {
  const old = part.closest("#view, main");
  const fresh = [...page.getElementById(old.id).childNodes];
  const used = [...old.children].find((one) => one !== part && one.contains(document.activeElement));
  const same = used ? fresh.findIndex((one) => one.nodeName === used.nodeName && one.className === used.className) : -1;
  if (same < 0) return old.replaceChildren(...fresh);
  for (const one of [...old.childNodes]) if (one !== used) one.remove();
  used.before(...fresh.slice(0, same));
  used.after(...fresh.slice(same + 1));
}

function focusOn(element) {
  element.tabIndex = -1;
  element.focus({ preventScroll: true });
}

function fail(part, why) {
  const says = part.querySelector("[role=status]");
  const button = document.createElement("button");
  button.textContent = "Ask again";
  button.addEventListener("click", () => {
    part.ariaBusy = "true";
    says.textContent = "Being made.";
    focusOn(part.querySelector("h2") ?? part);
    since.delete(part);
    want(part);
  });
  part.ariaBusy = null;
  part.querySelector(".seconds").textContent = "";
  says.replaceChildren(`This part failed: ${why.trim().replace(/\.$/, "")}. `, button);
}

async function bringAll() {
  isAll = true;
  for (const part of parts()) if (part.ariaBusy) want(part);
  while (parts().some((part) => part.ariaBusy)) await pause(0.1); // those that fail say so
  isAll = false;
}

addEventListener("beforeprint", bringAll);
addEventListener("keydown", async (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.key !== "p" || !parts().length || isAll) return; // asked twice, a page is printed as it is
  event.preventDefault();
  await bringAll();
  print();
});
for (const part of parts()) observer.observe(part);
if (parts().length) setInterval(() => {
  for (const part of parts()) if (part.ariaBusy && since.has(part)) part.querySelector(".seconds").textContent = `${Math.round((performance.now() - since.get(part)) / 1000)} s`;
}, 1000);
