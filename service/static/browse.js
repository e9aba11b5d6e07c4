// Replays the page in a frame, in place of its text, and keeps address and panel in step with it.
// The frame has another origin. It holds the shell of the replay, which says two things: which page
// the service worker served to the document that is shown, and which address that has now. The shell
// gets one end of a channel before any archived script runs; other messages are not read.
import { fetchPage } from "./fetch_page.js";

const START_SECONDS = 20;
const LOOK_MILLISECONDS = 500;
const replayed = document.getElementById("replayed");
const { origin, collection, time, root } = replayed.dataset;
let current = replayed.dataset.uri;
let frame = null;
let late = 0;
let looking = 0;

function say(text, ...more) {
  replayed.querySelector(".replay-note").replaceChildren(text, ...more);
}

const REASONS = {
  insecure: "Your browser cannot replay pages here: that needs HTTPS or this machine, and service workers. This is the text of the page.",
  blocked: "Your browser cannot replay pages in this frame: it blocks service workers of other sites, as private windows and browsers without third-party cookies do. Allow third-party cookies for this page, or ",
};

function fallBack(why) {
  clearTimeout(late);
  clearInterval(looking);
  frame?.remove();
  frame = null;
  replayed.classList.remove("is-replayed");
  if (why !== "blocked") return say(REASONS.insecure);
  const tab = document.createElement("a");
  Object.assign(tab, { href: addressOfShell(), target: "_blank", rel: "noopener noreferrer", textContent: "open the page in a tab of its own" });
  say(REASONS.blocked, tab, ". This is the text of the page.");
}

function addressOfShell() {
  return `${origin}/replay/#${collection}/${time}/${current}`;
}

function prepare() {
  if (!origin) return;
  if (!isSecureContext || !("serviceWorker" in navigator)) fallBack("insecure");
  else open();
}

// Opens the current page in a new frame: what ran in an older one is gone.
function open() {
  frame?.remove();
  frame = document.createElement("iframe");
  frame.title = "The page then";
  // No allow-top-navigation and no allow-popups: an archived page stays where it is.
  frame.setAttribute("sandbox", "allow-scripts allow-same-origin allow-forms");
  frame.referrerPolicy = "no-referrer";
  frame.src = addressOfShell();
  replayed.classList.add("is-replayed");
  say("Loading the page …");
  replayed.append(frame);
  clearInterval(looking);
  clearTimeout(late);
  late = setTimeout(() => fallBack("blocked"), 1000 * START_SECONDS);
  let channel = null;
  const own = frame;
  addEventListener("message", function greet(event) {
    if (frame !== own) return removeEventListener("message", greet);
    if (event.origin !== origin || event.source !== own.contentWindow || event.data !== "arclink-replay") return;
    if (channel) return open(); // loaded again: archived scripts of the first time may still run
    channel = new MessageChannel();
    channel.port1.onmessage = ({ data }) => { if (frame === own) hear(data); };
    own.contentWindow.postMessage("arclink-replay", origin, [channel.port2]);
    looking = setInterval(() => channel.port1.postMessage("look"), LOOK_MILLISECONDS);
  });
}

function hear({ what, served, address, why }) {
  if (what === "failed") fallBack(why);
  if (what !== "shown" || ![served, address].every((one) => typeof one === "string" && one.length <= 65536)) return;
  if (served) clearTimeout(late);
  show(uriOf(served), uriOf(address));
}

// The archived URI in the address of a page of the worker: /w/COLLECTION/TIMEmp_/URI
function uriOf(address) {
  const before = `${origin}/w/${collection}/`;
  const page = address.replace(/#.*$/s, "");
  if (!page.startsWith(before)) return null;
  return /^\d*(?:[a-z]{2}_)?\/(https?:\/\/.*)$/is.exec(page.slice(before.length))?.[1] ?? null;
}

// Scripts may change the address of their page within its own host, as on the Web.
function show(served, uri) {
  if (!served) return;
  follow(uri && hostOf(served) === hostOf(uri) ? uri : served);
}

function hostOf(uri) {
  try {
    return new URL(uri).host;
  } catch {
    return uri;
  }
}

// The frame shows another page: its address, the axis of time and the panel follow. The frame has
// made the entry in the browser's history already.
async function follow(uri) {
  say("");
  if (uri === current) return;
  current = uri;
  const address = `${root}browse/?${new URLSearchParams({ at: time, uri })}`;
  try {
    const fetched = await fetchPage(address, `${location.origin}${root}browse/${time}/`);
    if (!fetched) return;
    const { page, url } = fetched;
    history.replaceState(null, "", url);
    if (!page.getElementById("panel")) throw new Error(page.title);
    document.title = page.title;
    for (const id of ["about", "moment", "panel"]) document.getElementById(id).replaceWith(page.getElementById(id));
    document.getElementById("uri").value = page.getElementById("uri").value;
  } catch (error) {
    say(`What is known about this page cannot be read: ${error.message}`);
  }
}

prepare();
